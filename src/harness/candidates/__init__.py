"""Candidates: code that a person or an agent has changed, run where it sees photos alone and judged from outside."""
