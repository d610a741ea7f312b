"""Configs: each composes and fits its class; a mistake is named together with what exists."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest
from hydra.utils import get_class
from omegaconf import OmegaConf

from harness.base.conf import conf_dir
from harness.base.errors import ConfigError
from harness.config import build, chosen_keys, compose
from harness.showing import warn_of_idle

GROUP_FILES = sorted(path for path in conf_dir().glob("*/*.yaml") if path.parent.name != "preset")
PRESETS = sorted(path.stem for path in (conf_dir() / "preset").glob("*.yaml"))


@pytest.mark.parametrize("path", GROUP_FILES, ids=lambda path: f"{path.parent.name}={path.stem}")
def test_a_group_file_lists_every_field_of_its_class(path: Path) -> None:
    content = OmegaConf.to_container(compose([f"{path.parent.name}={path.stem}"])[path.parent.name])
    assert isinstance(content, dict)
    target = get_class(content.pop("_target_"))
    assert set(content) == {field.name for field in fields(target) if field.init}


@pytest.mark.parametrize("path", GROUP_FILES, ids=lambda path: f"{path.parent.name}={path.stem}")
def test_every_choice_builds(path: Path) -> None:
    # What nobody can choose for the user: which photos to look at, a pattern of their own, and where machines meet.
    needed = {"references": ["tables=sample"], "bib_format": ["bib_format.pattern='[A-F][0-9]{4}'"]}
    needed["cache"] = ["cache.uri=/mnt/race"] if path.stem == "shared" else []
    build(compose([f"{path.parent.name}={path.stem}", *needed.get(path.parent.name, [])]))


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_builds_with_every_face_backend_and_knows_its_name(preset: str) -> None:
    for backend in ("yunet", "scrfd"):
        assert build(compose([f"preset={preset}", f"face={backend}"])).preset == preset


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("preset=nope", "preset=nope: no such choice; preset is one of: balanced, best, fast, plain"),
        (
            "face.treshold=1",
            "face.treshold: no such key; face has: landmark_heights, long_side, .*Did you mean face.threshold",
        ),
        ("presett=fast", "presett: no such key; the config has: .*Did you mean preset"),
        ("face.threshold=abc", "face.threshold: must be a number.*got 'abc'"),
        ("face.threshold=2", "face.threshold: must be less than or equal to 1, got 2"),
        ("face.threshold=nan", "face.threshold: must be a finite number"),
        ("bib.long_side=-1", "bib.long_side: must be greater than or equal to 0"),
        ("bib_format.pattern='['", "bib_format: pattern='\\[' is no regular expression: unterminated character set"),
        ("bib.closer=never", "bib.closer: must be 'always' or 'unsure'"),
        ("preset=plain bib.long_side=0", "bib: long_side=0, torso_faces=\\[\\]: nothing would be read"),
        ("+face.foo=1", "face.foo: no such key"),
        ("seed=abc", "seed: must be a whole number, got 'abc'"),
        ("references.split=some", "references.split: must be 'iteration', 'holdout' or 'full'"),
        ("gate.metrics.number.f2.absolute=0.1", "gate.metrics.number.f2: the run has no such metric"),
        ("scoring.bib_iou=0", "scoring: bib_iou is 0.0; expected a number above 0 and at most 1"),
        ("face.threshold=[", "not a valid override"),
        ("note=today's", "a text with quotes or brackets is quoted, as in 'note=\"today'\"'\"'s\"'"),
    ],
)
def test_a_mistake_is_named(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build(compose(override.split()))


def test_params_are_flat_and_say_what_is_computed_not_where_it_is_kept() -> None:
    params = build(compose(["preset=fast", "note=hello"])).params
    assert params["preset"] == "fast"
    assert params["face.long_side"] == "960"
    assert params["bib.detector.licence"] == "Apache-2.0"
    assert not [key for key in params if key.startswith(("tracking", "note", "sweep_id"))]


@pytest.mark.parametrize(
    ("overrides", "chosen"),
    [
        ([], {"bib.long_side", "bib.torso_faces"}),
        (["preset=best"], {"bib.long_side", "bib.torso_faces", "bib.last_looks"}),
        (["bib.torso.rival_share=0.4"], {"bib.long_side", "bib.torso_faces", "bib.torso.rival_share"}),
        (["bib.torso.rival_share=0.6"], {"bib.long_side", "bib.torso_faces", "bib.torso.rival_share"}),
    ],
)
def test_what_a_preset_changes_and_a_person_types_is_chosen(overrides: list[str], chosen: set[str]) -> None:
    keys = chosen_keys(build(compose(overrides), overrides))
    assert {key for key in keys if key.startswith("bib.")} == chosen


@pytest.mark.parametrize(
    ("typed", "warned"),
    [([], False), (["bib=rapidocr"], True), (["bib.torso.rival_share=0.5"], True), (["face=yunet"], False)],
)
def test_an_idle_step_is_warned_of_where_its_key_or_its_whole_group_was_typed(
    typed: list[str], warned: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    warn_of_idle(build(compose(typed), typed), ["bib.torso.rival_share"])
    assert ("bib.torso.rival_share" in capsys.readouterr().err) is warned
