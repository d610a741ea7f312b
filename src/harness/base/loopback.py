"""How Ray is kept to this machine: what has to stand in the environment before it is imported."""

from __future__ import annotations

import os


def keep_ray_here(starts: bool) -> None:
    """Have Ray report its use to nobody and, where this process `starts` one, listen on loopback alone. Ray takes an
    address of loopback for that of the machine unless it believes that there is no cluster, as on a Mac."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # it warns of a change of its own otherwise
    if starts:
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
