"""The labelling pages: a server on this machine through which people label photos and freeze them.

It reads and writes through `references` alone. `docs/labeling.md` has the pages, the API and who may ask.
"""
