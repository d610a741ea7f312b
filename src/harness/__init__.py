"""A benchmark harness around MLflow: every change of a pipeline is judged by scorecards on a reference set."""

__version__ = "0.1.0"
