"""The identity workbench: faces grouped by who they may be, for somebody to say who they are."""
