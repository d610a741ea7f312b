"""Bounded parameter search: by a sampler, by a person or by an agent, on one ledger.

The only part of the harness that imports optuna and mcp. `docs/search.md` says how it works; `verbs` is what the
command line and the MCP server share.
"""
