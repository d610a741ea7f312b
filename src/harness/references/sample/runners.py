"""Who is in the sample: each runner keeps a name, a number, a plate and a shirt in every scene.

About a third of the bibs are no plain number of two to five digits, as on many races: a letter before or after the
digits, a leading zero, a single digit.

P009 is only ever seen beside the course; nobody knows her name. P010 is in no scene: `selfies` has her for a stranger.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.references.sample.cutouts import Outfit
from harness.references.sample.lettering import MODERN, MONO, OBLIQUE, ROMAN, SANS, SERIF, TIMES
from harness.references.sample.plates import PlateDesign

_WHITE, _BLACK = (244, 246, 246), (28, 26, 24)


@dataclass(frozen=True, slots=True)
class Runner:
    """One person of the race."""

    name: str
    number: str
    outfit: Outfit
    plate: PlateDesign


RUNNERS: dict[str, Runner] = {
    "P001": Runner(
        "Ada",
        "62",
        Outfit(None, (50, 40, 40), (60, 60, 60)),
        PlateDesign(font=SANS, ink=_BLACK, paper=_WHITE, strip="SPRING RUN 2024", digits=0.5, curl=0.04),
    ),
    "P002": Runner(
        "Bea",
        "1184",
        Outfit((185, 105, 40), (60, 50, 50), (40, 140, 200)),
        PlateDesign(
            font=SERIF,
            ink=(40, 30, 160),
            paper=_WHITE,
            strip="VOLTA ENERGY",
            strip_paper=(40, 30, 160),
            footer="BEA",
        ),
    ),
    "P003": Runner(
        "Cleo",
        "12B",
        Outfit((70, 150, 70), (40, 40, 40), (225, 225, 225)),
        PlateDesign(font=MONO, ink=_WHITE, paper=(110, 52, 20), footer="HALF MARATHON", curl=0.03),
    ),
    "P004": Runner(
        "Dina",
        "27413",
        Outfit((40, 130, 225), (90, 50, 30), (50, 50, 170)),
        PlateDesign(
            font=SANS,
            ink=_BLACK,
            paper=_WHITE,
            height=0.17,
            digits=0.56,
            strip="10K CITY RACE",
            strip_paper=(60, 140, 40),
            strip_below=True,
            curl=0.02,
        ),
    ),
    "P005": Runner(
        "Emil",
        "918",
        Outfit((50, 50, 170), (40, 40, 40), (40, 40, 40)),
        PlateDesign(
            font=TIMES,
            ink=_BLACK,
            paper=(70, 215, 245),
            footer="12 MAY 2024",
            digits=0.52,
            curl=0.06,
        ),
    ),
    "P006": Runner(
        "Fay",
        "4076",
        Outfit((140, 60, 130), (70, 60, 60), (200, 200, 200)),
        PlateDesign(font=OBLIQUE, ink=(120, 40, 20), paper=_WHITE, strip="FAY", strip_paper=(30, 130, 240)),
    ),
    "P007": Runner(
        "Gil",
        "7",
        Outfit((72, 68, 66), (50, 50, 50), (60, 60, 60)),
        PlateDesign(font=ROMAN, ink=_WHITE, paper=(45, 40, 190), footer="TEAM NORTH", digits=0.5),
    ),
    "P008": Runner(
        "Hugo",
        "S0780",
        Outfit((165, 158, 152), (120, 50, 30), (60, 60, 60)),
        PlateDesign(
            font=MODERN,
            ink=(150, 137, 130),
            paper=(206, 210, 212),
            height=0.18,
            digits=0.5,
            strip="LAKESIDE RUN",
            strip_below=True,
        ),
    ),
}

BYSTANDERS: dict[str, str] = {"P009": "anonymous_1"}


def identity(person: str) -> str:
    """The name that a face label carries."""
    return RUNNERS[person].name if person in RUNNERS else BYSTANDERS[person]
