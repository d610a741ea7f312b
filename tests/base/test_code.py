"""The digest of code changes with everything that can change an answer, and with nothing else."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from importlib.metadata import packages_distributions
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness.base import distributions, loaded, parsed
from harness.base.code import Code, code_of, modules_of
from harness.base.errors import StaleCodeError
from harness.base.imports import imports_in
from harness.base.parsed import ParsedSources
from harness.building import build_pipeline
from harness.config import compose

#: A user's folder: a backend, what it imports in each way that Python has, and what it does not.
FOLDER = {
    "eyes.py": """
from typing import TYPE_CHECKING
import json
import helper
from parts.lens import focus
from parts import iris
if TYPE_CHECKING:
    import hints
else:
    import otherwise
def see():
    import late
    from importlib import import_module
    import_module("by_name")
    __import__("dunder")
    import dist_a
""",
    "helper.py": "import deeper",
    "deeper.py": "",
    "otherwise.py": "",
    "hints.py": "",
    "late.py": "",
    "by_name.py": "",
    "dunder.py": "",
    "unrelated.py": "",
    "parts/__init__.py": "from . import eager\ndef api():\n    import parts.lazy",
    "parts/eager.py": "",
    "parts/lazy.py": "",
    "parts/lens.py": "from .glass import clear\nfrom ..parts import rim",
    "parts/glass.py": "",
    "parts/iris.py": "from . import *",
    "parts/rim.py": "",
    "chooser.py": "from importlib import import_module\ndef choose(name):\n    return import_module(name)",
}


@dataclass
class Place:
    """A folder of modules and a folder of installed distributions, both importable."""

    folder: Path
    site: Path

    def digest(self, *modules: str) -> str:
        """The digest as a new process would see it."""
        distributions._installed.cache_clear()
        loaded._FIRST_SEEN.clear()
        return code_of(*modules).digest

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def install(
        self, name: str, version: str, modules: dict[str, str], requires: str = "", editable: bool = False
    ) -> None:
        """What pip leaves behind. Modules of an editable install stay where they are."""
        for old in self.site.glob(f"{name}-*.dist-info"):
            for kept in old.iterdir():
                kept.unlink()
            old.rmdir()
        info = self.site / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}\n")
        for file, text in modules.items():
            (self.folder if editable else self.site).joinpath(file).parent.mkdir(parents=True, exist_ok=True)
            (self.folder if editable else self.site).joinpath(file).write_text(text)
        recorded = [] if editable else list(modules)
        (info / "RECORD").write_text("".join(f"{file},sha256=x,1\n" for file in [*recorded, f"{info.name}/METADATA"]))
        if editable:
            (info / "direct_url.json").write_text(json.dumps({"url": "file:///", "dir_info": {"editable": True}}))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    made = Place(tmp_path / "mine", tmp_path / "site")
    for name, text in FOLDER.items():
        made.write(name, text)
    made.install(
        "dist-a", "1.0", {"dist_a/__init__.py": "def f():\n    import dist_b", "dist_a/tests/test.py": "import dist_t"}
    )
    made.install("dist-b", "1.0", {"dist_b.py": ""}, "Requires-Dist: dist-c>=1\nRequires-Dist: dist-x; extra == 'more'")
    for name in ("dist-c", "dist-t", "dist-x", "dist-z"):
        made.install(name, "1.0", {f"{name.replace('-', '_')}.py": ""})
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loaded, "_FIRST_SEEN", {})
    monkeypatch.syspath_prepend(str(made.site))
    monkeypatch.syspath_prepend(str(made.folder))
    yield made
    distributions._installed.cache_clear()


IMPORTED = ("eyes.py", "helper.py", "deeper.py", "otherwise.py", "late.py", "by_name.py", "dunder.py")
IN_PACKAGE = ("parts/__init__.py", "parts/eager.py", "parts/lens.py", "parts/glass.py", "parts/iris.py", "parts/rim.py")


@pytest.mark.parametrize("name", [*IMPORTED, *IN_PACKAGE])
def test_a_changed_source_changes_the_digest_however_it_is_imported(place: Place, name: str) -> None:
    before = place.digest("eyes")
    assert place.digest("eyes") == before, "the same code has the same digest"
    place.write(name, FOLDER[name] + "\nchanged = 1\n")
    assert place.digest("eyes") != before


@pytest.mark.parametrize("name", ["unrelated.py", "hints.py", "chooser.py"])
def test_what_is_never_run_does_not_change_it(place: Place, name: str) -> None:
    before = place.digest("eyes")
    place.write(name, "changed = 1")
    assert place.digest("eyes") == before


def test_what_a_package_imports_late_counts_where_the_package_itself_is_imported(place: Place) -> None:
    by_way_of, by_name = place.digest("parts.glass"), place.digest("parts")
    place.write("parts/lazy.py", "changed = 1")
    assert place.digest("parts.glass") == by_way_of
    assert place.digest("parts") != by_name


def test_a_module_that_computes_what_it_imports_stands_for_all_beside_it(place: Place) -> None:
    before = place.digest("chooser")
    place.write("unrelated.py", "changed = 1")
    assert place.digest("chooser") != before


#: Ways to import that no plain statement tells: what the backend says, and which file it uses then.
INDIRECT = {
    "all of a package": ("from more import *", "more/part.py"),
    "another name for the function": ("from importlib import import_module as load\nload('more.part')", "more/part.py"),
    "the function as a value": ("import importlib\nlist(map(importlib.import_module, NAMES))", "more/part.py"),
    "a keyword": ("import importlib\nimportlib.import_module(name='more.part')", "more/part.py"),
    "a name below": ("import importlib\nimportlib.import_module(NAME)", "more/part.py"),
    "a name that begins": ("import importlib\nimportlib.import_module(f'more.{NAME}')", "more/part.py"),
    "a name that is put together": ("import importlib\nimportlib.import_module('more.' + NAME)", "more/part.py"),
    "a name that is formatted": ("import importlib\nimportlib.import_module('more.{}'.format(NAME))", "more/part.py"),
    "a name from a package": ("import importlib\nimportlib.import_module('.part', package='more')", "more/part.py"),
    "a list of names": ("__import__('more', fromlist=['part'])", "more/part.py"),
    "a list of modules": ("import pkgutil, more\nfor m in pkgutil.iter_modules(more.__path__): m", "more/part.py"),
    "a path": ("from importlib import util\nutil.spec_from_file_location('x', 'more/part.py')", "more/part.py"),
    "a script": ("import runpy\nrunpy.run_path('unrelated.py')", "unrelated.py"),
    "a text": ("exec(open('unrelated.py').read())", "unrelated.py"),
    "by way of a package that is used, too": ("import parts.glass\nparts.api()", "parts/lazy.py"),
    "a registry that knows its package": ("import deep.core.registry", "deep/plugins/first.py"),
    "a registry that does not": ("import deep.core.chooser", "deep/plugins/first.py"),
    "relative to a package": ("import deep.names", "deep/plugins/first.py"),
}


@pytest.mark.parametrize("way", INDIRECT)
def test_what_is_imported_indirectly_counts(place: Place, way: str) -> None:
    text, used = INDIRECT[way]
    more = {
        "eyes.py": text,
        "more/__init__.py": "__all__ = ['part']",
        "more/part.py": "",
        "deep/core/registry.py": "import importlib\ndef get(n): return importlib.import_module(f'deep.plugins.{n}')",
        "deep/core/chooser.py": "import importlib\ndef get(n): return importlib.import_module(n)",
        "deep/names.py": "import importlib\ndef get(n): return importlib.import_module(f'.plugins.{n}', __package__)",
        "deep/plugins/first.py": "",
    }
    for name, content in more.items():
        place.write(name, content)
    before = place.digest("eyes")
    place.write(used, "changed = 1")
    assert place.digest("eyes") != before


def test_of_a_folder_only_what_can_be_imported_from_it_counts(place: Place) -> None:
    place.write("env/pyvenv.cfg", "")
    (place.folder / "round").symlink_to(place.folder, target_is_directory=True)
    before = place.digest("chooser")
    for name in ("test_eyes.py", "tests/eyes.py", "env/lib.py", "no-name.py", ".hidden/part.py", "conftest.py"):
        place.write(name, "changed = 1")
    assert place.digest("chooser") == before


def test_folders_without_init_files_may_stand_in_each_other(place: Place) -> None:
    place.write("eyes.py", "from wide.open.space import far")
    place.write("wide/open/space.py", "from . import land")
    place.write("wide/open/land.py", "")
    assert {"wide.open.space", "wide.open.land"} < set(code_of("eyes").sources)


def test_a_module_that_appears_changes_it(place: Place) -> None:
    place.write("helper.py", "try:\n    import optional\nexcept ImportError:\n    optional = None")
    before = place.digest("eyes")
    place.write("optional.py", "")
    assert place.digest("eyes") != before


@pytest.mark.parametrize("name", ["dist-a", "dist-b", "dist-c"])
def test_another_version_changes_it_whether_imported_by_us_by_them_or_required(place: Place, name: str) -> None:
    before = place.digest("eyes")
    module = f"{name.replace('-', '_')}.py"
    kept = {"dist-a": {"dist_a/__init__.py": "import dist_b"}, "dist-b": {module: ""}, "dist-c": {module: ""}}[name]
    place.install(name, "1.1", kept, "Requires-Dist: dist-c" if name == "dist-b" else "")
    assert place.digest("eyes") != before


@pytest.mark.parametrize("name", ["dist-t", "dist-x", "dist-z"])
def test_distributions_that_only_tests_or_extras_or_nobody_uses_do_not(place: Place, name: str) -> None:
    before = place.digest("eyes")
    place.install(name, "1.1", {f"{name.replace('-', '_')}.py": ""})
    assert place.digest("eyes") == before


def test_the_content_of_an_editable_install_counts_and_not_its_version(place: Place) -> None:
    place.write("eyes.py", "import grown")
    place.install("grown", "1.0", {"grown.py": "size = 1"}, editable=True)
    before = place.digest("eyes")
    place.install("grown", "2.0", {"grown.py": "size = 1"}, editable=True)
    assert place.digest("eyes") == before
    place.write("grown.py", "size = 2")
    assert place.digest("eyes") != before


@pytest.mark.parametrize("editable", [True, False])
def test_what_a_build_leaves_in_a_source_folder_installs_nothing(place: Place, editable: bool) -> None:
    """setuptools writes `grown.egg-info` beside the sources, also for an editable install."""
    place.write("eyes.py", "import grown")
    place.write("grown.egg-info/PKG-INFO", "Metadata-Version: 2.1\nName: grown\nVersion: 1.0\n")
    place.write("grown.egg-info/top_level.txt", "grown\n")
    place.write("grown.py", "size = 1")
    if editable:
        place.install("grown", "1.0", {}, editable=True)
    before = place.digest("eyes")
    place.write("grown.py", "size = 2")
    assert place.digest("eyes") != before


@pytest.mark.parametrize("name", ["site-packages", "dist-packages"])
def test_a_distribution_without_a_record_among_installed_ones_counts_by_its_version(
    place: Place, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("eyes.py", "import grown")
    place.write(f"{name}/grown-1.0.egg-info/PKG-INFO", "Metadata-Version: 2.1\nName: grown\nVersion: 1.0\n")
    place.write(f"{name}/grown-1.0.egg-info/top_level.txt", "grown\n")
    place.write(f"{name}/grown.py", "")
    monkeypatch.syspath_prepend(str(place.folder / name))
    distributions._installed.cache_clear()
    assert code_of("eyes").distributions["grown"] == "1.0"


def test_a_distribution_that_was_installed_from_a_folder_again_counts_by_its_content(place: Place) -> None:
    """The version of what somebody is working on seldom changes."""

    def install(size: int) -> str:
        place.install("grown", "1.0", {"grown.py": f"size = {size}"})
        info = place.site / "grown-1.0.dist-info"
        (info / "direct_url.json").write_text(json.dumps({"url": "file:///grown", "dir_info": {}}))
        (info / "RECORD").write_text(
            f"grown.py,sha256={size},8\n__pycache__/grown.pyc,,\n../bin/grown,sha256={size},1\n"
        )
        return place.digest("eyes")

    place.write("eyes.py", "import grown")
    before = install(1)
    assert install(1) == before
    assert install(2) != before
    assert code_of("eyes").distributions["grown"].startswith("1.0 (")


def test_a_module_of_the_user_that_is_called_like_an_installed_one_is_hashed(place: Place) -> None:
    place.write("dist_a.py", "")
    found = code_of("eyes")
    assert "dist_a" in found.sources
    assert "dist-a" not in found.distributions


def test_a_module_beside_installed_ones_that_nobody_installed_is_hashed(place: Place) -> None:
    place.write("eyes.py", "import stray")
    (place.site / "stray.py").write_text("")
    before = place.digest("eyes")
    (place.site / "stray.py").write_text("changed = 1")
    assert place.digest("eyes") != before


def test_what_was_found_out_about_distributions_is_kept_and_never_trusted_when_damaged(
    place: Place, tmp_path: Path
) -> None:
    before = place.digest("eyes")
    kept = sorted((tmp_path / "cache" / "imports").iterdir())
    assert [path.name.rsplit("-", 1)[0] for path in kept] == ["dist-a-1.0", "dist-b-1.0", "dist-c-1.0"]
    kept[0].write_text(kept[0].read_text().replace('"dist_b"', '"dist_z"'))
    kept[1].write_bytes(b"\xff" * 9)
    kept[2].unlink()
    assert place.digest("eyes") == before


def test_a_file_that_changes_under_a_running_process_is_an_error(place: Place) -> None:
    code_of("eyes")
    place.write("deeper.py", "changed = 1")
    with pytest.raises(StaleCodeError, match=r"deeper\.py: has changed since this process loaded it"):
        code_of("eyes")


LOADED_BEFORE = """
SIZE = 1
class Eye:
    side: int = 1
    @property
    def size(self): return 1
    def see(self, scale=1): return 1
