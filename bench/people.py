"""`scripts/bench people FOLDER`: how well people are recognised on photos of your own, by each recogniser.

FOLDER is a folder of people (`harness import --format people`), or has sets 1 and 2 of Racing Bib Number Recognition,
where equal numbers are equal runners. It is imported into a set of its own and evaluated as a run.

With `--places`, the photos are pictures of one person each, such as of the TGC 2020 re-identification set, whose names
tell place and hour (`1_Teror_frame_01_17_16_000.jpg`), and the question is another one: is somebody who was seen at one
place found at the others? One face of a place is searched for among those of all other places; a query counts where its
person was seen there. It is asked once more with the mean of all pictures of a person at a place as the query, and with
the landmarks of the first look alone. `--hours` are those that count, by default those of the day.

With `--small`, each picture of a folder of people becomes a photo in which the detector looks at a face of so many
pixels, and the runs are with the closer looks for landmarks and without. With `--sharper 4` such a photo is four times
as large, as those of a camera are, and only the detector sees a small face. In a folder of people no numbers are read:
nobody says who wears one.

    scripts/bench people lfw
    scripts/bench people rbnr face.long_side=1280
    scripts/bench people tgc --places
    scripts/bench people lfw --small 24 32 40
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import harness
from bench import races
from bench.small_faces import make_small
from harness.building import build_pipeline
from harness.config import build, compose
from harness.formats.people import read_set
from harness.pipeline.faces.yunet import YuNet
from harness.references.importing import ImportedSet, import_set
from harness.references.store import LabelStore
from harness.scoring.boxes import Bools, Floats, Ints
from harness.scoring.people import Vectors
from harness.tasks.identity.task import IdentityTask

MODELS = ("sface", "arcface")
SHOWN = {
    "selfie/recall_at_1": "rank 1",
    "selfie/map": "mAP",
    "verify/tar_at_far_1e-3": "TAR at FAR 1e-3",
    "selfie/fnir_at_fpir_1e-2": "FNIR at FPIR .01",
    "cluster/bcubed_f1": "B-cubed F1",
    "identity/cluster_threshold": "clusters from",
    "find/by_selfie": "found by selfie",
    "find/by_number": "by number",
    "find/by_both": "by both",
    "find/by_both_precision": "theirs",
}
#: Text is looked for in next to nothing: these measurements are of faces.
FACES_ALONE = ("bib.long_side=64", "bib.torso_faces=[]", "bib.last_looks=[]", "bib.near_faces=false")
#: Place and hour of a picture, by its name.
_NAME = re.compile(r"_(?P<place>[A-Za-z]+)_frame_(?P<hour>\d\d)_")


def main(arguments: Sequence[str]) -> int:
    """Print a row for each recogniser."""
    parser = argparse.ArgumentParser(prog="scripts/bench people", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("overrides", nargs="*", help="such as preset=best, for every run (default: preset=fast)")
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument(
        "--places", action="store_true", help="search for the faces of a place among those of the others"
    )
    parser.add_argument(
        "--small", nargs="+", type=int, default=(), metavar="H", help="faces of H pixels on larger photos"
    )
    parser.add_argument("--sharper", type=int, default=1, metavar="N", help="with --small, photos N times as large")
    parser.add_argument("--hours", nargs=2, type=int, default=(6, 20), metavar=("FROM", "BEFORE"))
    given = parser.parse_intermixed_args(arguments)
    for height in given.small:
        _show_small(given.folder, height, given.sharper, given.models, given.overrides)
    if given.small:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        root, settings = _imported(Path(folder) / "set", given.folder)
        where = [
            "preset=fast",
            *settings,
            f"references.root={root}",
            f"tracking.root={folder}/mlruns",
            *given.overrides,
        ]
        for model in given.models:
            if given.places:
                _show_places([*where, f"identity={model}"], model, range(*given.hours))
            else:
                _show_run([*where, f"identity={model}", "report.make=off"], model)
    return 0


def _show_small(folder: Path, height: int, sharper: int, models: Sequence[str], overrides: Sequence[str]) -> None:
    """Runs on photos of small faces, with the closer looks and without."""
    with tempfile.TemporaryDirectory() as scratch:
        detector = build_pipeline(compose(["preset=fast"])).face
        assert isinstance(detector, YuNet)
        root, settings = _imported(
            Path(scratch) / "set", make_small(folder, detector, height, sharper, Path(scratch) / "small")
        )
        where = ["preset=fast", *settings, f"references.root={root}", "report.make=off", *overrides]
        for model in models:
            for words, looks in (("first look alone", ["face.landmark_heights=[]"]), ("closer looks", [])):
                told = f"{model:<8}  faces of {height} pixels, {words:<16}"
                _show_run([*where, f"tracking.root={scratch}/mlruns", f"identity={model}", *looks], told)


def _imported(root: Path, folder: Path) -> tuple[Path, Sequence[str]]:
    """The set, and what its labels need: those of races as `scripts/bench races` has them, no numbers of people."""
    if next(folder.rglob("set1_*.mat"), None):
        found = [photo for number in races.SETS for photo in races.all_photos(folder, number)]
        import_set(LabelStore(root), ImportedSet(tuple(found)))
        return root, races.SETTINGS
    import_set(LabelStore(root), read_set(folder, None))
    return root, ("references=staging", "references.split=full", *FACES_ALONE)


def _show_run(overrides: Sequence[str], model: str) -> None:
    run = harness.run(*overrides)
    told = []
    for metric, words in SHOWN.items():
        if (value := run.metrics.get(metric)) is None:
            continue
        interval = run.intervals.get(metric)
        told.append(f"{words} {value:.3f}" + (f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""))
    counts = [f"{run.metrics[name]:.0f} {words}" for name, words in _COUNTS.items() if name in run.metrics]
    print(f"{model:<8}", *told, ", ".join(counts), sep="  ", flush=True)


_COUNTS = {"count/selfie_mated": "queries", "count/verify_genuine_pairs": "genuine pairs", "cluster/faces": "faces"}


@dataclass(frozen=True)
class Sightings:
    """The face of each picture: its vector, whose it is, and where."""

    vectors: Vectors
    person: Ints
    place: Ints

    def together(self) -> Sightings:
        """The mean of all pictures of a person at a place."""
        pairs, row = np.unique(np.stack([self.person, self.place]), axis=1, return_inverse=True)
        sums = np.zeros((pairs.shape[1], self.vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, row.reshape(-1), self.vectors)
        return Sightings(sums / np.linalg.norm(sums, axis=1, keepdims=True), pairs[0], pairs[1])


def _show_places(overrides: Sequence[str], model: str, hours: range) -> None:
    seen = _sightings(overrides, hours)
    first_look = _sightings([*overrides, "face.landmark_heights=[]"], hours)
    ways = {"one face": (seen, seen), "all pictures of a place": (seen.together(), seen)}
    ways["one face, landmarks of the first look"] = (first_look, first_look)
    for words, (queries, gallery) in ways.items():
        hits, precisions = ranked(queries, gallery)
        told = f"{len(hits)} queries among {len(gallery.person)} faces of {len(np.unique(gallery.person))} people"
        rank, mean = float(hits.mean()), float(precisions.mean())
        print(f"{model:<8}  {words:<38} rank 1 {rank:.3f}  mAP {mean:.3f}  {told}", flush=True)


def _sightings(overrides: Sequence[str], hours: range) -> Sightings:
    """The largest face of each picture of these hours, as a run sees it."""
    (task,) = (task for task in build(compose(list(overrides))).tasks if isinstance(task, IdentityTask))
    task.photos.load()
    photos, _ = task.photos.predicted()
    evidence = task.evidence(task.photos.references, photos, ())
    named = [_NAME.search(evidence.photos.names[photo]) for photo in evidence.queries.photo]
    chosen = np.array([name is not None and int(name["hour"]) in hours for name in named], dtype=bool)
    places = [name["place"] if name else "" for name in named]
    place = np.unique(places, return_inverse=True)[1]
    return Sightings(evidence.queries.vectors[chosen], evidence.queries.person[chosen], place[chosen])


def ranked(queries: Sightings, gallery: Sightings) -> tuple[Bools, Floats]:
    """Of each query whose person was seen at another place: whether the most similar face of the other places is
    theirs, and its average precision."""
    hits, precisions = [], []
    for vector, person, place in zip(queries.vectors, queries.person, queries.place, strict=True):
        elsewhere = gallery.place != place
        theirs = (gallery.person == person)[elsewhere]
        if not theirs.any():
            continue
        order = np.argsort(-(gallery.vectors[elsewhere] @ vector), kind="stable")
        ranks = np.flatnonzero(theirs[order]) + 1
        hits.append(ranks[0] == 1)
        precisions.append(float(np.mean(np.arange(1, len(ranks) + 1) / ranks)))
    return np.array(hits, dtype=bool), np.array(precisions, dtype=np.float64)
