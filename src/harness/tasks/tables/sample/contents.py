"""What the sample's tables say and how each is drawn: every one is awkward in its own way.

A cell may hold a line break (wrapped text). None is an empty cell. `spans` names header cells that reach over several
columns; their text stands in the first of them. The ground truth follows from this, as does the drawing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Rules = Literal["grid", "shifted", "horizontal", "none"]
Line = tuple[str | None, ...]


@dataclass(frozen=True)
class SampleTable:
    """A table at a place of a page, in points from its upper left corner.

    Rules: `grid` is every cell framed; `shifted` the same with each row's vertical rules a little off, as programs
    that frame cell by cell draw them; `horizontal` three rules and no vertical one; `none` no rule at all.
    """

    id: str
    caption: str
    page: int
    left: float
    top: float
    widths: tuple[float, ...]
    rules: Rules
    lines: tuple[Line, ...]
    spans: dict[tuple[int, int], int] = field(default_factory=dict)
    row_height: float = 18.0
    size: float = 9.0

    @property
    def heights(self) -> tuple[float, ...]:
        """Each row is as high as its tallest cell needs."""
        deepest = [max((cell or "").count("\n") for cell in line) for line in self.lines]
        return tuple(self.row_height + breaks * self.size * 1.25 for breaks in deepest)


TABLES = (
    SampleTable(
        id="pace",
        caption="Pace against the plan, per split",
        page=1,
        left=60,
        top=110,
        widths=(90, 80, 90, 90, 90),
        rules="grid",
        lines=(
            ("Split", "Time", "Pace", "\u0394 plan", "\u0394 climb"),
            ("0\u201310 km", "41:07", "4:07 min/km", "\u221212 s", "+35 m"),
            ("10\u201320 km", "42:30", "4:15 min/km", "\u22124 s", "\u22128 m"),
            ("20\u201330 km", "44:51", "4:29 min/km", "+63 s", "+112 m"),
            ("30\u201342 km", "56:19", "4:37 min/km", "+141 s", "\u2212139 m"),
        ),
    ),
    SampleTable(
        id="weather",
        caption="Weather at the start; merged headers",
        page=1,
        left=60,
        top=270,
        widths=(90, 60, 60, 70, 70, 80),
        rules="grid",
        spans={(0, 1): 2, (0, 3): 2},
        lines=(
            ("Year", "Temperature (\u00b0C)", None, "Wind (m/s)", None, "Humidity"),
            (None, "min", "max", "mean", "gusts", None),
            ("2021", "\u22121.5", "6.0", "3.2", "9.8", "81%"),
            ("2022", "4.0", "11.5", "1.1", "4.0", "64%"),
            ("2023", "\u22120.5", "7.5", "5.6", "14.2", None),
            ("2024", "2.0", "9.0", None, None, "70%"),
        ),
    ),
    SampleTable(
        id="kit",
        caption="Kit list; wrapped text and ligatures",
        page=1,
        left=60,
        top=450,
        widths=(90, 210, 90, 70),
        rules="grid",
        lines=(
            ("Item", "Remark", "Mass", "Price"),
            (
                "\ufb02eece",
                "only for the waiting area, handed\nin at the o\ufb03ce before the start",
                "310 g",
                "\u20ac45.00",
            ),
            ("\ufb01rst-aid kit", "su\ufb03cient for scrapes and blisters", "95 g", "\u20ac12.50"),
            ("cu\ufb00s", "re\ufb02ective, two of them", "28 g", None),
            ("cap", None, "52 g", "\u20ac9.90"),
        ),
    ),
    SampleTable(
        id="entries",
        caption="Entries; three rules, as in a paper",
        page=2,
        left=60,
        top=110,
        widths=(120, 80, 80, 80),
        rules="horizontal",
        lines=(
            ("Distance", "Entered", "Started", "Finished"),
            ("Marathon", "1 204", "1 131", "1 046"),
            ("Half marathon", "3 310", "3 145", "3 102"),
            ("10 km", "2 087", "1 999", "1 990"),
            ("Relay (4 \u00d7 10 km)", "96", "93", "90"),
        ),
    ),
    SampleTable(
        id="lactate",
        caption="Lactate by effort; no rules, empty cells",
        page=2,
        left=60,
        top=260,
        widths=(110, 90, 90, 90),
        rules="none",
        lines=(
            ("E\ufb00ort", "Power (W)", "HR (1/min)", "Lactate (mmol/L)"),
            ("easy", "145", "118", "1.1"),
            ("steady", "190", "139", None),
            ("threshold", "235", "161", "4.0"),
            ("all-out", "310", None, "11.7"),
        ),
    ),
    SampleTable(
        id="volunteers",
        caption="Volunteers; frames drawn cell by cell, a little off",
        page=2,
        left=60,
        top=420,
        widths=(110, 80, 80, 110),
        rules="shifted",
        lines=(
            ("Post", "Morning", "Afternoon", "Lead"),
            ("Start", "14", "6", "Ada"),
            ("Water, km 15", "9", "9", "Bo"),
            ("Water, km 30", "7", "12", "Cyn"),
            ("Finish", "5", "22", "Dee"),
        ),
    ),
    SampleTable(
        id="calibration",
        caption="Course calibration; fine print",
        page=2,
        left=60,
        top=600,
        widths=(60, 50, 50, 50),
        rules="grid",
        row_height=5.6,
        size=4.0,
        lines=(
            ("Lap", "Counts", "Metres", "Error"),
            ("1", "11 482", "1000.2", "+0.02%"),
            ("2", "11 479", "999.9", "\u22120.01%"),
            ("3", "11 486", "1000.5", "+0.05%"),
            ("4", "11 480", "1000.0", "0.00%"),
        ),
    ),
)

#: A framed remark in two parts on each page; it is no table: (page, left, top, width, text).
REMARKS = (
    (1, 60.0, 640.0, 430.0, "All times are gun times. Results are provisional until the jury has met."),
    (2, 330.0, 600.0, 220.0, "Counts are those of a Jones counter."),
)
