"""Candidates: code that somebody, or some agent, has changed, run where it sees photos alone and judged from outside."""