"""


@pytest.fixture
def early(place: Place) -> Iterator[ModuleType]:
    """A module that somebody has imported before any key was made of it."""
    place.write("early.py", LOADED_BEFORE)
    yield importlib.import_module("early")
    del sys.modules["early"]


IN_LOADED = ("SIZE = 1", "side: int = 1", "size(self): return 1", "scale=1): return 1")


@pytest.mark.parametrize(
    ("before", "kept"),
    [*((each, False) for each in IN_LOADED), *((each, True) for each in IN_LOADED), ("see(self, scale=1)", True)],
)
def test_a_file_that_was_edited_between_its_import_and_the_first_key_is_an_error(
    place: Place, before: str, kept: bool, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Python keeps what it has compiled, or it does not. Defaults of functions are told by what it keeps alone."""
    monkeypatch.setattr(sys, "dont_write_bytecode", not kept)
    assert request.getfixturevalue("early").SIZE == 1
    place.write("early.py", LOADED_BEFORE.replace(before, before.replace("1", "2")))
    os.utime(place.folder / "early.py", (1e9, 1e9))
    with pytest.raises(StaleCodeError, match=r"early\.py: has changed since this process loaded it"):
        code_of("early")


def test_what_python_has_kept_of_another_source_of_the_same_time_and_size_is_an_error(place: Place) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for number in ("1", "2"):
        place.write("early.py", LOADED_BEFORE.replace("return 1", f"return {number}"))
        os.utime(place.folder / "early.py", (1e9, 1e9))
        if number == "1":
            subprocess.run([sys.executable, "-c", "import early"], cwd=place.folder, env=environment, check=True)
    code_of("early")
    importlib.import_module("early")
    with pytest.raises(StaleCodeError):
        code_of("early")
    del sys.modules["early"]


