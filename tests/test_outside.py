"""Code from outside: all files of docs/extending.md, in a folder of their own, work with every command."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from omegaconf import OmegaConf

from harness.base import conf
from harness.base.errors import ConfigError
from harness.cli.help import config_groups
from harness.config import build, compose
from harness.formats import formats
from harness.runs.records import plan_code, run_key, run_tags
from harness.search.experiment import Experiment
from harness.search.searchable import check_experiment, trial_config
from harness.tracking.catalog import load_run
from harness.tracking.finding import list_runs
from harness.tracking.store import LocalStore
from tests.conftest import ROOT, Harness

PRESETS = sorted(file.stem for file in (conf.conf_dir() / "preset").glob("*.yaml"))
#: Backends without models: nothing here has to wait for OCR.
MINE = ("face=mine", "bib=mine", "link=in_order")
PAGE = (ROOT / "docs" / "extending.md").read_text()


def page_files() -> dict[str, str]:
    """The files of the page, as a reader copies them: blocks of code that begin with a comment, their path. Before it
    stands only what Hydra wants to be first."""
    block = r"^```(?:python|yaml)\n((?:# @package \S+\n)?# (\S+)\n.*?)^```"
    return {name: text for text, name in re.findall(block, PAGE, re.MULTILINE | re.DOTALL)}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def project(harness: Harness, tmp_path: Path, tiny_set: Path, empty_store: Path) -> Iterator[Path]:
    """A folder with the page's files, where the command is run; its modules are forgotten afterwards."""
    write(tmp_path, page_files())
    shutil.copytree(empty_store, tmp_path / "mlruns")
    yield tmp_path
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def data(tiny_set: Path) -> tuple[str, ...]:
    return ("references=staging", f"references.root={tiny_set}", *MINE)


def refused(*overrides: str) -> str:
    with pytest.raises(ConfigError) as caught:
        build(compose(overrides))
    assert len(str(caught.value).splitlines()) == 1
    return str(caught.value)


