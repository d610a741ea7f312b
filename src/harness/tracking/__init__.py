"""The only part of the harness that talks to MLflow."""
