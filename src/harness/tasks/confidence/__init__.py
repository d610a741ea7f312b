"""The confidence post-operation on files: read a prediction artifact and its token trace in step, write scored copies.

The rules are in `harness.scoring.confidence`; this part reads, checks and writes, with memory for one sample at a time.
"""
