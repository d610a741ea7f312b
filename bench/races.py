"""`scripts/bench races FOLDER`: how well the presets read the photos of Racing Bib Number Recognition, sets 1 and 2.

FOLDER is where both sets lie, photos with their `.mat` files beside them, as published. Labels are corrected first: one
number of set 2 has two digits swapped, and one bib shows a zero that its label lacks. Photos that show a bib without a
label are left out; of those whose other labels were checked, the faces stay. `--drawn` pastes drawn bibs over the
labelled ones instead, with letters or a single digit, and compares with what the OCR's own text has right. `--kinds N`
draws N bibs of each kind that other races have, and `--arms N` so many arms over each labelled bib. `--steps` moves
`bib.long_side` by up to 32 pixels, and `--seconds` measures CPU seconds instead.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import harness
from bench import drawn_arms, drawn_bibs, drawn_races, race_steps
from harness.formats.rbnr import read_set
from harness.references.files import BibLabels
from harness.references.importing import ImportedPhoto, ImportedSet, import_set
from harness.references.store import LabelStore

SETS = (1, 2)
PRESETS = ("plain", "fast", "balanced", "best")
#: Photo -> the number as labelled, and as the bib shows it.
CORRECTED = {"set2_31": ("80653", "80635"), "set2_50": ("891", "0891")}
#: Photos with bibs that nobody labelled: left out; and those on which the faces are labelled all the same.
LEFT_OUT = {1: (45, 80, 81, 82, 83), 2: (1, 2, 12, 14, 15, 16, 17, 22, 26, 30, 31, 32, 57, 62, 63)}
FACES_ONLY = {1: (2, 22, 38, 53), 2: (3, 13, 29, 53, 55)}
#: Labels are tight on the digits: bibs and faces match at a low IoU, and the bib's box is the number's own.
SETTINGS = (
    "references=staging",
    "references.split=full",
    "bib.plate.widen=1",
    "bib.plate.heighten=1",
    "bib.plate.least_width=0",
    "scoring.bib_iou=0.3",
    "scoring.face_iou=0.3",
)
SHOWN = ("number/precision", "number/recall", "number/f1", "link/precision", "face/recall")


def main(arguments: Sequence[str]) -> int:
    """Print a row for each preset and set."""
    parser = argparse.ArgumentParser(prog="scripts/bench races", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("overrides", nargs="*", help="such as bib_format=digits, for every run")
    parser.add_argument("--presets", nargs="+", default=PRESETS)
    parser.add_argument("--drawn", action="store_true", help="drawn letter and single-digit bibs")
    parser.add_argument("--kinds", type=int, metavar="N", help="N drawn bibs of each kind that other races have")
    parser.add_argument("--arms", type=int, metavar="N", help="N arms drawn over each labelled bib, one photo each")
    parser.add_argument("--seed", type=int, default=drawn_bibs.SEED, help="of what is drawn")
    parser.add_argument("--steps", action="store_true", help="F1 with bib.long_side 16 and 32 pixels more and less")
    parser.add_argument("--seconds", action="store_true", help="CPU seconds a photo, all presets on one photo in turn")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if given.drawn:
            return drawn_bibs.show(list(_photos(given.folder, 1)), given.presets, given.overrides, given.seed)
        both = [photo for number in SETS for photo in _photos(given.folder, number)]
        if given.kinds:
            return drawn_races.show(both, given.presets, given.overrides, given.seed, given.kinds)
        if given.arms:
            return drawn_arms.show(both, given.presets, given.overrides, given.seed, given.arms)
        if given.seconds:
            return race_steps.seconds([photo.path for photo in both], given.presets, given.overrides)
        roots = {number: _imported(Path(folder) / f"set{number}", given.folder, number) for number in SETS}
        where = (*SETTINGS, f"tracking.root={folder}/mlruns", *given.overrides)
        if given.steps:
            return race_steps.steps(list(roots.values()), given.presets, where)
        for number, preset in product(SETS, given.presets):
            _show(number, preset, (*where, f"references.root={roots[number]}"))
    return 0


def _imported(root: Path, folder: Path, number: int) -> Path:
    import_set(LabelStore(root), ImportedSet(tuple(_photos(folder, number))))
    return root


def _photos(folder: Path, number: int) -> Iterator[ImportedPhoto]:
    """The photos of a set, corrected, whose numbers can be judged."""
    for photo in all_photos(folder, number):
        place = int(photo.path.stem.partition("_")[2])
        if place in FACES_ONLY[number]:
            yield replace(photo, bibs=None, links=None)
        elif place not in LEFT_OUT[number]:
            yield photo


def all_photos(folder: Path, number: int) -> Iterator[ImportedPhoto]:
    """All photos of a set, corrected: who wears a number does not depend on bibs without a label."""
    for photo in read_set(_set_folder(folder, number), None).photos:
        yield replace(photo, bibs=_corrected(photo))


def _set_folder(folder: Path, number: int) -> Path:
    found = next((path.parent for path in sorted(folder.rglob(f"set{number}_*.mat"))), None)
    if found is None:
        sys.exit(f"{folder}: no labels of set {number} here; expected set{number}_01.JPG.mat and so on")
    return found


def _corrected(photo: ImportedPhoto) -> BibLabels:
    assert photo.bibs is not None
    wrong, right = CORRECTED.get(photo.path.stem, ("", ""))
    boxes = [box.model_copy(update={"number": right}) if box.number == wrong else box for box in photo.bibs.boxes]
    return photo.bibs.model_copy(update={"boxes": boxes})


def _show(number: int, preset: str, overrides: Sequence[str]) -> None:
    run = harness.run(f"preset={preset}", *overrides)
    told = []
    for name in SHOWN:
        interval = run.intervals.get(name)
        spread = f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
        told.append(f"{name} {run.metrics.get(name, float('nan')):.3f}{spread}")
    counts = " ".join(
        f"{key.removeprefix('count/number_')} {run.metrics[f'count/number_{key}']:.0f}" for key in ("tp", "fp", "fn")
    )
    faces = f"faces {run.metrics['count/face_tp']:.0f}"
    seconds = run.metrics.get("runtime/cpu_seconds")
    print(
        f"set {number} {preset:<9}",
        *told,
        counts,
        faces,
        f"cpu {seconds:.1f} s" if seconds else "",
        sep="  ",
        flush=True,
    )
