"""The scoring core: every number that the harness reports comes from here.

Pure: dataclasses and arrays in, scorecards out; no files, no configuration, no tracking. The rules are stated at the
top of each module.
"""

from harness.scoring.bibs import BibScorecard, score_bibs, tally_bibs
from harness.scoring.cards import SCORER_VERSION, Scorecard, Tally
from harness.scoring.error_types import (
    BibErrorScorecard,
    FaceErrorScorecard,
    tally_bib_errors,
    tally_face_errors,
)
from harness.scoring.faces import FaceScorecard, score_faces, tally_faces
from harness.scoring.format import format_scorecard, markdown_scorecard
from harness.scoring.links import LinkScorecard, score_links, tally_links
from harness.scoring.numbers import NumberScorecard, NumberStatus, number_status, tally_numbers
from harness.scoring.slices import Slice, slice_bibs, slice_faces
from harness.scoring.uncertainty import Interval, intervals
from harness.types import BibBox, BibFaceLink, FaceBox

__all__ = [
    "SCORER_VERSION",
    "BibBox",
    "BibErrorScorecard",
    "BibFaceLink",
    "BibScorecard",
    "FaceBox",
    "FaceErrorScorecard",
    "FaceScorecard",
    "Interval",
    "LinkScorecard",
    "NumberScorecard",
    "NumberStatus",
    "Scorecard",
    "Slice",
    "Tally",
    "format_scorecard",
    "intervals",
    "markdown_scorecard",
    "number_status",
    "score_bibs",
    "score_faces",
    "score_links",
    "slice_bibs",
    "slice_faces",
    "tally_bib_errors",
    "tally_bibs",
    "tally_face_errors",
    "tally_faces",
    "tally_links",
    "tally_numbers",
]
