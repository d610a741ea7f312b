"""Whether a line of text ends before the picture does, or is cut off there."""

from __future__ import annotations

from itertools import groupby

import numpy as np

from harness.pipeline.looks import Image

#: Columns of a line that vary by less than this share of its contrast show paper from top to bottom.
_PAPER = 0.35
#: Paper narrower than this, in heights of the line, is no end of a number.
_NARROWEST = 0.1


def ends_before(line: Image, side: str) -> bool:
    """Whether paper shows between the last character of a straightened line and its `left` or `right` edge, more of it
    than between any two of its characters: one more character would have begun there."""
    grey = line.mean(axis=2)
    low, high = np.percentile(grey, (2, 98))
    paper = np.ptp(grey, axis=0) < _PAPER * max(float(high - low), 1.0)
    runs = [(blank, len(list(run))) for blank, run in groupby(paper if side == "left" else paper[::-1])]
    if len(runs) < 2 or not runs[0][0]:
        return False
    inner = [length for blank, length in runs[1:-1] if blank]
    return bool(runs[0][1] > max([_NARROWEST * line.shape[0], *inner]))
