"""`harness judge` on made commits, by real processes: what is better is kept, and no tampering has any effect."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import cv2
import orjson
import pytest

import harness
from harness.base.conf import conf_dir
from harness.base.errors import ConfigError, ConflictError
from harness.candidates.judge import Entry, judge_candidate
from harness.candidates.rules import default_command
from harness.candidates.sandbox import NoSandboxError
from harness.candidates.tries import Answer, Tries, Try
from harness.runs.looks import read_looks
from harness.search.contest import contest_of, judge_try
from tests.candidates.desk import COMMAND, READER, SCRIPT, Desk, make_desk

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("judge")]

BETTER = {"conf/bib/mine.yaml": "_target_: my_reader.Reader\nhard: 9999\n"}
WORSE = {"conf/bib/mine.yaml": "_target_: my_reader.Reader\nhard: 300\n"}
#: A gate that judges nothing, and labels and rules by which everything is right.
LENIENT = {
    "conf/gate/advisory.yaml": "_target_: harness.runs.gate.Gate\nstrict: false\nproof: false\ndeclared: false\n",
    "conf/scoring/standard.yaml": "_target_: harness.tasks.photos.scores.PhotoScoring\nbib_iou: 0.01\nface_iou: 0.01\n",
    "data/reference/bib_ground_truth.json": "{}",
    "experiments/scripts.yaml": "objectives: {number/f1: minimize}\njudge: {}\n",
}
PATCH = """
import sys
print("patched")
try:
    import harness.scoring.numbers as numbers
    numbers.NumberScorecard = None
    import harness.runs.judge
    harness.runs.judge.judge = None
except ImportError:
    pass
"""

#: What Python, pytest and virtual environments run or read by their names alone.
CUSTOMIZED = {
    **dict.fromkeys(["sitecustomize.py", "usercustomize.py", "conftest.py", ".pythonstartup"], PATCH),
    "x.pth": "import nothing\n",
    "pyvenv.cfg": "home = /x\n",
}


#: A program that knows everybody by their grey square, or nobody.
PEOPLE = """
import hashlib, json, sys
from pathlib import Path

import cv2

KNOWS = False


def vector(path):
    who = round(int(cv2.imread(str(path))[12, 4, 0]) / 5) if KNOWS else hashlib.sha256(path.name.encode()).digest()[0]
    return [float(place == who) for place in range(256)]


photos, selfies, out = map(Path, sys.argv[1:])
with open(out, "w") as file:
    for path in sorted(photos.iterdir()):
        face = {"x": 0.4, "y": 0.1, "w": 0.2, "h": 0.2, "score": 0.9, "embedding": vector(path)}
        file.write(json.dumps({"sha256": path.stem, "bibs": [], "faces": [face]}) + "\\n")
    for path in sorted(selfies.iterdir()):
        file.write(json.dumps({"selfie": path.stem, "embedding": vector(path)}) + "\\n")
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return make_desk(tmp_path_factory.mktemp("desk"))


@pytest.fixture(scope="module")
def better(desk: Desk) -> Try:
    """A better candidate, judged with the pipeline of the harness."""
    entry = Entry(desk.commit(BETTER), hypothesis="numbers from 500 on <script>alert(1)</script>")
    return judge_try(desk.folder / "experiments/readers.yaml", entry, desk.folder)[0]


def script(desk: Desk, text: str, files: dict[str, str] | None = None) -> Try:
    """Judge a candidate that is a script."""
    commit = desk.commit({"predict.py": text, **(files or {})})
    return judge_try(desk.folder / "experiments/scripts.yaml", Entry(commit), desk.folder)[0]


