"""Experiment files: what they may say, and what is refused by name before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from harness.base.errors import ConfigError, MissingPackageError
from harness.search.experiment import (
    FOLDER,
    experiment_names,
    experiment_path,
    read_experiment,
    shipped,
    study_folder,
)
from harness.search.ledger import Ledger
from harness.search.searchable import check_experiment, check_words, completed, trial_config, trial_spec
from harness.search.space import Point
from harness.search.trials import State, TrialRecord, pareto_front
from tests.conftest import ROOT
from tests.search.points import experiment

MINIMAL: dict[str, Any] = {
    "space": {"link.min_drop": [0.5, 1.0]},
    "objectives": {"link/f1": "maximize"},
    "budget": {"trials": 3, "minutes": 1},
}


def check(tmp_path: Path, **changes: Any) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump({**MINIMAL, **changes}))
    check_experiment(read_experiment(path))


@pytest.mark.parametrize("path", sorted((ROOT / "experiments").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_experiment_that_ships_is_valid_and_shows_its_command(path: Path) -> None:
    made = read_experiment(path)
    check_experiment(made)
    assert made.study == path.stem
    assert f"#   harness search {path.stem}" in path.read_text()


def test_an_experiment_that_ships_is_found_by_name_and_keeps_its_study_in_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = experiment_path("link_geometry")
    made = read_experiment(path)
    assert (path, study_folder(path, made)) == (shipped() / "link_geometry.yaml", FOLDER / "link_geometry")
    assert "link_geometry" in experiment_names()
    # A person's own file of the same name comes first, and keeps its study beside it.
    FOLDER.mkdir()
    (FOLDER / "link_geometry.yaml").write_text(path.read_text())
    assert experiment_path("link_geometry") == FOLDER / "link_geometry.yaml"
    assert study_folder(Path("else/mine.yaml"), made) == Path("else/link_geometry")
    # A name that nobody has is looked for where one's own would be, and the error says what there is.
    with pytest.raises(
        ConfigError,
        match=r"experiments/nope.yaml: .*by name: bib_reading, face_detection, fastest, identity, link_geom",
    ):
        read_experiment(experiment_path("nope"))


def test_a_file_says_what_it_needs_and_the_rest_has_defaults(tmp_path: Path) -> None:
    check(tmp_path)
    made = read_experiment(tmp_path / "mine.yaml")
    assert (made.study, made.sampler, made.seed, made.split, made.pruning) == ("mine", "tpe", 0, "iteration", True)


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("seed", "space.seed: not searchable: luck is not a parameter"),
        ("references.root", "space.references.root: not searchable: the data stay as they are"),
        ("references.split", "not searchable: the data stay as they are"),
        ("scoring.bib_iou", "not searchable: the rules of scoring stay as they are"),
        ("gate.strict", "not searchable: how runs are judged stays as it is"),
        ("tracking.root", "not searchable: where runs are kept"),
        ("cache.enabled", "not searchable: the cache changes no result"),
        ("force", "space.force: not searchable"),
        ("note", "space.note: not searchable"),
        ("confidence", "space.confidence: not searchable: its files are data"),
        ("face.weights.file", "space.face.weights.file: not searchable: weights belong to a backend"),
        ("identity.weights.sha256", "space.identity.weights.sha256: not searchable: weights belong to a backend"),
        ("bib._target_", "space.bib._target_: not searchable: choose a backend by its name"),
        ("link.min_dorp", r"link.min_dorp: no such key; link has: .*Did you mean link.min_drop\?"),
        ("nonsense", "nonsense: no such key"),
        ("bib.torso", "space.bib.torso: holds several values; name one of them"),
    ],
)
def test_what_may_not_be_searched_is_refused_by_name(tmp_path: Path, key: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        check(tmp_path, space={key: [0.1, 0.2]})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"base": ["bib._target_=os.system"]}, "an experiment names no code"),
        ({"base": ["bib.guided=${oc.env:SECRET}"]}, "plain values, and nothing that is looked up"),
        ({"base": ["references.split=full"]}, "not for a search to set"),
        ({"base": ["holdout.show=true"]}, "not for a search to set"),
        ({"base": ["+x=1"]}, "not for a search to set"),
        ({"space": {"face._target_": ["evil.Evil"]}}, "choose a backend by its name"),
        ({"space": {"face": ["evil._target_"]}}, "an experiment names no code"),
        ({"space": {"link.max_drop": ["${oc.env:SECRET}", "x"]}}, "plain values, and nothing that is looked up"),
        (
            {"space": {"face": ["${x}", "b"], "face.y": {"low": 0, "high": 1, "when": {"face": "${x}"}}}},
            "plain values, and nothing that is looked up",
        ),
    ],
)
def test_a_file_that_names_code_or_looks_up_is_refused_by_its_text(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        check_words(experiment(**changes))


def test_how_a_file_of_the_users_is_searched_may_vary_but_not_the_file(tmp_path: Path) -> None:
    mine = {"base": ["identity=onnx"], "objectives": {"find/by_both": "maximize"}}
    check(tmp_path, **mine, space={"identity.fpir": [0.01, 0.1], "identity.clustering.number_weight": [0.0, 0.2]})
    for key in ("path", "sha256", "licence"):
        with pytest.raises(ConfigError, match=f"space.identity.{key}: not searchable: weights belong to a backend"):
            check(tmp_path, **mine, space={f"identity.{key}": ["a", "b"]})


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"split": "holdout"}, "split: holdout: a search sees the iteration split alone"),
        ({"split": "full"}, "split: full: a search sees the iteration split alone"),
        ({"base": ["references.split=holdout"]}, "base: references.split=holdout: not for a search to set"),
        ({"base": ["force=true"]}, "base: force=true: not for a search to set"),
        ({"base": ["preset=nope"]}, "preset=nope: no such choice"),
        ({"objectives": {}}, "objectives: Dictionary should have at least 1 item"),
        ({"objectives": {"link/f2": "maximize"}}, "link/f2: no such metric; there are: .*link/f1"),
        ({"objectives": {"link/f1": "up"}}, "objectives.link/f1: must be 'maximize' or 'minimize'"),
        ({"constraints": {"bib/f1": {}}}, "constraints.bib/f1: expected at_least, at_most or both"),
        ({"budget": {"trials": 0, "minutes": 1}}, "budget.trials: must be greater than or equal to 1"),
        ({"sampler": "magic"}, "sampler: must be 'tpe', 'random', 'grid', 'nsga2' or 'gp'"),
        ({"trails": 4}, "trails: no such key"),
        ({"study": "../elsewhere"}, "study: String should match pattern"),
        ({"space": {}}, "space: .* should have at least 1 item"),
        ({"space": {"link.min_drop": {"low": 2, "high": 1}}}, "expected low below high, got 2 and 1"),
        ({"space": {"link.min_drop": {"low": 1}}}, "expected either choices, or low and high"),
        ({"space": {"link.min_drop": [1, 1]}}, "expected choices that are all different"),
        ({"space": {"link.min_drop": {"low": 0, "high": 1, "log": True}}}, "log needs low above 0"),
        ({"space": {"link.half_width": {"low": -1, "high": 1}}}, "space.link.half_width: -1 is not accepted"),
        ({"space": {"bib.long_side": {"low": 640, "high": 1280.5}}}, "space.bib.long_side: .* is not accepted"),
        ({"space": {"face": ["yunet", "nope"]}}, "space.face: 'nope' is not accepted: face=nope: no such choice"),
        ({"space": {"face": {"low": 1, "high": 2}}}, "space.face: a group has choices, not a range"),
        (
            {"space": {"face.nms_iou": {"low": 0.1, "high": 0.5, "when": {"face": "yunet"}}}},
            "space.face.nms_iou.when: face is not above it in the space",
        ),
        (
            {"sampler": "grid", "space": {"link.min_drop": {"low": 0.1, "high": 0.5}}},
            "a grid needs an end of values; give space.link.min_drop choices or a step",
        ),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        check(tmp_path, **changes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [(None, "cannot be read"), ("a: [", "not YAML"), ("- 1\n- 2\n", "expected keys such as space")],
)
def test_a_file_that_is_none_is_told(tmp_path: Path, text: str | None, reason: str) -> None:
    path = tmp_path / "mine.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError, match=f"mine.yaml: {reason}"):
        read_experiment(path)


def test_a_point_becomes_the_config_that_the_same_overrides_make() -> None:
    from harness.config import build, compose

    made = experiment(base=["preset=fast"], space={"face": ["yunet"], "face.nms_iou": [0.4], "bib.guided": [False]})
    point: Point = {"face": "yunet", "face.nms_iou": 0.4, "bib.guided": False}
    typed = ["face=yunet", "face.nms_iou=0.4", "bib.guided=false"]
    assert trial_config(made, point) == compose(["preset=fast", *typed])
    assert trial_spec(made, point).params == build(compose(["preset=fast", *typed])).params


class TestAPointThatLeavesOutValues:
    SPACE: ClassVar = {
        "preset": {"choices": ["fast", "balanced"]},
        "bib.long_side": {"low": 600, "high": 1600, "step": 8},
        "link": {"choices": ["geometric", "rule_of_thumb"]},
        "link.max_drop": {"low": 1.0, "high": 4.0, "when": {"link": ["geometric"]}},
    }

    def completed(self, tmp_path: Path, values: Point, base: str = "preset=fast") -> Point:
        path = tmp_path / "mine.yaml"
        path.write_text(yaml.safe_dump({**MINIMAL, "space": self.SPACE, "base": [base]}))
        return completed(read_experiment(path), values)

    def test_is_completed_by_the_base_and_by_what_it_chooses(self, tmp_path: Path) -> None:
        fast = trial_spec(experiment(base=["preset=fast"]), {}).params
        found = self.completed(tmp_path, {"link": "rule_of_thumb"})
        assert found == {"preset": "fast", "bib.long_side": int(fast["bib.long_side"]), "link": "rule_of_thumb"}
        found = self.completed(tmp_path, {"preset": "balanced", "link.max_drop": 2.0})
        assert found["bib.long_side"] == 1440  # that of the preset which was chosen
        assert found["link"] == "geometric"

    def test_is_refused_where_it_is_none_of_the_space(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"link.max_drop: only when"):
            self.completed(tmp_path, {"link": "rule_of_thumb", "link.max_drop": 2.0})
        with pytest.raises(ConfigError, match=r"bib.long_side: left out, and the base's 500 is not in the space"):
            self.completed(tmp_path, {"link": "geometric"}, base="bib.long_side=500")


def test_a_sampler_whose_package_is_missing_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.base.extras.find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match=r"gp needs .* \(torch\); .* pip install 'mlflow-harness\[gp\]'"):
        Ledger.open(experiment(sampler="gp"), tmp_path)


def test_the_front_has_what_nothing_beats() -> None:
    made = experiment(objectives={"face/f1": "maximize", "runtime/pipeline_seconds": "minimize"})
    values = [(0.9, 10.0), (0.8, 5.0), (0.8, 6.0), (0.95, 20.0), (0.9, 10.0), (0.7, 5.0)]
    trials = [TrialRecord(n, State.COMPLETE, {}, pair) for n, pair in enumerate(values)]
    trials.append(TrialRecord(6, State.COMPLETE, {}, (1.0, 1.0), feasible=False))
    assert [trial.number for trial in pareto_front(made, trials)] == [3, 0, 1]
