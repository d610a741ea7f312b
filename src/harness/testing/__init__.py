"""Contract tests for code of your own, and small drawn photos to try it on.

A test of your own inherits the contract of its kind and names its YAML; pytest then runs every rule of the contract on
what that YAML makes:

    class TestMyFaces(FaceDetectorContract):
        choice = "my_faces"
        conf = Path(__file__).parent / "conf"

The backends, scorecards, formats and tasks of the harness keep the same contracts, in its own tests.
"""

# ruff: noqa: E402 - pytest has to hear of the modules before they are imported

from __future__ import annotations

try:
    import pytest
except ImportError as missing:
    raise ImportError("harness.testing needs pytest; install it with: pip install pytest") from missing

# So that a failing `assert` of a contract shows its values, as one in a test file does.
pytest.register_assert_rewrite(
    *(f"{__name__}.{module}" for module in ("backends", "formats", "linkers", "scorecards", "tasks"))
)

from harness.testing.backends import BibReaderContract, FaceDetectorContract, RecogniserContract
from harness.testing.choices import backend_from, format_from, scorecard_from
from harness.testing.formats import FormatContract, Told
from harness.testing.linkers import LinkerContract
from harness.testing.photos import Picture, Scene, draw_runners, labelled_photos, write_photo
from harness.testing.scorecards import ScorecardContract
from harness.testing.tasks import TaskContract

__all__ = [
    "BibReaderContract",
    "FaceDetectorContract",
    "FormatContract",
    "LinkerContract",
    "Picture",
    "RecogniserContract",
    "Scene",
    "ScorecardContract",
    "TaskContract",
    "Told",
    "backend_from",
    "draw_runners",
    "format_from",
    "labelled_photos",
    "scorecard_from",
    "write_photo",
]