def with_names(desk: Desk) -> Path:
    """The set, in which everybody has a name and is in two photos, and the first runner a selfie."""
    root = Path(shutil.copytree(desk.data, desk.data.parent / "named"))
    faces, box = {}, {"x": 0.4, "y": 0.1, "w": 0.2, "h": 0.2}
    selfie = b""
    for photo in (root / "photos").iterdir():
        image = cv2.imread(str(photo))
        assert image is not None
        who = f"R{round(int(image[12, 4, 0]) / 5)}"
        faces[photo.stem] = {"labeled": True, "boxes": [{**box, "identity": who}]}
        if who == "R0":
            selfie = cv2.imencode(".png", image[:150])[1].tobytes()
    (root / "face_ground_truth.json").write_text(json.dumps({"photos": faces}))
    sha256 = hashlib.sha256(selfie).hexdigest()
    (root / "selfies").mkdir()
    (root / "selfies" / f"{sha256}.png").write_bytes(selfie)
    (root / "selfies.json").write_text(json.dumps({"photos": {sha256: "R0"}}))
    return root


class TestAnswers:
    def test_better_is_kept(self, desk: Desk, better: Try) -> None:
        assert better.answer is Answer.KEEP
        assert better.objective is not None
        assert better.objective["metric"] == "number/f1"
        assert better.objective["gain"] > 0.3
        assert better.objective["items"] == 40
        assert better.protected
        assert better.cost.cpu_seconds > 0.1
        assert better.changed == "1 file changed, 1 insertion(+), 1 deletion(-)"

    def test_worse_is_discarded_and_the_command_says_so(self, desk: Desk, better: Try) -> None:
        code, found, told = desk.judge(desk.commit(WORSE), "--hypothesis", "fewer numbers")
        assert code == 1, told
        assert found["answer"] == "DISCARD"
        assert found["reason"] == "worse than the base: number/f1, ocr/accuracy"

    def test_the_same_again_is_answered_from_the_ledger(self, desk: Desk, better: Try) -> None:
        code, found, told = desk.judge(better.candidate)
        assert (code, found["repeated"], found["number"]) == (0, True, better.number), told

    def test_no_gain_cannot_be_told(self, desk: Desk) -> None:
        found = script(desk, SCRIPT + "# a comment\n")
        assert found.answer is Answer.CANNOT_TELL
        assert found.reason.startswith("that number/f1 is better is not shown; as try ")

    def test_tries_are_counted_for_an_objective_that_is_no_rate(self, desk: Desk) -> None:
        path = desk.experiment("precise", objectives={"bib/ap": "maximize"}, judge={"command": COMMAND})
        texts = [SCRIPT + f"# precise {number}\n" for number in (1, 2, 3)]
        found = [judge_try(path, Entry(desk.commit({"predict.py": text})), desk.folder)[0] for text in texts]
        assert [each.tries for each in found] == [1, 2, 3]
        assert found[2].level == pytest.approx(0.05 / 12)
        other = desk.commit(
            {"predict.py": SCRIPT.replace('"score": 0.9', '"score": 0.8').replace('"w": 0.45', '"w": 0.2')}
        )
        beside = judge_try(path, Entry(found[2].candidate, base=other), desk.folder)[0]
        assert beside.tries == 1  # a base that answers otherwise

    def test_labels_that_the_repository_tracks_are_left_out(self, desk: Desk) -> None:
        text = SCRIPT + "\nprint('there', Path('data/reference/bib_ground_truth.json').exists())\n"
        found = script(desk, text, {"data/reference/bib_ground_truth.json": "{}"})
        log = (desk.folder / "experiments/scripts/judged" / found.key[:16] / "log.txt").read_text()
        assert "there False" in log
        assert found.notes == ("left out, as no candidate may see it: data/reference",)

    def test_a_broken_constraint_is_discarded(self, desk: Desk) -> None:
        better = SCRIPT.replace("HARD = 500", "HARD = 999")
        path = desk.experiment(
            "limited",
            judge={"command": COMMAND},
            constraints={"bib/precision": {"at_most": 0.5}},
        )
        found, _ = judge_try(path, Entry(desk.commit({"predict.py": better})), desk.folder)
        assert found.answer is Answer.DISCARD
        assert found.reason == "breaks a constraint: bib/precision is 1.0000, expected at most 0.5"

    def test_who_finds_their_photos_is_judged_and_no_embedding_is_kept(self, desk: Desk) -> None:
        root = with_names(desk)
        path = desk.experiment(
            "people",
            base=["references=staging", f"references.root={root}"],
            objectives={"find/by_selfie": "maximize"},
            judge={"command": ["python", "people.py", "{photos}", "{selfies}", "{out}"], "memory_gb": 1},
        )
        base = desk.commit({"people.py": PEOPLE})
        better = desk.commit({"people.py": PEOPLE.replace("KNOWS = False", "KNOWS = True")})
        found, _ = judge_try(path, Entry(better, base=base), desk.folder)
        assert found.answer is Answer.KEEP, found.reason
        assert found.objective is not None
        assert (found.objective["baseline"] < 0.2, found.objective["candidate"]) == (True, 1.0)
        kept = [each for each in (desk.folder / "experiments/people").rglob("*") if each.is_file()]
        assert len(kept) >= 4
        assert not [each for each in kept if b'embedding": [' in each.read_bytes()]
        without = default_command(("preset=fast",))
        assert "--embeddings" not in without
        assert contest_of(desk.experiment("whom", objectives={"find/by_both": "maximize"})).command[6:9] == (
            "--embeddings",
            "--selfies",
            "{selfies}",
        )

    def test_the_files_of_the_base_are_nothing_to_judge(self, desk: Desk) -> None:
        with pytest.raises(ConfigError, match="nothing to judge"):
            judge_try(desk.folder / "experiments/scripts.yaml", Entry("main"), desk.folder)

    def test_the_page_shows_hostile_text_as_text(self, desk: Desk, better: Try) -> None:
        page = (desk.folder / "experiments/readers/tries.html").read_text()
        assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert "<script" not in page
        assert "✓ KEEP" in page
        assert "+hard: 9999" in page

    def test_the_holdout_costs_a_look_and_tells_the_verdict_alone(self, desk: Desk) -> None:
        commit = desk.commit({"predict.py": SCRIPT.replace("HARD = 500", "HARD = 1000")})
        before = len(read_looks(desk.data))
        entry = Entry(commit, holdout=True)
        (desk.folder / "mlruns").mkdir(exist_ok=True)
        path = desk.experiment(
            "held",
            base=[
                "references=staging",
                f"references.root={desk.data}",
                f"tracking.root={desk.folder / 'mlruns'}",
            ],
            judge={"command": COMMAND},
        )
        found, _ = judge_try(path, entry, desk.folder)
        assert found.answer is Answer.KEEP
        assert found.look.startswith("look 1 of 10")
        assert (found.metrics, found.sides, found.standing, found.predictions) == ((), None, "", "")
        assert len(read_looks(desk.data)) == before + 1
        assert judge_try(path, entry, desk.folder)[1]  # the answer of then, and no second look
        assert len(read_looks(desk.data)) == before + 1
        assert not (path.parent / "held" / "judged").exists()


