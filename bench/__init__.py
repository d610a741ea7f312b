"""How fast the scoring core is beside plain implementations of the same rules; run as `python -m bench.matching`."""