class TestPresets:
    def test_a_sweep_over_all_presets_runs_with_backends_from_outside(
        self, project: Path, harness: Harness, data: tuple[str, ...]
    ) -> None:
        told = harness("-m", f"preset={','.join(PRESETS)}", *data)
        assert told.code == 0, told.err
        runs = list_runs(LocalStore(str(project / "mlruns"), "harness").open())
        assert sorted(run.name.split()[0] for run in runs) == PRESETS
        assert all(run.metrics["face/recall"] > 0 for run in runs)

    @pytest.mark.parametrize("preset", PRESETS)
    def test_what_a_preset_says_about_another_backend_is_left_out(self, project: Path, preset: str) -> None:
        composed = compose([f"preset={preset}", "face=mine"])
        assert OmegaConf.to_container(composed.face) == yaml.safe_load((project / "conf/face/mine.yaml").read_text())
        assert composed.bib == compose([f"preset={preset}"]).bib
        assert build(composed).preset == preset

    def test_cfg_job_shows_what_applies(self, project: Path, harness: Harness) -> None:
        told = harness("--cfg", "job", "preset=best", "face=mine")
        shown = yaml.safe_load(told.out)
        assert shown["face"] == {"_target_": "my_faces.MyFaces", "height": 0.1, "threshold": 0.5}
        assert shown["bib"]["torso_faces"] == [96, 128, 192]
        part = harness("--cfg", "job", "--package", "face", "preset=best", "face=mine")
        assert part.out.splitlines()[0] == "# @package face"
        assert yaml.safe_load(harness("--cfg", "hydra").out)["hydra"]["job"]["name"] == "harness"
        resolved = yaml.safe_load(harness("--cfg", "job", "--resolve", "tracking=server").out)
        assert resolved["tracking"]["uri"].startswith("http")

    def test_compare_names_the_code_that_differs(self, project: Path, harness: Harness, data: tuple[str, ...]) -> None:
        assert harness(*data).code == 0
        assert harness(*data[:-1], "link=geometric").code == 0
        first = list_runs(LocalStore(str(project / "mlruns"), "harness").open())[1]
        told = harness("compare", "latest", first.run_id)
        assert re.search(r"^Code\n  only in the base: my_links\n  the harness itself: ", told.out, re.MULTILINE)
        assert "Code\n  no difference" in harness("compare", "latest", "latest").out

    def test_an_override_is_checked_against_the_backend_that_is_there(self, project: Path) -> None:
        assert "face.long_side: no such key; face has: height, threshold" in refused("face=mine", "face.long_side=9")
        assert build(compose(["face=mine", "face.height=0.3"])).params["face.height"] == "0.3"

    def test_a_preset_from_outside_applies_to_what_it_is_tuned_for(self, project: Path) -> None:
        assert compose(["preset=tall", "face=mine"]).face.height == 0.2
        assert "height" not in compose(["preset=tall"]).face
        assert compose(["preset=tall"]).preset == "tall"

    def test_a_preset_that_is_tuned_for_nothing_applies_to_whatever_is_chosen(self, project: Path) -> None:
        write(project, {"conf/preset/any.yaml": "# @package _global_\nface: {long_side: 800}\n"})
        assert compose(["preset=any"]).face.long_side == 800
        message = refused("preset=any", "face=mine")
        assert message.startswith(
            "conf/preset/any.yaml: face.long_side: no such key of my_faces.MyFaces, "
            "which has: height, threshold. tuned_for"
        )

    def test_the_keys_of_a_backend_are_those_of_its_class_whatever_a_preset_says(self, project: Path) -> None:
        """Before a preset is cut to what it is tuned for, its keys stand beside those of the backend."""
        message = "face.nms_iou: no such key; face has: height, threshold. face=scrfd and face=yunet have it."
        assert refused("face=mine", "preset=fast", "face.nms_iou=1") == message
        write(project, {"conf/face/short.yaml": "_target_: my_faces.MyFaces\n"})
        listed = refused("face=short", "face.height=0.2")
        assert (
            listed == "face.height: the file that is chosen does not list it; add it there, or type +face.height=VALUE"
        )
        assert build(compose(["face=short", "+face.height=0.2"])).params["face.height"] == "0.2"
        assert refused("seeed=1").endswith(" tracking. Did you mean seed?")
        assert not re.search("hydra|shadowed|chosen|sweep_id|tuned_for", refused("seeed=1"))

    @pytest.mark.parametrize(
        ("files", "overrides", "message"),
        [
            (
                {"conf/face/odd.yaml": "_target_: my_faces.MyFaces\nheigth: 1\n"},
                ["face=odd"],
                "conf/face/odd.yaml: face.heigth: no such key of my_faces.MyFaces, which has: height, threshold."
                " Did you mean face.height?",
            ),
            (
                {"conf/face/odd.yaml": "_target_: my_faces.MyFaces\nheight: abc\n"},
                ["face=odd"],
                "conf/face/odd.yaml: face.height: must be a number, got 'abc'",
            ),
            (
                {"conf/preset/odd.yaml": "# @package _global_\nface: {height: abc}\n"},
                ["face=mine", "preset=odd"],
                "conf/preset/odd.yaml: face.height: must be",
            ),
            ({}, ["face=mine", "face.height=abc"], "face.height: must be a number"),
            (
                {"conf/preset/odd.yaml": "face: {height: 0.1}\n"},
                ["preset=odd"],
                "conf/preset/odd.yaml: a preset needs the first line `# @package _global_`",
            ),
            (
                {"conf/preset/odd.yaml": "# @package _global_\nnonsense: 3\n"},
                ["preset=odd"],
                "conf/preset/odd.yaml: nonsense: no such key; the config has: bib, bib_format, cache,",
            ),
            (
                {"conf/bib/odd.yaml": "defaults: [rapidocr, _self_]\nrule: {digits: 1}\n"},
                ["bib=odd"],
                "conf/bib/odd.yaml: bib.rule.digits: no such key of harness.pipeline.bibs.rapidocr.RapidOcr, "
                "which has: ",
            ),
        ],
    )
    def test_a_mistake_in_a_file_names_the_file(
        self, project: Path, files: dict[str, str], overrides: list[str], message: str
    ) -> None:
        write(project, files)
        assert refused(*overrides).startswith(message)

    def test_a_preset_that_does_not_fit_a_file_that_replaces_ours_names_both(
        self, project: Path, harness: Harness
    ) -> None:
        write(project, {"conf/face/yunet.yaml": "_target_: my_faces.MyFaces\n"})
        assert refused("preset=fast") == (
            "the harness's own preset=fast: face.long_side: no such key of my_faces.MyFaces, "
            "which has: height, threshold."
            " tuned_for in the preset names the choices of face that its values are for."
            " Note that conf/face/yunet.yaml replaces the harness's own face=yunet"
        )
        assert "conf/face/yunet.yaml replaces the harness's own face=yunet" in harness("--cfg", "job").err

    def test_a_preset_may_build_on_another(self, project: Path) -> None:
        text = "# @package _global_\ndefaults: [fast]\npreset: faster\nface: {long_side: 640}\n"
        write(project, {"conf/preset/faster.yaml": text})
        assert (compose(["preset=faster"]).face.long_side, compose(["preset=faster"]).bib.long_side) == (640, 656)
        assert "long_side" not in compose(["preset=faster", "face=mine"]).face
        text = "# @package _global_\ndefaults: [fast]\ntuned_for: {face: [mine]}\nface: {height: 0.3}\n"
        write(project, {"conf/preset/other.yaml": text})
        assert dict(compose(["preset=other", "face=mine"]).face) == dict(compose(["face=mine", "face.height=0.3"]).face)
        assert compose(["preset=other"]).face == compose(["preset=fast"]).face

    @pytest.mark.parametrize(
        ("preset", "message"),
        [
            ("tuned_for: {face: [yunet, scrfd]}\nface: {longside: 1}", "face.longside: no such key of face=yunet nor"),
            ("tuned_for: {bib: [rapidocr]}\nbib: {rule: {digits: 1}}", "bib.rule.digits: no such key of bib=rapidocr"),
            ("tuned_for: {face: [yunt]}", "tuned_for.face: yunt: no such choice; face is one of: mine, scrfd, yunet"),
            ("tuned_for: {faces: [yunet]}", "tuned_for: faces: no such group; there are: bib, bib_format, cache"),
            ("tuned_for: {face: yunet}", "tuned_for.face: expected a list of choices, got 'yunet'"),
            ("tuned_for: [face]", "conf/preset/odd.yaml: Cannot merge DictConfig with ListConfig"),
        ],
    )
    def test_what_fits_nowhere_is_an_error_whatever_is_chosen(self, project: Path, preset: str, message: str) -> None:
        write(project, {"conf/preset/odd.yaml": f"# @package _global_\n{preset}\n"})
        assert message in refused("preset=odd", "face=mine", "bib=mine")