class TestTampering:
    """Whatever a candidate changes beside its predictions has no effect: it is judged as if it had not."""

    @pytest.mark.parametrize(
        "files",
        [
            pytest.param(
                {**LENIENT, **CUSTOMIZED}, id="gate, scoring, labels, experiment; code at the start of Python"
            ),
            pytest.param({"harness/__init__.py": PATCH, "numpy/__init__.py": PATCH + "import nothing"}, id="namesakes"),
        ],
    )
    def test_it_changes_nothing(self, desk: Desk, files: dict[str, str]) -> None:
        text = SCRIPT if "numpy/__init__.py" not in files else SCRIPT.replace("import cv2", CV2_WITHOUT_ITS_FOLDER)
        found = script(desk, f"{text}# {sorted(files)}\n", files)
        assert found.answer is Answer.CANNOT_TELL, found.reason
        assert found.objective is not None
        assert found.objective["gain"] == 0

    def test_a_harness_of_its_own_scores_only_itself(self, desk: Desk, better: Try) -> None:
        """Its tree is that of the harness with scoring that finds everything right; it predicts as the base does."""
        commit = _with_own_harness(desk)
        found, _ = judge_try(desk.folder / "experiments/readers.yaml", Entry(commit), desk.folder)
        assert found.answer is Answer.CANNOT_TELL, found.reason
        assert found.objective is not None
        assert found.objective["gain"] == 0
        log = (desk.folder / "experiments/readers/judged" / found.key[:16] / "log.txt").read_text()
        assert "its own harness runs" in log

    def test_judged_from_inside_of_its_own_worktree(self, desk: Desk, tmp_path: Path) -> None:
        """The judge is started in the candidate's folder, which has a conf, a harness and a sitecustomize."""
        worktree = tmp_path / "worktree"
        desk.git("worktree", "add", "--quiet", "--detach", str(worktree), "main")
        for name, text in {**LENIENT, "harness/__init__.py": PATCH, "sitecustomize.py": PATCH}.items():
            (worktree / name).parent.mkdir(parents=True, exist_ok=True)
            (worktree / name).write_text(text)
        (worktree / "predict.py").write_text(SCRIPT + "# in a worktree\n")
        command = [str(Path(sys.executable).parent / "harness"), "judge", ".", "--json"]
        command += ["--experiment", str(desk.folder / "experiments/scripts.yaml")]
        done = subprocess.run(command, cwd=worktree, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 8, done.stderr
        found = orjson.loads(done.stdout)
        assert found["answer"] == "CANNOT TELL"
        assert found["metrics"][0]["gain"] == 0
        assert found["candidate"] == "worktree as it is on disk"
        assert "patched" not in done.stdout + done.stderr

    def test_labels_in_the_folder_of_the_worktree_are_told(self, desk: Desk, tmp_path: Path) -> None:
        """A relative path of the experiment file names labels of whoever wrote the code, where it is run there."""
        worktree = tmp_path / "worktree"
        desk.git("worktree", "add", "--quiet", "--detach", str(worktree), "main")
        shutil.copytree(desk.data, worktree / "data" / "reference")
        (worktree / "predict.py").write_text(SCRIPT + "# with labels\n")
        command = [sys.executable, "-m", "harness", "judge", ".", "--json", "--experiment"]
        base = ["references=staging", "references.root=data/reference", "preset=fast"]
        path = desk.experiment("relative", base=base, judge={"command": COMMAND})
        done = subprocess.run([*command, str(path)], cwd=worktree, capture_output=True, check=False, timeout=120)
        assert done.returncode == 8, done.stderr
        (note,) = orjson.loads(done.stdout)["notes"]
        assert note.startswith("the labels lie in its own folder")

    def test_seconds_that_it_tells_of_itself_do_not_count(self, desk: Desk) -> None:
        text = SCRIPT.replace('"bibs": [bib]}', '"bibs": [bib], "seconds": {"ocr": 1e-9}}')
        found = script(desk, text)
        assert found.answer is Answer.CANNOT_TELL
        assert not [item for item in found.metrics if item["metric"].startswith("runtime/")]
        assert found.cost.seconds > 0.1

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            pytest.param("import time\nwhile True: time.sleep(0.1)", "it took longer than 12 seconds", id="endless"),
            pytest.param(
                "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass", "64 processes", id="forks"
            ),
            pytest.param(
                "raise SystemExit('\\x1b]0;owned\\x07')", r"it ended with exit code 1; it said: ", id="hostile words"
            ),
            pytest.param(
                "import nothing_of_this_name",
                "it ended with exit code 1; it said: ModuleNotFoundError: No module named 'nothing_of_this_name'",
                id="crash",
            ),
            pytest.param("import os, sys; os.symlink('/photos', sys.argv[2])", "cannot be opened as a file", id="link"),
            pytest.param("import sys; open(sys.argv[2], 'w').write('{}')", "cannot be scored", id="no lines"),
            pytest.param(
                SCRIPT.replace("sorted(Path(sys.argv[1]).iterdir())", "sorted(Path(sys.argv[1]).iterdir())[1:]"),
                "incomplete: 1 of 40",
                id="a photo left out",
            ),
        ],
    )
    def test_what_comes_to_nothing_is_discarded(self, desk: Desk, text: str, reason: str) -> None:
        rules = {"command": COMMAND, "seconds": 12, "processes": 64}
        path = desk.experiment("short", judge=rules)
        found, _ = judge_try(path, Entry(desk.commit({"predict.py": text})), desk.folder)
        assert found.answer is Answer.DISCARD
        assert reason in found.reason
        assert "\x1b" not in found.reason
        log = (path.parent / "short/judged" / found.key[:16] / "log.txt").read_text()
        assert "\x1b" not in log

    def test_a_ledger_that_was_changed_is_noticed(self, desk: Desk, better: Try) -> None:
        ledger = desk.folder / "experiments/readers/judged.jsonl"
        before = ledger.read_bytes()
        ledger.write_bytes(before.replace(b'"KEEP"', b'"DISCARD"'))
        try:
            with pytest.raises(ConflictError, match="was changed"):
                judge_try(desk.folder / "experiments/readers.yaml", Entry(better.candidate), desk.folder)
        finally:
            ledger.write_bytes(before)

    def test_predictions_of_the_base_that_were_changed_are_made_again(self, desk: Desk) -> None:
        first = script(desk, SCRIPT + "# one\n")
        (kept,) = (desk.folder / "experiments/scripts/judged").glob("base-*.jsonl")
        before = kept.read_bytes()
        kept.write_bytes(before.replace(b'"bibs": [{', b'"bibs": [], "x": [{'))
        second = script(desk, SCRIPT + "# two\n")
        assert kept.read_bytes() == before
        assert first.objective == second.objective


