"""A holdout is looked at ten times, and only verdicts come out of it: by whatever command, and whoever asks."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import harness as api
from harness.base.errors import HarnessError, SealedError
from harness.references.contents import read_file
from harness.references.files import BibFaceLinks, BibGroundTruth, FaceGroundTruth, PhotoIndex, write_file
from harness.references.freeze import freeze
from harness.references.store import LabelStore
from harness.runs.looks import MOST, Holdout, Look, protection, read_looks, was_shown, write_looks
from harness.tracking.store import LocalStore
from tests.conftest import Harness, Told
from tests.mounts import read_only
from tests.test_truth import OTHERS

FACE = {"x": 0.4, "y": 0.2, "w": 0.2, "h": 0.2}
BACKENDS = """
from __future__ import annotations
from dataclasses import dataclass
from typing import ClassVar
from harness.types import FaceBox

@dataclass(frozen=True)
class OneFace:
    CHEAP: ClassVar = frozenset({"shift"})
    models: ClassVar = ()
    shift: float = 0.0
    def load(self) -> None: pass
    def detect(self, look):
        (score,) = look.see("face", self, None, lambda image: [0.9])
        return (FaceBox(x=0.4 + self.shift, y=0.2, w=0.2, h=0.2, score=score),)
"""
#: What a run is started with; a shift of the box by more than a third of it finds no face.
RUN = ("face=one", "bib=none", "link=none", "references=staging", "references.root=set")
HOLDOUT = (*RUN, "references.split=holdout")
#: A rate, a percentage or an interval, as it is printed anywhere.
NUMBERS = re.compile(r"\d%|\d\.\d{2,}|interval")

#: The shifts that the runs are started with, which are no scores.
SETTINGS = re.compile(r"\b0\.(0\d*|15)\b")


@pytest.fixture
def desk(harness: Harness, tmp_path: Path, empty_store: Path) -> Path:
    """A user's folder: backends that need no models, a set of eight photos and twelve more in its holdout, a store."""
    shutil.copytree(empty_store, tmp_path / "mlruns")
    (tmp_path / "one_face.py").write_text(BACKENDS)
    (tmp_path / "others.py").write_text(OTHERS)
    for group, name, kind in (
        ("face", "one", "one_face.OneFace\nshift: 0.0"),
        ("bib", "none", "others.NoBibs"),
        ("link", "none", "others.NoLinks"),
    ):
        (tmp_path / "conf" / group).mkdir(parents=True)
        (tmp_path / "conf" / group / f"{name}.yaml").write_text(f"_target_: {kind}\n")
    make_set(tmp_path / "set", ["iteration"] * 8 + ["holdout"] * 12)
    for module in ("one_face", "others"):
        sys.modules.pop(module, None)
    return tmp_path


def make_set(root: Path, splits: list[str]) -> None:
    """A set of tiny photos, each with a face in the middle."""
    (root / "photos").mkdir(parents=True)
    index, bibs, faces = {}, {}, {}
    links: dict[str, list[tuple[int, int]]] = {}
    for number, split in enumerate(splits):
        path = root / "photos" / "new.png"
        Image.fromarray(np.full((20, 20, 3), number, np.uint8)).save(path)
        sha256, size = hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size
        path.rename(path.with_name(f"{sha256}.png"))
        record = {"names": [f"{number:02}.png"], "width": 20, "height": 20, "bytes": size, "split": split}
        index[sha256] = record | {"added_at": "2026-01-01T00:00:00Z"}
        bibs[sha256], links[sha256] = {"labeled": True, "boxes": []}, []
        faces[sha256] = {"labeled": True, "boxes": [FACE]}
    write_file(root, PhotoIndex.model_validate({"photos": index}))
    write_file(root, BibGroundTruth.model_validate({"photos": bibs}))
    write_file(root, FaceGroundTruth.model_validate({"photos": faces}))
    write_file(root, BibFaceLinks.model_validate({"photos": links}))


def write_predictions(path: Path, root: Path, shift: float) -> Path:
    """What a program of somebody's predicts for the photos of the holdout."""
    held_out = [record for record in read_file(root, PhotoIndex).photos.values() if record.split == "holdout"]
    face = {**FACE, "x": FACE["x"] + shift, "score": 0.9}
    lines = [json.dumps({"photo": record.names[0], "bibs": [], "faces": [face], "links": []}) for record in held_out]
    path.write_text("\n".join(lines))
    return path


