"""The scoring core: every number that the harness reports comes from here.

Pure: dataclasses and arrays in, scorecards out; no files, no configuration, no tracking. The rules are stated at the
top of each module.
"""

from harness.scoring.annotations import Annotation
from harness.scoring.average_precision import ApPhoto, ApScorecard, average_precision
from harness.scoring.bibs import BibScorecard, score_bibs, tally_bibs
from harness.scoring.boxes import Boxes
from harness.scoring.calibration import CalibrationScorecard, calibration
from harness.scoring.cards import (
    SCORER_VERSION,
    Counted,
    CountRow,
    Declaration,
    Figure,
    ItemCounts,
    Ledger,
    Note,
    Rate,
    Scorecard,
    Section,
    Tally,
)
from harness.scoring.cells import fuzzy_cell_score, is_numeric_cell, normalize_cell
from harness.scoring.clusters import ClusterScorecard, score_clusters
from harness.scoring.curves import Behaviour, bib_behaviour, face_behaviour
from harness.scoring.detection import Thresholds
from harness.scoring.error_types import (
    BibErrorScorecard,
    FaceErrorScorecard,
    tally_bib_errors,
    tally_face_errors,
)
from harness.scoring.faces import FaceScorecard, detect_faces, score_faces, tally_faces
from harness.scoring.format import format_scorecard, markdown_sections, shown_sections, text_sections
from harness.scoring.fuzzy_tables import CellAssignment, CellPair, assign_cells, compute_fuzzy_accuracy
from harness.scoring.grade_report import GradeReport, ImageGrade, MatchGrade
from harness.scoring.grading import grade
from harness.scoring.grading_rules import GradingRules, Override
from harness.scoring.grids import Grid
from harness.scoring.grits import grits_content
from harness.scoring.links import LinkScorecard, score_links, tally_links
from harness.scoring.matching import Matches, match_by_key, match_greedy, match_optimal
from harness.scoring.misses import Cause, MissedNumber, MissScorecard, missed_numbers, tally_misses
from harness.scoring.numbers import NumberScorecard, NumberStatus, number_status, tally_numbers
from harness.scoring.pairing import PairedDifference, paired_difference
from harness.scoring.slices import Slice, slice_bibs, slice_faces
from harness.scoring.table_readings import CellDiff
from harness.scoring.table_structure import ComparisonResult, compare_extraction
from harness.scoring.teds import Node, table_tree, teds
from harness.scoring.text import similarities, similarity
from harness.scoring.uncertainty import Interval, intervals
from harness.types import BibBox, BibFaceLink, FaceBox

__all__ = [
    "SCORER_VERSION",
    "Annotation",
    "ApPhoto",
    "ApScorecard",
    "Behaviour",
    "BibBox",
    "BibErrorScorecard",
    "BibFaceLink",
    "BibScorecard",
    "Boxes",
    "CalibrationScorecard",
    "Cause",
    "CellAssignment",
    "CellDiff",
    "CellPair",
    "ClusterScorecard",
    "ComparisonResult",
    "CountRow",
    "Counted",
    "Declaration",
    "FaceBox",
    "FaceErrorScorecard",
    "FaceScorecard",
    "Figure",
    "GradeReport",
    "GradingRules",
    "Grid",
    "ImageGrade",
    "Interval",
    "ItemCounts",
    "Ledger",
    "LinkScorecard",
    "MatchGrade",
    "Matches",
    "MissScorecard",
    "MissedNumber",
    "Node",
    "Note",
    "NumberScorecard",
    "NumberStatus",
    "Override",
    "PairedDifference",
    "Rate",
    "Scorecard",
    "Section",
    "Slice",
    "Tally",
    "Thresholds",
    "assign_cells",
    "average_precision",
    "bib_behaviour",
    "calibration",
    "compare_extraction",
    "compute_fuzzy_accuracy",
    "detect_faces",
    "face_behaviour",
    "format_scorecard",
    "fuzzy_cell_score",
    "grade",
    "grits_content",
    "intervals",
    "is_numeric_cell",
    "markdown_sections",
    "match_by_key",
    "match_greedy",
    "match_optimal",
    "missed_numbers",
    "normalize_cell",
    "number_status",
    "paired_difference",
    "score_bibs",
    "score_clusters",
    "score_faces",
    "score_links",
    "shown_sections",
    "similarities",
    "similarity",
    "slice_bibs",
    "slice_faces",
    "table_tree",
    "tally_bib_errors",
    "tally_bibs",
    "tally_face_errors",
    "tally_faces",
    "tally_links",
    "tally_misses",
    "tally_numbers",
    "teds",
    "text_sections",
]