#: Scoring by which every number is right, at the end of `harness.scoring.numbers`.
PERFECT = "\ndef agree(one, other):\n    return True\n"
CV2_WITHOUT_ITS_FOLDER = "sys.path.remove(str(Path(__file__).parent))\nimport cv2"


def _with_own_harness(desk: Desk) -> str:
    desk.commit({"my_reader.py": READER + "# as before\n"})
    source, made = Path(harness.__file__).parent, desk.workshop / "src/harness"
    shutil.copytree(source, made, ignore=shutil.ignore_patterns("__pycache__", "*.js"))
    shutil.copytree(conf_dir(), desk.workshop / "conf", dirs_exist_ok=True)
    with (made / "__init__.py").open("a") as file:
        file.write("\nprint('its own harness runs')\n")
    with (made / "scoring/numbers.py").open("a") as file:
        file.write(PERFECT)
    return desk.commit_all()


def test_without_namespaces_it_refuses_and_says_what_is_open(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: object) -> None:
        raise NoSandboxError("new namespaces: Operation not permitted")

    monkeypatch.setattr("harness.candidates.judge.run_candidate", nothing)
    path = desk.experiment("open", judge={"command": COMMAND})
    with pytest.raises(NoSandboxError, match=r"not permitted.*can read labels.*--unprotected"):
        judge_try(path, Entry(desk.commit({"predict.py": SCRIPT + "# open\n"})), desk.folder)
    assert Tries(path.parent / "open").read() == []


def test_unprotected_is_judged_and_marked(desk: Desk) -> None:
    path = desk.experiment("open", judge={"command": COMMAND})
    commit = desk.commit({"predict.py": SCRIPT.replace("HARD = 500", "HARD = 1001")})
    found, _ = judge_candidate(contest_of(path), Entry(commit, protected=False), desk.folder)
    assert found.answer is Answer.KEEP
    assert not found.protected
    assert found.notes[0].startswith("UNPROTECTED: it runs as you")