class TestCommands:
    def test_a_search_and_the_preset_that_it_proposes(
        self, project: Path, harness: Harness, data: tuple[str, ...]
    ) -> None:
        study = {
            "base": [*data[:2], "preset=fast", "bib=mine", "link=in_order", "face=mine", "face.height=0.01"],
            "space": {"face.height": [0.1]},
            "objectives": {"face/f1": "maximize"},
            "budget": {"trials": 1, "minutes": 5},
        }
        write(project, {"experiments/tall.yaml": yaml.safe_dump(study)})
        told = harness("search", "experiments/tall.yaml")
        assert told.code == 0, told.err
        proposed = yaml.safe_load((project / "experiments/tall/proposed_preset.yaml").read_text())
        assert proposed["tuned_for"] == {"face": ["mine"]}
        assert proposed["face"] == {"height": 0.1}
        assert "bib" not in proposed
        shutil.copy(project / "experiments/tall/proposed_preset.yaml", project / "conf/preset/tall.yaml")
        assert (compose(["preset=tall"]).face.height, compose(["preset=tall"]).bib.number) == (0.1, "417")

    def test_a_search_over_backends_and_presets_is_accepted(self, data: tuple[str, ...], project: Path) -> None:
        study = {
            "study": "both",
            "base": ["references=staging"],
            "space": {
                "face": ["yunet", "mine"],
                "preset": PRESETS,
                "face.height": {"choices": [0.1], "when": {"face": "mine"}},
            },
            "objectives": {"face/f1": "maximize"},
            "budget": {"trials": 1, "minutes": 5},
        }
        experiment = Experiment.model_validate(study)
        check_experiment(experiment)
        assert "long_side" not in trial_config(experiment, {"face": "mine", "preset": "best"}).face
        assert trial_config(experiment, {"face": "yunet", "preset": "best"}).face.long_side == 1600

    def test_prepare_suggests_by_it(self, project: Path, harness: Harness, data: tuple[str, ...]) -> None:
        told = harness("prepare", str(project / "set" / "photos"), *MINE, "preset=best", "--config-dir=conf")
        assert told.code == 0, told.err
        assert "3 photos (3 bibs, 3 faces, 3 links)" in told.out

    @pytest.mark.slow
    def test_an_installed_command_and_the_processes_that_it_starts_find_it(
        self, project: Path, data: tuple[str, ...], tmp_path: Path
    ) -> None:
        # -P: like a console script, Python does not look where the command is run.
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        command = [sys.executable, "-P", "-m", "harness", "-m", "preset=best", *data, "hydra/launcher=joblib"]
        command += ["hydra.launcher.n_jobs=2", "-cd", str(project / "conf"), f"tracking.root={project / 'mlruns'}"]
        environment = {key: value for key, value in os.environ.items() if key != conf.VARIABLE}
        done = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        assert len(list_runs(LocalStore(str(project / "mlruns"), "harness").open())) == 1

    def test_help_lists_the_choices_from_outside(self, project: Path, harness: Harness) -> None:
        assert config_groups()["face"] == ["mine", "scrfd", "yunet"]
        assert re.search("face +mine, scrfd, yunet", harness("--help").out)

    def test_threads_compose_side_by_side(self, project: Path) -> None:
        with ThreadPoolExecutor(4) as pool:
            heights = pool.map(lambda n: compose(["face=mine", f"face.height=0.{n}"]).face.height, range(1, 9))
        assert list(heights) == [n / 10 for n in range(1, 9)]


