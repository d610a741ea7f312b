"""A benchmark harness around MLflow: every change of a pipeline is judged by scorecards on a reference set.

    >>> import harness
    >>> run = harness.run("preset=fast")

What is public is listed in docs/api.md. Importing this package imports nothing else: each name is looked up where it
is defined when it is first used.
"""

from typing import TYPE_CHECKING

__version__ = "0.2.0"

__all__ = [
    "Comparison",
    "HarnessError",
    "References",
    "Run",
    "RunList",
    "__version__",
    "compare",
    "list_runs",
    "load_references",
    "load_run",
    "run",
    "score",
]

if TYPE_CHECKING:
    from harness.api import compare, list_runs, load_references, load_run, run, score
    from harness.api.results import Comparison, References, Run, RunList
    from harness.base.errors import HarnessError
else:  # hidden from type checkers, which would believe in every name otherwise

    def __getattr__(name):
        """Import a public name when it is first used."""
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        place = "harness.base.errors" if name == "HarnessError" else "harness.api"
        globals()[name] = value = getattr(import_module(place), name)
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