def search(desk: Path, study: str, shift: float, references: tuple[str, ...]) -> str:
    """An experiment that can find one point."""
    (desk / "experiments").mkdir(exist_ok=True)
    base = ["face=one", "bib=none", "link=none", *references, "face.shift=0.15"]
    data = {"base": base, "space": {"face.shift": [shift]}, "objectives": {"face/recall": "maximize"}}
    text = json.dumps({**data, "budget": {"trials": 1, "minutes": 5}})
    (desk / "experiments" / f"{study}.yaml").write_text(text)
    return study


def looks_told(*told: Told) -> list[str]:
    return [line.strip() for each in told for line in each.out.splitlines() if "look" in line and "holdout" in line]


def runs_on_holdout(desk: Path) -> list[Any]:
    store = LocalStore(str(desk / "mlruns"), "harness").open()
    runs = store.client.search_runs([store.runs_experiment])
    return [(store, run) for run in runs if run.data.tags["data.split"] == "holdout"]


@pytest.mark.slow
def test_twelve_judgements_are_twelve_looks(harness: Harness, desk: Path) -> None:
    base = harness(*HOLDOUT, "face.shift=0.15")
    assert "Verdict: NO BASELINE" in base.out, base.err
    assert "these photos are a holdout, and its scores are sealed" in base.out
    assert harness("baseline").code == 0
    assert read_looks(desk / "set") == [], "neither evaluating the base nor pinning it is a look"

    first = harness(*HOLDOUT)
    assert "Verdict: IMPROVED" in first.out, first.out + first.err
    assert looks_told(first) == ["look 1 of 10 at this holdout; its scores are sealed"]
    again = harness(*HOLDOUT)
    assert "Nothing has changed" in again.out
    assert looks_told(again) == looks_told(first), "the same judgement again is no new look"
    swept = harness("-m", *HOLDOUT, "face.shift=0.01,0.02")
    assert [line[:13] for line in looks_told(swept)] == ["look 2 of 10 ", "look 3 of 10 "]
    file = write_predictions(desk / "mine.jsonl", desk / "set", 0.03)
    references = ("references=staging", "references.root=set")
    scored = harness("score", str(file), *references, "references.split=holdout")
    assert looks_told(scored)[0].startswith("look 4 of 10")
    told = [base, first, again, swept, scored]

    made = api.run(*HOLDOUT, "face.shift=0.04")
    assert made.judgement.look.startswith("look 5 of 10")
    assert (made.verdict, made.metrics, made.judged, made.report) == ("IMPROVED", {}, (), "")
    assert api.load_run(made.id).verdict == "IMPROVED", "to read a verdict that was told is no look"
    shifted = write_predictions(desk / "mine.jsonl", desk / "set", 0.05)
    given = api.score(shifted, *references, "references.split=holdout")
    assert given.judgement.look.startswith("look 6 of 10")

    assert harness("search", search(desk, "one", 0.06, references)).code == 0
    confirmed = harness("search", "confirm", "one")
    assert "HOLDS UP" in confirmed.out, confirmed.out + confirmed.err
    assert looks_told(confirmed)[0].startswith("Holdout: look 7 of 10")
    shutil.rmtree(desk / "experiments" / "one")
    assert harness("search", "one").code == 0
    assert "look 7 of 10" in harness("search", "confirm", "one").out, "the same judgement, by a study made anew"
    shutil.rmtree(desk / "experiments" / "one")
    assert harness("search", search(desk, "two", 0.065, references)).code == 0
    assert "look 8 of 10" in harness("search", "confirm", "two").out
    told.append(confirmed)

    index = read_file(desk / "set", PhotoIndex)
    moved = next(sha256 for sha256, record in index.photos.items() if record.split == "iteration")
    index.photos[moved] = index.photos[moved].model_copy(update={"split": "holdout"})
    write_file(desk / "set", index)
    freeze(LabelStore(desk / "set"), "v2")
    frozen = [word.replace("staging", "frozen") for word in HOLDOUT] + ["references.name=v2"]
    assert "INCOMPARABLE" in harness(*frozen, "face.shift=0.15").out
    assert harness("baseline").code == 0
    later = [harness(*frozen, f"face.shift={shift}") for shift in (0.0, 0.01, 0.02)]
    assert "look 9 of 10" in later[0].out
    assert "look 10 of 10" in later[1].out
    assert "Verdict: IMPROVED, UNPROTECTED" in later[2].out
    assert "look 11 at a holdout that has 10" in later[2].out
    twelfth = api.run(*frozen, "face.shift=0.03")
    assert twelfth.judgement.unprotected
    assert "look 12 at a holdout" in twelfth.judgement.look
    assert len({look.judgement for look in read_looks(desk / "set")}) == 12
    told += later

    (desk / "set" / "looks.jsonl").unlink()
    thirteenth = harness(*frozen, "face.shift=0.04")
    assert "look 13 at a holdout" in thirteenth.out, "the store has them, too"
    compared = harness("compare", "latest", "--json", *RUN[3:])
    assert json.loads(compared.out)["metrics"] == []
    assert json.loads(compared.out)["photos"] == []
    told += [thirteenth, harness("compare", "latest")]
    listed = [line for line in harness("list").out.splitlines() if "holdout" in line]

    for text in [*(each.out for each in told), *listed]:
        assert NUMBERS.search(SETTINGS.sub("", text)) is None, text
    for store, run in runs_on_holdout(desk):
        assert run.data.metrics == {}
        assert {file.path for file in store.client.list_artifacts(run.info.run_id)} == {"config.yaml", "code.json"}
        assert NUMBERS.search(SETTINGS.sub("", run.data.tags["mlflow.note.content"])) is None
        assert not [name for name in run.data.tags if name.startswith("verdict.face")]
    for path in (desk / "set" / "sealed").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(SealedError, match="its scores are sealed"):
        api.load_run(made.id).store and _scores(made.id)
    refused = harness("export", "--format", "predictions", made.id, "out.jsonl")
    assert (refused.code, "its scores are sealed" in refused.err) == (1, True)