def test_values_that_a_module_changes_itself_are_no_edit(place: Place) -> None:
    change = "def f():\n    global LATE\n    LATE = 3\nCOUNT += 1\nA.n += 1\nf()"
    place.write("early.py", f"COUNT = 0\nLATE = None\nclass A:\n    n = 0\n{change}")
    module = importlib.import_module("early")
    assert (module.COUNT, module.LATE, module.A.n) == (1, 3, 1)
    assert set(code_of("early").sources) == {"early"}
    del sys.modules["early"]


def test_a_module_that_was_touched_is_what_was_loaded(place: Place, early: ModuleType) -> None:
    os.utime(place.folder / "early.py", (1e9, 1e9))
    assert set(code_of("early").sources) == {early.__name__}


def test_a_module_of_the_same_name_beside_another_conf_folder_is_an_error(
    place: Place, early: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other" / "conf").mkdir(parents=True)
    monkeypatch.setenv("HARNESS_CONF", str(tmp_path / "other" / "conf"))
    assert set(code_of("early").sources) == {early.__name__}
    (tmp_path / "other" / "early.py").write_text(LOADED_BEFORE)
    with pytest.raises(StaleCodeError, match=r"loaded it as early, and not .*other/early\.py; restart the process"):
        code_of("early")


def test_the_records_of_a_run_can_tell_the_users_code_from_ours(place: Place) -> None:
    place.write("eyes.py", "import harness.types")
    found = code_of("eyes")
    assert set(found.outside) == {"eyes"}
    assert {"harness", "harness.types"} <= set(found.sources)


@dataclass(frozen=True)
class Part:
    """A value in a field."""


@dataclass(frozen=True)
class Whole:
    """Something with values in its fields."""

    part: Any = Part()
    many: tuple[Any, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)


def _function() -> None:
    """A function."""


@pytest.mark.parametrize(
    "value", [Whole(), Whole, Whole(part=1, many=(Path(),)), Whole(named={"a": json.JSONDecoder}), (_function,)]
)
def test_the_modules_of_an_object_are_those_of_all_it_holds(value: Any) -> None:
    found = modules_of(value)
    assert __name__ in found
    assert "builtins" not in found
    inside = value if isinstance(value, Whole) else Whole()
    assert ("json.decoder" in found) == bool(inside.named)
    assert any(name.startswith("pathlib") for name in found) == bool(inside.many)


MODULES = (
    "harness.tasks.photos.task",
    "harness.tasks.tables.task",
    "harness.tasks.confidence.task",
    "harness.pipeline.faces.yunet",
    "harness.pipeline.bibs.rapidocr",
)
#: Prints what is loaded when `{then}` has run and was not when it began.
LOADED = """
import sys, json
{first}
before = set(sys.modules)
{then}
print(json.dumps({{n: getattr(sys.modules[n], "__file__", None) for n in set(sys.modules) - before}}))
"""
PREDICT = """
import numpy
from dataclasses import dataclass
from harness.building import build_pipeline
from harness.config import compose
from harness.pipeline.looks import Look
@dataclass
class Grey:
    sha256: str = ""
    image: object = None
pipeline = build_pipeline(compose(["preset=fast", "bib.near_faces=false", "bib.guided=false"]))
"""


@pytest.mark.parametrize("module", MODULES)
def test_nothing_that_python_loads_when_it_imports_a_module_is_missing(module: str) -> None:
    assert missing(code_of(module), LOADED.format(first="", then=f"import {module}")) == set()


@pytest.mark.slow
def test_nothing_that_python_loads_while_the_pipeline_works_is_missing() -> None:
    then = "pipeline.load(); pipeline.predict(Look(Grey(image=numpy.full((96, 96, 3), 90, 'uint8'))))"
    pipeline = build_pipeline(compose(["preset=fast"]))
    assert missing(code_of(*modules_of(pipeline)), LOADED.format(first=PREDICT, then=then)) == set()


def missing(known: Code, script: str) -> set[str]:
    """An independent oracle: of what Python says it has loaded, the sources and distributions that a digest lacks."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name: file for name, file in json.loads(done.stdout.splitlines()[-1]).items() if file}
    assert loaded
    ours = {file for name, file in loaded.items() if name.partition(".")[0] == "harness"}
    others = {name.partition(".")[0] for name in loaded} - {"harness"} - sys.stdlib_module_names
    owners = packages_distributions()
    lacking = {
        top for top in others if not {distributions._normal(o) for o in owners.get(top, [])} & set(known.distributions)
    }
    return ours - {str(path) for path in known.files.values()} | {top for top in lacking if owners.get(top)}


def test_distributions_say_of_themselves_what_the_standard_library_reads() -> None:
    found = list(metadata.distributions())
    assert len(found) > 50
    for item in found:
        said = distributions.describe(item)
        assert said == (item.metadata["Name"], item.version, tuple(item.requires or ())), item


def test_what_was_parsed_is_kept_for_the_next_process_and_never_trusted_when_damaged(tmp_path: Path) -> None:
    content, path = b"import json\nfrom . import beside\n", tmp_path / "sources.json"
    first = ParsedSources(path)
    found = first.imports("a", content)
    assert found == imports_in(content)
    first.save()
    assert ParsedSources(path).imports("a", b"never looked at") == found
    path.write_text(path.read_text().replace("json", "yaml"))
    assert ParsedSources(path).imports("a", b"import os") == imports_in(b"import os")


def test_imports_that_another_parser_has_found_are_found_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sources.json"
    first = ParsedSources(path)
    first.imports("a", b"import json")
    first.save()
    monkeypatch.setattr(parsed, "_parser", lambda: "3.99 another")
    assert ParsedSources(path).imports("a", b"import os") == imports_in(b"import os")


def test_of_sources_that_were_parsed_no_more_than_a_number_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sources.json"
    monkeypatch.setattr(parsed, "_MOST", 3)
    for name in "abcd":
        one = ParsedSources(path)
        one.imports(name, b"import json")
        one.save()
    assert list(json.loads(path.read_text().partition("\n")[2])["sources"]) == ["d", "c", "b"]
