"""Annotation grading on files: read submissions, rules and overrides, grade, and write reports that say why.

The rules of scoring are in `harness.scoring.grading`; this part reads, checks, words and draws.
"""