def _scores(run_id: str) -> Any:
    from harness.tracking.catalog import load_run

    return load_run(LocalStore("mlruns", "harness").open(), run_id)


@pytest.mark.slow
def test_whoever_asks_for_the_scores_gets_them_and_the_holdout_is_unprotected(harness: Harness, desk: Path) -> None:
    assert harness(*HOLDOUT, "face.shift=0.15").code == 0
    assert harness("baseline").code == 0
    assert "look 1 of 10" in harness(*HOLDOUT).out
    shown = harness(*HOLDOUT, "holdout.show=true")
    assert "100.0%" in shown.out
    assert "the scores of 12 photos of the holdout are shown: no verdict on them is protected any more" in shown.err
    assert "look 1 of 10" in harness(*HOLDOUT).out, "what was claimed before stays as it was"
    after = harness(*HOLDOUT, "face.shift=0.01")
    assert "Verdict: IMPROVED, UNPROTECTED" in after.out
    assert "UNPROTECTED: the scores of this holdout were shown on 20" in after.out
    assert "IMPROVED, UNPROTECTED" in harness("list").out


@pytest.mark.slow
def test_what_is_claimed_by_scores_that_were_shown_is_marked_wherever_it_is_told(harness: Harness, desk: Path) -> None:
    assert harness(*HOLDOUT, "face.shift=0.15", "holdout.show=true").code == 0
    assert harness("baseline").code == 0
    assert "Verdict: IMPROVED, UNPROTECTED" in harness(*HOLDOUT, "holdout.show=true").out
    (better, base) = (run.run_id for run in api.list_runs())
    compared = harness("compare", better, base).out
    assert "Verdict: IMPROVED, UNPROTECTED\n  UNPROTECTED: the scores of this holdout were shown" in compared
    assert "### harness: IMPROVED, UNPROTECTED" in harness("compare", better, base, "--markdown").out
    data = json.loads(harness("compare", better, base, "--json").out)
    assert (data["verdict"], data["unprotected"], "were shown" in data["look"]) == ("IMPROVED", True, True)
    for told in (api.load_run(better), api.compare(better, base)):
        assert "IMPROVED, UNPROTECTED" in repr(told)
        assert "IMPROVED, UNPROTECTED" in str(told)
        assert "IMPROVED, UNPROTECTED" in told._repr_html_()
    assert "IMPROVED, UNPROTECTED" in api.load_run(better).report
    assert harness("baseline", better, "-f").code == 0
    assert "REGRESSED, UNPROTECTED" in harness("list").out, "judged anew when another one was pinned"
    assert "REGRESSED, UNPROTECTED" in api.load_run(base).report


