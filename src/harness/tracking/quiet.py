"""MLflow without its own words among those of the harness, and without word to anybody of how it is used."""

from __future__ import annotations

import logging
import os
import warnings

from harness.base.garbage import importing


def quiet_mlflow() -> None:
    """Import MLflow, and keep it from printing links, progress bars and warnings about them among what the harness
    prints, and from reporting its usage, unless the user's environment says otherwise. To be called before anything of
    it is imported: its import of tqdm warns in a notebook that has no widgets for bars."""
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")
    os.environ.setdefault("MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR", "false")
    logging.getLogger("alembic").setLevel(logging.WARNING)
    # It shows a traceback of each error that it raises as well.
    logging.getLogger("mlflow.store.db.utils").setLevel(logging.CRITICAL)
    with importing():
        _import_bars()
        import mlflow  # noqa: F401 - which takes a second


def _import_bars() -> None:
    """Import the bars that MLflow uses, without their warning. No warning of anything else is kept back."""
    from tqdm import TqdmWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TqdmWarning)
        import tqdm.auto  # noqa: F401
