"""A person's repository with a small pipeline, and candidates that change it: cheap, real, and run by real processes.

The bib reader knows a number by the brightness of the photo's corner, in which the number is written as grey levels, so
that a photo is read in a millisecond. The base cannot read some of the numbers.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import yaml

from harness.references.files import BibFaceLinks, BibGroundTruth, FaceGroundTruth, PhotoIndex, write_file
from harness.testing import draw_runners

#: How many photos there are of each split, and from which number on the base cannot read.
ITERATION, HOLDOUT, HARD = 40, 24, 500

READER = '''
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from harness.types import BibBox

HARD = 500


@dataclass(frozen=True)
class Reader:
    """Reads the number that the photo's first pixels spell, and none from HARD on."""

    CHEAP: ClassVar = frozenset()
    hard: int = HARD

    @property
    def models(self) -> tuple[Any, ...]:
        return ()

    def load(self) -> None:
        """Nothing to open."""

    def read(self, look: Any, faces: Any) -> tuple[BibBox, ...]:
        return tuple(BibBox(**bib) for bib in look.see("bib", self, None, self._see))

    def _see(self, image: Any) -> list[dict[str, Any]]:
        digits = [round(int(image[4, 4 + 8 * place, 0]) / 25) for place in range(3)]
        number = "".join(map(str, digits))
        x, y, w, h = 0.275, 0.42, 0.45, 0.22
        box = {"x": x, "y": y, "w": w, "h": h, "score": 0.9}
        return [{**box, "number": number if int(number) < self.hard else None}]
'''

FACES = '''
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from harness.types import FaceBox


@dataclass(frozen=True)
class Faces:
    CHEAP: ClassVar = frozenset()

    @property
    def models(self) -> tuple[Any, ...]:
        return ()

    def load(self) -> None:
        """Nothing to open."""

    def detect(self, look: Any) -> tuple[FaceBox, ...]:
        return ()
'''

#: A candidate that needs no harness: it reads photos and writes lines by itself.
SCRIPT = """
import json, sys
from pathlib import Path

import cv2

HARD = 500

with open(sys.argv[2], "w") as file:
    for path in sorted(Path(sys.argv[1]).iterdir()):
        image = cv2.imread(str(path))
        number = "".join(str(round(int(image[4, 4 + 8 * place, 0]) / 25)) for place in range(3))
        bib = {"x": 0.275, "y": 0.42, "w": 0.45, "h": 0.22, "score": 0.9}
        bib["number"] = number if int(number) < HARD else None
        file.write(json.dumps({"sha256": path.stem, "bibs": [bib]}) + "\\n")
"""

BASE: Mapping[str, str] = {
    "predict.py": SCRIPT,
    "my_reader.py": READER,
    "my_faces.py": FACES,
    "conf/bib/mine.yaml": "_target_: my_reader.Reader\nhard: 500\n",
    "conf/face/mine.yaml": "_target_: my_faces.Faces\n",
    ".gitignore": "data/\nmlruns/\nexperiments/\n.venv/\n",
}
COMMAND = ["python", "predict.py", "{photos}", "{out}"]
PIPELINE = ("bib=mine", "face=mine", "link=geometric", "identity=off", "preset=fast")


@dataclass(frozen=True)
class Desk:
    """The folder of a person: a repository, its reference set beside the code, and an experiment."""

    folder: Path
    data: Path

    @property
    def workshop(self) -> Path:
        """The worktree that candidates are made in, so that the person's own folder stays as it is."""
        return self.folder.parent / f"{self.folder.name}-workshop"

    def git(self, *words: str, folder: Path | None = None) -> str:
        settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
        command, place = ["git", *settings, *words], folder or self.folder
        return subprocess.run(command, cwd=place, capture_output=True, text=True, check=True).stdout.strip()

    def commit(self, files: Mapping[str, str], on: str = "main") -> str:
        """A commit on top of another one, on no branch."""
        self.git("checkout", "--quiet", "--force", "--detach", on, folder=self.workshop)
        for name, text in files.items():
            path = self.workshop / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return self.commit_all()

    def commit_all(self) -> str:
        """Whatever lies in the workshop, as a commit."""
        self.git("add", "--all", "--force", folder=self.workshop)
        self.git("commit", "--quiet", "--allow-empty", "--message", "a candidate", folder=self.workshop)
        return self.git("rev-parse", "HEAD", folder=self.workshop)

    def experiment(self, name: str = "readers", **changes: Any) -> Path:
        """Write an experiment file: photos of the set, judged by the numbers that are read."""
        data = {
            "base": ["references=staging", f"references.root={self.data}", *PIPELINE],
            "objectives": {"number/f1": "maximize"},
            "judge": {"seconds": 60, "memory_gb": 2},
            **changes,
        }
        path = self.folder / "experiments" / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(data))
        return path

    def judge(self, candidate: str, *words: str, experiment: str = "readers") -> tuple[int, dict[str, Any], str]:
        """Run `harness judge`; returns its exit code, its JSON and what it said beside it."""
        command = [sys.executable, "-m", "harness", "judge", candidate, "--experiment", experiment, "--json", *words]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, timeout=300)
        return done.returncode, json.loads(done.stdout) if done.stdout.strip() else {}, done.stderr


def make_desk(folder: Path) -> Desk:
    """A repository with the base as its first commit, and a set whose photos spell their numbers."""
    desk = Desk(folder, folder / "data" / "reference")
    (desk.data / "photos").mkdir(parents=True)
    draw_set(desk.data)
    desk.git("init", "--quiet", "--initial-branch=main")
    for name, text in BASE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    desk.git("add", "--all")
    desk.git("commit", "--quiet", "--message", "the base")
    desk.git("worktree", "add", "--quiet", "--detach", str(desk.workshop))
    desk.experiment()
    desk.experiment("scripts", judge={"command": COMMAND, "seconds": 20, "memory_gb": 1, "processes": 64})
    return desk


def draw_set(root: Path) -> None:
    """Write a set whose photos spell the number of their one runner in grey squares."""
    index: dict[str, Any] = {}
    bibs: dict[str, Any] = {}
    faces: dict[str, Any] = {}
    links: dict[str, Any] = {}
    for place in range(ITERATION + HOLDOUT):
        number = f"{(137 * place + 101) % 900 + 100}"
        scene = draw_runners([number], seed=place, size=(200, 300))
        for position, digit in enumerate(number):
            scene.image[0:8, 8 * position : 8 * position + 8] = 25 * int(digit)
        scene.image[8:16, 0:8] = 5 * (place // 2)  # who it is: two photos of everybody
        content = cv2.imencode(".png", scene.image)[1].tobytes()
        sha256 = hashlib.sha256(content).hexdigest()
        (root / "photos" / f"{sha256}.png").write_bytes(content)
        record = {"names": [f"start_{place:03}.png"], "width": 200, "height": 300, "bytes": len(content)}
        split = "iteration" if place < ITERATION else "holdout"
        index[sha256] = record | {"added_at": "2026-01-01T00:00:00Z", "split": split}
        (box,) = scene.labels.bibs or ()
        bibs[sha256] = {"labeled": True, "boxes": [{"x": box.x, "y": box.y, "w": box.w, "h": box.h, "number": number}]}
        faces[sha256] = {"labeled": False, "boxes": []}
        links[sha256] = []
    write_file(root, PhotoIndex.model_validate({"photos": index}))
    write_file(root, BibGroundTruth.model_validate({"photos": bibs}))
    write_file(root, FaceGroundTruth.model_validate({"photos": faces}))
    write_file(root, BibFaceLinks.model_validate({"photos": links}))