@pytest.mark.slow
def test_other_scores_under_the_same_key_and_another_seed_are_other_looks(
    harness: Harness, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backends = (desk / "one_face.py").read_text()
    # What no key can see: a backend that goes by a variable of the environment.
    told = backends.replace("0.4 + self.shift", "0.4 + self.shift + float(__import__('os').environ.get('MORE', '0'))")
    (desk / "one_face.py").write_text(told)
    assert harness(*HOLDOUT, "face.shift=0.15").code == 0
    assert harness("baseline").code == 0
    assert "look 1 of 10" in harness(*HOLDOUT).out
    assert "look 1 of 10" in harness(*HOLDOUT, "force=true").out, "the same scores"
    monkeypatch.setenv("MORE", "0.2")
    other = harness(*HOLDOUT, "force=true", "cache=off")
    assert "Verdict: CANNOT TELL" in other.out, other.out + other.err
    assert "look 2 of 10" in other.out
    monkeypatch.delenv("MORE")
    again = harness(*HOLDOUT, "force=true", "cache=off")
    assert "look 1 of 10" in again.out, "what was told before"
    assert "look 1 of 10" in harness("compare", "latest").out
    assert "look 3 of 10" in harness("compare", "latest", "seed=1").out


@pytest.mark.slow
def test_a_run_that_lacks_a_gated_metric_is_a_look_where_the_others_were_compared(harness: Harness, desk: Path) -> None:
    backends = (desk / "one_face.py").read_text()
    none = "\n        if self.shift == 0.07: return ()"
    (desk / "one_face.py").write_text(backends.replace("def detect(self, look):", f"def detect(self, look):{none}"))
    gate = "gate.metrics.face.precision.informational=false"
    assert harness(*HOLDOUT, "face.shift=0.15").code == 0
    assert harness("baseline").code == 0
    missing = harness(*HOLDOUT, gate, "face.shift=0.07")
    assert "Verdict: INCOMPLETE" in missing.out, missing.out + missing.err
    assert "look 1 of 10" in missing.out, "that recall has not REGRESSED is told"
    assert len(read_looks(desk / "set")) == 1


@pytest.mark.slow
def test_a_run_on_everything_shows_the_holdout_too_and_says_so(harness: Harness, desk: Path) -> None:
    full = harness(*RUN, "references.split=full")
    assert full.code == 0
    assert "the scores of 12 photos of the holdout are shown" in full.err
    (look,) = read_looks(desk / "set")
    assert (look.shown, len(look.photos)) == (True, 12)
    assert harness(*RUN, "references.split=full", "face.shift=0.01").code == 0
    assert len(read_looks(desk / "set")) == 1, "shown once is shown"
    assert "of the holdout are shown" not in harness(*RUN).err
    make_set(desk / "held_out", ["holdout"] * 4)
    full = harness(*RUN, "references.split=full", "references.root=held_out")
    assert "the scores of 4 photos of the holdout are shown" in full.err, "also where nothing else is in the set"
    assert "recall" in full.out


@pytest.mark.slow
def test_a_look_that_cannot_be_counted_is_not_made(harness: Harness, desk: Path) -> None:
    assert harness(*HOLDOUT, "face.shift=0.15").code == 0
    assert harness("baseline").code == 0
    done = read_only(desk / "set", sys.executable, "-m", "harness", *HOLDOUT)
    assert done.returncode == 1
    assert "Verdict: IMPROVED" not in done.stdout
    assert "set" in done.stderr
    assert len(done.stderr.splitlines()) < 4, done.stderr
    assert "look 1 of 10" in harness(*HOLDOUT).out


@pytest.mark.slow
def test_a_sealed_baseline_that_was_moved_away_stops_no_run_on_other_photos(harness: Harness, desk: Path) -> None:
    assert harness(*HOLDOUT, "face.shift=0.15").code == 0
    assert harness("baseline").code == 0
    (desk / "set").rename(desk / "moved")
    run, held_out = ([word.replace("root=set", "root=moved") for word in words] for words in (RUN, HOLDOUT))
    other = harness(*run)
    assert (other.code, "Verdict: NO BASELINE" in other.out) == (0, True), other.err
    assert "the one pinned last cannot be read" in other.err
    assert "look 1 of 10" in harness(*held_out).out
    shutil.rmtree(desk / "moved" / "sealed")
    lost = harness(*held_out, "face.shift=0.01")
    assert (lost.code, "cannot be read" in lost.err) == (1, True), "where it is the baseline of the data, that is told"


@pytest.mark.slow
def test_a_run_that_failed_takes_no_place_of_sealed_scores(harness: Harness, desk: Path) -> None:
    base = (*HOLDOUT, "face.shift=0.15")
    assert harness(*base).code == 0
    assert harness("baseline").code == 0
    held_out = [
        sha256 for sha256, record in read_file(desk / "set", PhotoIndex).photos.items() if record.split != "iteration"
    ]
    photo = desk / "set" / "photos" / f"{held_out[0]}.png"
    content = photo.read_bytes()
    photo.write_bytes(b"damaged")
    assert "Verdict: INCOMPLETE" in harness(*base, "force=true").out
    photo.write_bytes(content)
    assert "Verdict: IMPROVED" in harness(*HOLDOUT).out, "against the baseline as it was pinned"


@pytest.mark.slow
def test_what_a_verdict_rests_on_is_told_also_where_the_scores_are_sealed(harness: Harness, desk: Path) -> None:
    index = read_file(desk / "set", PhotoIndex)
    splits = [record.split for record in index.photos.values()]
    for sha256 in list(index.photos)[splits.index("holdout") - 1 :][:2]:  # one of each split
        index.photos[sha256] = index.photos[sha256].model_copy(update={"group": "finish"})
    write_file(desk / "set", index)
    told = harness(*HOLDOUT)
    assert "12 photos in 12 groups, the largest of 1." in told.out, told.out + told.err
    assert "1 group has photos in both splits, so that iteration and holdout are not independent" in told.out
    alone = harness(*HOLDOUT, "references.groups=photo")
    assert "each a group of its own (references.groups=photo)" in alone.out
    for _, run in runs_on_holdout(desk):
        assert "a group of its own" in (note := run.data.tags["mlflow.note.content"]) or "in both splits" in note
    assert NUMBERS.search(SETTINGS.sub("", told.out + alone.out)) is None


def look(at: int, photos: str, judgement: str) -> Look:
    return Look(f"2026-01-01T00:00:{at:02}+00:00", tuple(photos), judgement)


def holdout(photos: str) -> Holdout:
    return Holdout(Path(), frozenset(photos), alone=True)


def test_sets_that_share_a_photo_share_their_looks() -> None:
    looks = [look(1, "ab", "x"), look(2, "bc", "y"), look(3, "de", "z")]
    assert protection(looks, holdout("bc"), "y").number == 2
    assert protection(looks, holdout("de"), "z").number == 1
    assert protection(looks, holdout("cd"), "z").number == 2, "of y and z, and not of x"


def test_what_is_shown_leaves_everything_after_it_unprotected() -> None:
    looks = [look(1, "ab", "x"), look(2, "b", ""), look(3, "ab", "y")]
    assert protection(looks, holdout("ab"), "x").holds
    assert not protection(looks, holdout("ab"), "y").holds
    assert "were shown on 2026-01-01" in protection(looks, holdout("ab"), "y").words()
    assert protection(looks, holdout("a"), "y").holds, "its photo was not among those shown"
    assert was_shown(looks, holdout("b"))
    assert not was_shown(looks, holdout("ab"))


def test_a_clock_that_was_set_back_gives_no_look_back() -> None:
    made = [replace(look(at, "p", str(at)), at=f"2999-01-01T00:00:{at:02}+00:00") for at in range(10)]
    late = Look.now(holdout("p"), made, "late")
    assert protection([*made, late], holdout("p"), "late").number == 11
    shown = Look.now(holdout("p"), [*made, late])
    after = Look.now(holdout("p"), [*made, late, shown], "after")
    assert protection([after, shown, late, *made], holdout("p"), "after").shown_at == shown.at


@given(st.lists(st.sampled_from("abcdefghijklmnop"), min_size=1, max_size=40))
def test_each_judgement_counts_once_and_ten_are_protected(judgements: list[str]) -> None:
    looks = [look(at, "p", judgement) for at, judgement in enumerate(judgements)]
    order = list(dict.fromkeys(judgements))
    for judgement in order:
        worth = protection(looks, holdout("p"), judgement)
        assert worth.number == order.index(judgement) + 1
        assert worth.holds == (worth.number <= MOST)


def test_looks_are_read_as_they_were_written_and_a_bad_line_is_named(tmp_path: Path) -> None:
    looks = [look(1, "ab", "x"), look(2, "b", "")]
    write_looks(tmp_path, looks[::-1])
    assert read_looks(tmp_path) == looks
    good = (tmp_path / "looks.jsonl").read_text()
    for bad in ('{"at": 3}', '{"at": "soon", "photos": []}', '{"at": "2026-01-01T00:00:00", "photos": []}'):
        (tmp_path / "looks.jsonl").write_text(f"{good}{bad}\n")
        with pytest.raises(HarnessError, match=r"looks\.jsonl:3: at"):
            read_looks(tmp_path)