class TestTheFolder:
    def test_it_is_named_by_an_option_by_the_environment_or_by_where_the_command_is_run(
        self, project: Path, harness: Harness, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert conf.user_conf() == project / "conf"
        (project / "conf").rename(project / "named")
        assert conf.user_conf() is None
        assert harness("--cfg", "job", "face=mine").code == 2
        assert harness("--cfg", "job", "face=mine", "--config-dir", "named").code == 0
        monkeypatch.setenv(conf.VARIABLE, "named")
        assert conf.user_conf() == project / "named"

    @pytest.mark.parametrize("command", [["list"], ["search", "status", "x"], ["cache", "stats"], ["--help"], []])
    def test_every_command_takes_the_option_and_refuses_a_folder_that_is_none(
        self, harness: Harness, command: list[str]
    ) -> None:
        told = harness(*command, "--config-dir", "nowhere")
        assert told.code == 2
        assert "nowhere: no such folder; --config-dir and HARNESS_CONF name a folder of config groups" in told.err
        assert "expected a folder" in harness(*command, "--config-dir").err

    def test_our_own_folder_is_not_the_users(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(conf.conf_dir().parent)
        monkeypatch.delenv(conf.VARIABLE, raising=False)
        assert conf.user_conf() is None

    def test_only_groups_of_ours_are_read(self, project: Path) -> None:
        before = compose()
        foreign = {
            "conf/config.yaml": "defaults: [{face: nonsense}]\n: [",
            "conf/schema.yaml": "a: 1",
            "conf/seed/one.yaml": "a: 1",
            "conf/hydra/launcher/basic.yaml": "_target_: nowhere.Launcher",
            "conf/model/resnet.yaml": ": [",
        }
        write(project, foreign)
        assert compose() == before
        assert build(compose(["seed=3"])).seed == 3

    def test_a_file_that_replaces_one_of_ours_is_named_in_output_key_and_tag(
        self, project: Path, harness: Harness, data: tuple[str, ...]
    ) -> None:
        given = [*data[:-1], "link=geometric"]
        plain = build(compose(given))
        text = (conf.conf_dir() / "link/geometric.yaml").read_text()
        write(project, {"conf/link/geometric.yaml": text})
        shadowing = build(compose(given))
        (shadow,) = shadowing.shadowed
        assert re.fullmatch(r"link/geometric@[0-9a-f]{8}", shadow)
        code = plan_code(plain)
        assert plan_code(shadowing) == code
        assert run_tags(shadowing, "", code)["conf.shadowed"] == shadow
        assert shadowing.params == plain.params
        assert run_key(shadowing, code) != run_key(plain, code)
        assert build(compose([*data])).shadowed == ()
        line = "harness: conf/link/geometric.yaml replaces the harness's own link=geometric"
        assert harness(*given).err.splitlines().count(line) == 1
        assert line in harness("prepare", str(project / "set" / "photos"), *MINE[:-1]).err

    def test_a_module_that_is_called_like_the_harness_is_refused(self, project: Path, harness: Harness) -> None:
        """Workers of a sweep or of a search would import it in place of ours."""
        (project / "harness").mkdir()  # a folder of that name alone hides nothing
        build(compose(["face=mine"]))
        write(project, {"harness.py": "import sys"})
        sys.path.remove(str(project))
        told = harness("--cfg", "job", "face=mine"), harness("face=mine")
        assert [each.code for each in told] == [0, 2]
        assert told[1].err.endswith("harness: harness.py: it has the name of the harness itself; call it otherwise\n")

    def test_a_file_that_is_not_yaml_is_told_with_its_line(self, project: Path, harness: Harness) -> None:
        write(project, {"conf/face/mine.yaml": "_target_: my_faces.MyFaces\nheight: [0.1\nthreshold: 1"})
        told = harness("face=mine")
        assert told.code == 2
        assert re.match(r"harness: conf/face/mine.yaml:3: not valid YAML: ", told.err)
        write(project, {"conf/face/mine.yaml": "- a"})
        assert "conf/face/mine.yaml: expected keys and values, got a list" in harness("face=mine").err


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installed distribution that offers a face detector and a format, and must not be imported to be found."""
    site = tmp_path / "site"
    files = {
        "acme_faces/__init__.py": "",
        "acme_faces/detector.py": page_files()["my_faces.py"],
        "acme_faces/labels.py": page_files()["my_format.py"].replace("numbers", "acme"),
        "acme_faces/conf/face/acme.yaml": "_target_: acme_faces.detector.MyFaces\n",
        "acme_faces/conf/face/yunet.yaml": "_target_: acme_faces.detector.MyFaces\n",
        "acme_faces-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: acme-faces\nVersion: 1\n",
        "acme_faces-1.dist-info/entry_points.txt": "[harness.conf]\nacme = acme_faces.conf\n"
        "[harness.formats]\nacme = acme_faces.labels\n",
    }
    write(site, files)
    monkeypatch.syspath_prepend(str(site))
    conf.package_folders.cache_clear()
    yield site
    conf.package_folders.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "acme_faces"]:
        del sys.modules[name]


@pytest.mark.usefixtures("harness")
def test_an_installed_package_adds_choices_and_replaces_none(package: Path) -> None:
    composed = compose(["face=acme", "preset=fast"])
    assert "acme_faces" not in sys.modules
    assert build(composed).photos.pipeline.face.__class__.__module__ == "acme_faces.detector"
    shadowing = compose()
    assert shadowing.face._target_ == "harness.pipeline.faces.yunet.YuNet"
    words = [conf.shadow_words(item) for item in shadowing.shadowed]
    assert words == ["the harness's own face=yunet replaces face=yunet of the package acme"]
    assert "acme" in formats()


@pytest.mark.usefixtures("harness")
def test_an_entry_point_without_a_folder_is_named(package: Path) -> None:
    shutil.rmtree(package / "acme_faces" / "conf")
    assert "the entry point acme of harness.conf names acme_faces.conf" in refused()


BROKEN = {
    "broken.py": "import not_there",
    "raising.py": "raise RuntimeError('no GPU')",
    "odd.py": """
from dataclasses import InitVar, dataclass
class Plain:
    def __init__(self, height): ...
@dataclass(frozen=True)
class Raises:
    def __post_init__(self): raise KeyError('x')
@dataclass(frozen=True)
class Empty: ...
@dataclass
class Changing:
    CHEAP, models = frozenset(), ()
    def load(self): ...
    def detect(self, look): ...
@dataclass(frozen=True)
class Listing:
    sides: list[int]
    CHEAP, models = frozenset(), ()
    def load(self): ...
    def detect(self, look): ...
@dataclass(frozen=True)
class Forgets:
    side: InitVar[int]
    CHEAP, models = frozenset(), ()
    def load(self): ...
    def detect(self, look): ...
def function(): ...
def make(size):
    @dataclass(frozen=True)
    class Made:
        def detect(self, look): return size
    return Made
Small, Large = make(1), make(2)
""",
}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere.Faces", "face: nowhere.Faces: there is no module nowhere; searched: {project}, "),
        ("my_faces.Nope", "face: my_faces.Nope: my_faces has no Nope; it is {project}/my_faces.py"),
        (
            "broken.Faces",
            "face: broken.Faces: importing broken failed: No module named 'not_there'; searched: {project}",
        ),
        ("raising.Faces", "face: raising.Faces: importing raising raised RuntimeError: no GPU; searched: {project}, "),
        ("odd", "face: odd is a module, not a class; it is in {project}/odd.py"),
        ("odd.function", "face: odd.function is a function, not a class; it is in {project}/odd.py"),
        (
            "odd.Plain",
            "face: odd.Plain of {project}/odd.py cannot be checked: it is no dataclass; write @dataclass(frozen=True)",
        ),
        ("odd.Raises", "face: odd.Raises of {project}/odd.py could not be made: KeyError: 'x'"),
        ("odd.Empty", "face: odd.Empty of {project}/odd.py is no face detector: it has no CHEAP, models, load, detect"),
        (
            "odd.Changing",
            "face: odd.Changing of {project}/odd.py can be changed; expected a frozen dataclass",
        ),
        (
            "odd.Listing\nsides: [1]",
            "face: odd.Listing of {project}/odd.py cannot be hashed: unhashable type: 'list'; expected fields that",
        ),
        (
            "odd.Forgets\nside: 1",
            "face: odd.Forgets of {project}/odd.py takes side and does not keep it as a field; keys are made of fields",
        ),
        (
            "odd.Small",
            "face: odd.Small was made by a function: it calls itself odd.make.<locals>.Made, and there is no ",
        ),
        ("__main__.Faces", "face: __main__.Faces: what Python was started with has no key; put it into a module"),
        ("'no name'", "face: 'no name' is no dotted name"),
        ("3", "face._target_: expected the dotted name of a class, got 3"),
        ("null", "conf/face/odd.yaml: face has no _target_; expected the dotted name of a class"),
    ],
)
def test_a_target_that_cannot_be_used_is_told_in_one_sentence(project: Path, target: str, message: str) -> None:
    write(project, {**BROKEN, "conf/face/odd.yaml": f"_target_: {target}\n"})
    assert refused("face=odd").startswith(message.format(project=project))


ODD_FACES = """
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from harness.pipeline.weights import OwnWeights
from harness.types import FaceBox
@dataclass(frozen=True)
class Odd:
    CHEAP: ClassVar = frozenset()
    @property
    def models(self):
        return MODELS
    def load(self):
        LOAD
    def detect(self, look):
        return FACES
"""


def odd_faces(project: Path, *, models: str = "()", load: str = "pass", faces: str = "()") -> None:
    code = ODD_FACES.replace("MODELS", models).replace("LOAD", load).replace("FACES", faces)
    write(project, {"odd_faces.py": code, "conf/face/odd.yaml": "_target_: odd_faces.Odd\n"})


@pytest.mark.usefixtures("harness")
def test_a_file_that_a_linker_names_is_part_of_the_key(
    project: Path, data: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "\n    models = (OwnWeights(Path('geometry.json'), 'mine'),)\n\n    def link("
    code = page_files()["my_links.py"].replace("    def link(", own, 1)
    imports = "from pathlib import Path\nfrom harness.pipeline.weights import OwnWeights\n"
    write(project, {"my_links.py": code.replace("from collections", f"{imports}from collections", 1)})
    keys = set()
    for text in ("{}", "{}", "[1]"):
        monkeypatch.setattr("harness.pipeline.weights._FIRST_SEEN", {})
        write(project, {"geometry.json": text})
        plan = build(compose(data))
        keys.add(run_key(plan, plan_code(plan)))
    assert len(keys) == 2


class TestAnswers:
    """Mistakes of a backend are told in a sentence: before a run begins, or photo by photo."""

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (
                {"models": '(OwnWeights("x.onnx", "MIT"),)'},
                "its models raised TypeError: OwnWeights: path is 'x.onnx'; expected a pathlib.Path (odd_faces.py:12)",
            ),
            (
                {"models": '(OwnWeights(Path("x.onnx"), "MIT"),)'},
                "its models raised FileNotFoundError: [Errno 2] No such file or directory: 'x.onnx'",
            ),
            ({"models": "None"}, "its models raised TypeError: 'NoneType' object is not iterable"),
            ({"models": "1 / 0"}, "its models raised ZeroDivisionError: division by zero (odd_faces.py:12)"),
            (
                {"load": 'raise RuntimeError("no GPU\\nat all")'},
                "load() raised RuntimeError: no GPU (odd_faces.py:14)",
            ),
            ({"load": "raise SystemExit"}, "load() raised SystemExit: without a message (odd_faces.py:14)"),
        ],
    )
    def test_models_that_cannot_be_had_end_the_command_before_a_run_begins(
        self, project: Path, harness: Harness, data: tuple[str, ...], given: dict[str, str], message: str
    ) -> None:
        odd_faces(project, **given)
        told = harness(*data, "face=odd")
        assert told.code == 1
        assert told.err.splitlines()[-1] == f"harness: odd_faces.Odd: {message}"
        assert "Traceback" not in told.err
        assert list_runs(LocalStore(str(project / "mlruns"), "harness").open()) == []

    def test_pixels_fail_their_photos_and_are_no_score_of_zero(
        self, project: Path, harness: Harness, data: tuple[str, ...]
    ) -> None:
        odd_faces(project, faces="[FaceBox(x=10, y=10, w=200, h=200, score=0.9)]")
        told = harness(*data, "face=odd")
        assert told.code == 1
        words = "odd_faces.Odd: faces.0: x 10 and w 200 stick out of the photo; expected a box from 0 to 1"
        assert told.out.count(words) == 3
        assert "INCOMPLETE" in told.out
        (run,) = list_runs(LocalStore(str(project / "mlruns"), "harness").open())
        assert "face/recall" not in run.metrics
        assert run.metrics["count/failed"] == 3

    def test_one_bad_box_fails_its_photo_and_no_other(
        self, project: Path, harness: Harness, data: tuple[str, ...]
    ) -> None:
        first = min(path.stem for path in (project / "set" / "photos").iterdir())
        faces = f'[FaceBox(x=0.1, y=0.1, w=float("nan") if look.photo.sha256 == "{first}" else 0.1, h=0.1, score=1)]'
        odd_faces(project, faces=faces)
        told = harness(*data, "face=odd")
        assert told.code == 1
        assert told.out.count("odd_faces.Odd: faces.0.w: nan; expected a finite number") == 1
        (run,) = list_runs(LocalStore(str(project / "mlruns"), "harness").open())
        assert (run.metrics["count/evaluated"], run.metrics["count/failed"]) == (2, 1)


class TestScorecards:
    def test_one_from_outside_is_scored_gated_and_searched_for_like_ours(
        self, project: Path, harness: Harness, data: tuple[str, ...]
    ) -> None:
        told = harness(*data, "scoring=mine")
        assert told.code == 0, told.err
        assert re.search(r"Photos with somebody in them  \(.*\)\n +with a face +100.0%", told.out)
        assert harness("baseline").code == 0
        second = harness(*data, "scoring.cards=[my_card.score]", "seed=1")
        assert re.search(r"^seen/share .*NO WORSE", second.out, re.MULTILINE)
        newest, _ = list_runs(LocalStore(str(project / "mlruns"), "harness").open())
        assert newest.metrics["seen/share"] == 1.0
        run = load_run(LocalStore(str(project / "mlruns"), "harness").open(), newest.run_id)
        assert run.metadata.thresholds == {"bib_iou": 0.5, "face_iou": 0.5}
        assert "seen/share" in {m for card in build(compose(["scoring=mine"])).photos.declares() for m in card.metrics}

    @pytest.mark.parametrize(
        ("card", "message"),
        [
            ("nowhere.score", "scoring.cards: nowhere.score: there is no module nowhere; searched: "),
            ("my_card.SeenScorecard", "scoring.cards: my_card.SeenScorecard is no function; expected one that takes"),
            ("my_other.taken", "scoring.cards: my_other.taken: there is a scorecard called face already"),
            ("my_other.wrong", "scoring.cards: my_other.wrong returned int; expected one that takes"),
            ("my_other.none", "scoring.cards: my_other.none raised TypeError: none() takes 0"),
        ],
    )
    def test_one_that_cannot_be_used_is_told_in_one_sentence(self, project: Path, card: str, message: str) -> None:
        code = "from harness.scoring import tally_faces\n"
        code += "def taken(labels, found, at): return tally_faces(labels, found, 0.5).items()\n"
        code += "def wrong(labels, found, at): return 3\ndef none(): ...\n"
        write(project, {"my_other.py": code})
        assert refused(f"scoring.cards=[{card}]").startswith(message)


def run_line_that_makes(file: str, folder: Path) -> None:
    """Do what the page says to make a file."""
    (line,) = re.findall(rf"^    (\S.* > {re.escape(file)})", PAGE, re.MULTILINE)
    subprocess.run(["sh", "-c", line], cwd=folder, check=True)


class TestFormats:
    def test_the_one_of_the_page_reads_the_file_of_the_page(
        self, project: Path, harness: Harness, tiny_set: Path
    ) -> None:
        run_line_that_makes("numbers.txt", project)
        shutil.copy(next((tiny_set / "photos").iterdir()), project / "start_0417.jpg")
        told = harness("import", "--format", "numbers", "numbers.txt")
        assert "Imported 1 photo, 1 bib" in told.out, told.err

    def test_one_from_outside_is_imported(self, project: Path, harness: Harness, tiny_set: Path) -> None:
        photos = sorted((tiny_set / "photos").glob("*.jpg"))
        write(project, {"numbers.txt": f"{photos[0].name};417\n{photos[1].name};62\n"})
        arguments = ("--format", "numbers", "numbers.txt", "--photos", str(tiny_set / "photos"))
        told = harness("import", *arguments, "references.root=new")
        assert told.code == 0, told.err
        assert "Imported 2 photos, 2 bibs" in told.out

    @pytest.mark.parametrize(
        ("files", "message"),
        [
            ({"my_format.py": "FORMAT = 1"}, "conf/format/numbers.yaml: my_format has no FORMAT"),
            (
                {"conf/format/numbers.yaml": "_target_: nowhere"},
                "conf/format/numbers.yaml: nowhere: there is no module",
            ),
            ({"conf/format/numbers.yaml": "a: ["}, "conf/format/numbers.yaml:1: not valid YAML"),
            ({"conf/format/numbers.yaml": "a: 1"}, "conf/format/numbers.yaml: expected _target_"),
            (
                {"my_format.py": "from harness.formats import Format\nFORMAT = Format(name='coco', title='x')"},
                "conf/format/numbers.yaml: my_format: there is a format of this name already: coco, ",
            ),
        ],
    )
    def test_one_that_cannot_be_used_is_named(
        self, project: Path, harness: Harness, files: dict[str, str], message: str
    ) -> None:
        write(project, files)
        told = harness("import", "--format", "numbers", "numbers.txt")
        assert told.code == 2
        assert told.err.startswith(f"harness: {message}")


class TestTasks:
    def test_one_from_outside_is_one_more_task_of_the_run(self, project: Path, harness: Harness) -> None:
        run_line_that_makes("words.txt", project)
        told = harness("task=spelling", "references=off")
        assert told.code == 0, told.err
        assert re.search(r"Spelling  \(fewer than five groups.*\)\n +right +50.0%", told.out)
        assert "2 words of words.txt" in told.out

    def test_its_interface_and_its_name_are_checked(self, project: Path) -> None:
        write(project, {**BROKEN, "conf/task/odd.yaml": "_target_: odd.Empty\n"})
        assert refused("task=odd").startswith(
            f"task: odd.Empty of {project}/odd.py is no task: it has no name, declares, data, inputs, thresholds, tags"
        )
        text = page_files()["my_task.py"].replace('name: ClassVar[str] = "spelling"', 'name: ClassVar[str] = "photos"')
        write(project, {"my_task.py": text})
        assert refused("task=spelling") == "task: two tasks of this run are called photos"
