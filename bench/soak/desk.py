"""A folder to make runs in that die: drawn photos with labels, and a cheap stage that takes a given time for each."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.references.files import BibFaceLinks, BibGroundTruth, FaceGroundTruth, PhotoIndex, write_file
from harness.testing.photos import draw_runners, write_photo
from harness.types import Box

STAGES = '''
from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.pipeline.looks import Image, Look
from harness.types import BibBox, FaceBox

HOOKED: set[int] = set()  # the salts whose run had its hook in this process


@dataclass(frozen=True)
class SlowFaces:
    """A face in the upper middle, as bright as the photo is, seen in so many seconds."""

    CHEAP: ClassVar = frozenset({"threshold", "seconds"})
    models: ClassVar = ()
    threshold: float = 0.5
    seconds: float = 0.0
    salt: int = 0  # another one finds the cache cold

    def load(self) -> None:
        pass

    def detect(self, look: Look) -> tuple[FaceBox, ...]:
        (score,) = look.see("face", self, None, self._see)
        return (FaceBox(x=0.45, y=0.15, w=0.2, h=0.18, score=score),) if score >= self.threshold - 0.5 else ()

    def _see(self, image: Image) -> list[Any]:
        if (hook := os.environ.get("SOAK_HOOK")) and self.salt not in HOOKED:
            # Something goes wrong in the middle of the run.
            HOOKED.add(self.salt)
            subprocess.run(["sh", "-c", hook], check=False, env={**os.environ, "SALT": str(self.salt)})
        time.sleep(self.seconds)
        return [round(float(image.mean()) / 255, 6)]


@dataclass(frozen=True)
class NoBibs:
    """Reads nothing."""

    CHEAP: ClassVar = frozenset()
    models: ClassVar = ()

    def load(self) -> None:
        pass

    def read(self, look: Look, faces: Sequence[FaceBox]) -> tuple[BibBox, ...]:
        return ()
'''
FILES = {
    "soak_stages.py": STAGES,
    "conf/face/slow.yaml": "_target_: soak_stages.SlowFaces\nthreshold: 0.5\nseconds: 0.0\nsalt: 0\n",
    "conf/bib/none.yaml": "_target_: soak_stages.NoBibs\n",
}
SQLITE_FILES = {"mlflow.db", "mlflow.db-wal", "mlflow.db-shm"}


@dataclass(frozen=True)
class Desk:
    """The folder; `run` calls the harness in it, as a user does."""

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def photos(self) -> Path:
        """The reference set."""
        return self.folder / "set"

    @property
    def overrides(self) -> tuple[str, ...]:
        """What every run is made with: no model is opened, and nothing but the slow stage takes time."""
        chosen = ("face=slow", "bib=none", "identity=off", "preset=plain", "timing=off", "cache.audit=0")
        return ("references=staging", f"references.root={self.photos}", *chosen)

    def start(self, *arguments: str, **popen: Any) -> subprocess.Popen[str]:
        """`harness ...` as a process of its own."""
        command = [sys.executable, "-m", "harness", *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(command, cwd=self.folder, env=self.variables, text=True, **(pipes | popen))

    @property
    def variables(self) -> dict[str, str]:
        """The environment of what is called here."""
        return {**os.environ, "HARNESS_CACHE": str(self.folder / "cache"), **self.environment}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The same, to its end."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=600)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def statuses(self, mlruns: str = "mlruns", overviews: bool = True) -> dict[str, str]:
        """The status of each run, straight from the database: asking the harness would end those that are dead."""
        query = "SELECT run_uuid, status FROM runs JOIN experiments USING (experiment_id)"
        return dict(self.rows(query if overviews else f"{query} WHERE experiments.name = 'harness'", mlruns))

    def rows(self, query: str, mlruns: str = "mlruns") -> list[tuple[Any, ...]]:
        """What the database of a store answers; nothing where it has no tables yet."""
        path = self.folder / mlruns / "mlflow.db"
        if not path.is_file():
            return []
        database = sqlite3.connect(path, timeout=60)
        try:
            return database.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []
        finally:
            database.close()

    def scores(self, run_id: str, mlruns: str = "mlruns") -> Any:
        """All that a run scored: scorecards, and each photo with its counts and prediction; without times."""
        (path,) = (self.folder / mlruns / "artifacts").rglob(f"{run_id}/artifacts/run.json")
        (task,) = json.loads(path.read_bytes())["tasks"].values()
        cards = {name: card["counts"] for name, card in task["cards"].items() if name != "speed"}
        items = [[item["id"], item["counts"], item["photo"]["prediction"]] for item in task["items"]]
        return [cards, items, task["failed"]]


def make_desk(folder: Path, photos: int = 10) -> Desk:
    """A new one."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    index, bibs, faces, links = {}, {}, {}, {}
    for number in range(photos):
        scene = draw_runners([str(100 + number)], seed=number, size=(96, 144))
        path = write_photo(folder / "set" / "photos" / f"{number}.png", scene)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        record = {"names": [f"{number:03}.png"], "width": 96, "height": 144, "bytes": path.stat().st_size}
        path.rename(path.with_name(f"{sha256}.png"))
        index[sha256] = record | {"added_at": "2026-01-01T00:00:00Z", "split": "iteration"}
        (bib,), (face,) = scene.labels.bibs or (), scene.labels.faces or ()
        bibs[sha256] = {"labeled": True, "boxes": [_box(bib) | {"number": bib.number}]}
        faces[sha256] = {"labeled": True, "boxes": [_box(face) | {"identity": f"runner_{number}"}]}
        links[sha256] = [(0, 0)]
    for content in (
        PhotoIndex.model_validate({"photos": index}),
        BibGroundTruth.model_validate({"photos": bibs}),
        FaceGroundTruth.model_validate({"photos": faces}),
        BibFaceLinks.model_validate({"photos": links}),
    ):
        write_file(folder / "set", content)
    return Desk(folder)


def _box(box: Box) -> dict[str, float]:
    return {"x": box.x, "y": box.y, "w": box.w, "h": box.h}
