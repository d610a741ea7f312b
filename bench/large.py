"""What a run of 20,000 photos costs beyond its pipeline: seconds a photo, and memory.

The photos are tiny and real, each with three bibs and three faces, of 1,000 runners; the stages answer from the pixels
in microseconds. Overhead is the processor time of the whole command, `harness` with its report, less that of finding
and linking. It is told as a share of 1 ms a photo, and memory as a share of 600 MB; beside them stands the same run on
a fourth of the photos, so that whatever grows faster than the photos is seen. What each phase takes is printed.

    scripts/bench large
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Pictures

from bench.measure import peak, row, show
from harness.base.conf import conf_dir
from harness.pipeline.identity.recognising import Recogniser
from harness.pipeline.looks import Image, Look
from harness.references.files import BibFaceLinks, BibGroundTruth, FaceGroundTruth, PhotoIndex, Selfies, write_file
from harness.types import BibBox, FaceBox

PHOTOS, PEOPLE, BOXES = 20_000, 1_000, 3
MILLISECOND, MEGABYTES, GROWTH = 1e-3, 600.0, 5.0
SIDE = 8
#: Where the boxes of a photo are: bibs below, faces above.
_COLUMNS = (0.1, 0.4, 0.7)


@dataclass(frozen=True)
class Stub:
    """A stage that finds what the pixels of a made photo say. One in fifty is missed, one in fifty is wrong."""

    CHEAP: ClassVar = frozenset[str]()

    @property
    def models(self) -> tuple[()]:
        """None."""
        return ()

    def load(self) -> None:
        """Nothing to open."""

    @staticmethod
    def see(image: Image) -> list[int]:
        """The runners that the photo was made with."""
        return [int(image[0, n, 0]) * 256 + int(image[0, n, 1]) for n in range(BOXES)]


@dataclass(frozen=True)
class StubFaces(Stub):
    """Faces in a row."""

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        """Those that are not missed."""
        seen = look.see("face", self, None, self.see)
        return tuple(
            FaceBox(x=x, y=0.1, w=0.2, h=0.2, score=0.5 + who % 50 / 100)
            for x, who in zip(_COLUMNS, seen, strict=True)
            if who % 50 != 1
        )


@dataclass(frozen=True)
class StubBibs(Stub):
    """Bibs below them."""

    def read(self, look: Look, faces: tuple[FaceBox, ...]) -> tuple[BibBox, ...]:  # noqa: ARG002 - a stage's interface
        """Those that are not missed, with their numbers."""
        seen = look.see("text", self, None, self.see)
        return tuple(
            BibBox(x=x, y=0.5, w=0.2, h=0.2, score=0.5 + who % 47 / 100, number=str(who + (who % 50 == 2)))
            for x, who in zip(_COLUMNS, seen, strict=True)
            if who % 50 != 3
        )


@dataclass(frozen=True, kw_only=True)
class StubPeople(Recogniser):
    """Vectors around that of the runner whom the pixels name, another one in each photo."""

    models = ()
    side = 112

    def load(self) -> None:
        """Nothing to open."""

    def describe(self, face: Image) -> NDArray[np.float32]:
        """Not asked: the pixels of a whole photo say who is where."""
        raise NotImplementedError

    def _see(self, image: Image, face: FaceBox) -> NDArray[np.float32]:
        who = Stub.see(image)[int(np.argmin(np.abs(np.array(_COLUMNS) - face.x)))]
        photo = image[1, :4, 0].tolist()
        person, noise = (np.random.default_rng(seed).normal(size=128) for seed in (who, (who, *photo)))
        vector: NDArray[np.float32] = (person + 0.8 * noise).astype(np.float32)
        return vector / np.linalg.norm(vector)


def _make_selfies(root: Path) -> None:
    """A selfie of each runner, who is called as their number."""
    (root / "selfies").mkdir()
    owners = {}
    for who in range(1, PEOPLE + 1):
        content = _picture([who] * BOXES, 1 << 31)
        name = hashlib.sha256(content).hexdigest()
        (root / "selfies" / f"{name}.png").write_bytes(content)
        owners[name] = f"R{who}"
    write_file(root, Selfies.model_validate({"photos": owners}))


def _picture(people: list[int], number: int) -> bytes:
    """A photo whose pixels say who is on it, and which one it is."""
    picture = np.zeros((SIDE, SIDE, 3), dtype=np.uint8)
    picture[0, :BOXES, 0], picture[0, :BOXES, 1] = [who // 256 for who in people], [who % 256 for who in people]
    picture[1, :4, 0] = [number >> shift & 255 for shift in (24, 16, 8, 0)]
    content = io.BytesIO()
    Pictures.fromarray(picture[:, :, ::-1]).save(content, "PNG", compress_level=1)
    return content.getvalue()


def make_set(root: Path, photos: int, named: bool = False) -> None:
    """Write a set of so many photos; `named`, with the names of runners on their faces, and a selfie of each."""
    rng = random.Random(0)
    (root / "photos").mkdir(parents=True)
    index, bibs, faces, links = {}, {}, {}, {}
    for number in range(photos):
        people = rng.sample(range(1, PEOPLE + 1), BOXES)
        content = _picture(people, number)
        name = hashlib.sha256(content).hexdigest()
        (root / "photos" / f"{name}.png").write_bytes(content)
        index[name] = {"width": SIDE, "height": SIDE, "bytes": len(content), "split": "iteration"}
        index[name] |= {"names": [f"DSC_{number}.png"], "added_at": "2026-01-01T00:00:00Z"}
        bibs[name] = {
            "labeled": True,
            "boxes": [_box(x, 0.5, number=str(who)) for x, who in zip(_COLUMNS, people, strict=True)],
        }
        faces[name] = {
            "labeled": True,
            "boxes": [
                _box(x, 0.1, **({"identity": f"R{who}"} if named else {}))
                for x, who in zip(_COLUMNS, people, strict=True)
            ],
        }
        links[name] = [(n, n) for n in range(BOXES)]
    write_file(root, PhotoIndex.model_validate({"photos": index}))
    write_file(root, BibGroundTruth.model_validate({"photos": bibs}))
    write_file(root, FaceGroundTruth.model_validate({"photos": faces}))
    write_file(root, BibFaceLinks.model_validate({"photos": links}))
    if named:
        _make_selfies(root)


def _box(x: float, y: float, **more: Any) -> dict[str, Any]:
    return {"x": x, "y": y, "w": 0.2, "h": 0.2, **more}


def make_conf(folder: Path) -> None:
    """Choices of the stages above."""
    searching = (conf_dir() / "identity" / "sface.yaml").read_text().partition("input_size")[0].splitlines()
    kept = [line for line in searching if not line.startswith(("_target_", "least_height", "#"))]
    people = "\n".join(["least_height: 1", *kept, ""])
    for group, name, more in (("face", "StubFaces", ""), ("bib", "StubBibs", ""), ("identity", "StubPeople", people)):
        (folder / group).mkdir(parents=True)
        (folder / group / "stub.yaml").write_text(f"_target_: bench.large.{name}\n{more}")


def measure() -> list[dict[str, Any]]:
    """One run of each size, whose answers all have to be found."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_conf(folder / "conf")
        for photos in (PHOTOS // 4, PHOTOS):
            make_set(folder / str(photos), photos)
        fewer, many = (run(folder, photos) for photos in (PHOTOS // 4, PHOTOS))
    limit = PHOTOS * MILLISECOND
    rows.append(row(f"overhead of {PHOTOS:,} photos", many["overhead"], "1 ms a photo", limit, 1.0))
    rows.append({**row(f"memory of {PHOTOS:,} photos", many["megabytes"], "limit", MEGABYTES, 1.0), "unit": "M"})
    grown = fewer["overhead"] * GROWTH
    rows.append(row(f"overhead of {PHOTOS:,} photos", many["overhead"], f"{GROWTH:g} x that of a fourth", grown, 1.0))
    return rows


def run(folder: Path, photos: int, identity: str = "off") -> dict[str, Any]:
    """One run in a process of its own: overhead, memory and bytes in the store."""
    home = Path(__file__).parents[1]
    cache = folder / "cache" / str(photos)  # of its own: the photos of a smaller set are among those of a larger one
    environment = os.environ | {"HARNESS_CACHE": str(cache), "PYTHONPATH": str(home)}
    command = [sys.executable, "-m", "bench.large", "child", str(folder), str(photos), identity]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment, cwd=folder)
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(f"  {photos:,} photos, seconds of the processor and most memory of each phase:")
    for name, (seconds, megabytes) in told["phases"].items():
        print(f"    {name:<28} {seconds:7.2f} s {megabytes:6.0f} MB", flush=True)
    return told


class Phases:
    """Processor seconds of each phase of a command, one after the other, and the most memory of the process in it."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.megabytes: dict[str, float] = {}
        self._name, self._start = "starting", 0.0

    def begin(self, name: str) -> None:
        """End the phase under way, and begin another one."""
        now = time.process_time()
        self.seconds[self._name] = self.seconds.get(self._name, 0.0) + now - self._start
        self.megabytes[self._name] = max(self.megabytes.get(self._name, 0.0), peak())
        Path("/proc/self/clear_refs").write_text("5")  # the peak counts anew from here
        self._name, self._start = name, now


def _child(folder: Path, photos: int, identity: str) -> dict[str, Any]:
    from harness import evaluate
    from harness.__main__ import run as harness
    from harness.base.garbage import own_process
    from harness.tasks.photos import predicting

    phases, find = Phases(), predicting.predict

    def predict(*arguments: Any) -> Any:
        phases.begin("predicting")
        try:
            return find(*arguments)
        finally:
            phases.begin("scoring")

    def step(name: str) -> AbstractContextManager[None]:
        phases.begin(name)
        return nullcontext()

    overrides = [f"--config-dir={folder / 'conf'}", "preset=plain", "face=stub", "bib=stub", "references=staging"]
    overrides += [f"references.root={folder / str(photos)}", "references.groups=photo", "cache.audit=0"]
    overrides += [f"identity={identity}"]
    own_process()  # as the command line says of itself
    with patch.object(predicting, "predict", predict), patch.object(evaluate, "saying", lambda _: step):
        code = harness(overrides)
    phases.begin("ended")
    assert code == 0, f"the run ended with {code}"
    kept = sum(path.stat().st_size for path in (folder / "mlruns" / "artifacts").rglob("*") if path.is_file())
    total, pipeline = sum(phases.seconds.values()), phases.seconds["predicting"]
    return {
        "total": total,
        "pipeline": pipeline,
        "overhead": total - pipeline,
        "megabytes": max(phases.megabytes.values()),
        "kept_megabytes": kept / 1e6,
        "phases": {name: (seconds, phases.megabytes[name]) for name, seconds in phases.seconds.items()},
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        print(json.dumps(_child(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])))
    else:
        show(measure())
