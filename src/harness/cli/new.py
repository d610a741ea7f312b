"""Start something of your own: write a working module, its YAML and a contract test into the current folder.

KIND is one of bib, face, link, identity, scorecard, format or task. NAME is the name of the module and of
the choice. `ci` writes a workflow for GitHub Actions instead, .github/workflows/NAME.yml, which runs the gate on pull
requests. What is written works as it is: try it, then change it. No file is ever overwritten.
"""

from __future__ import annotations

import argparse
import json
import keyword
import os
import re
import shlex
import sys
import tokenize
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from harness.base import conf
from harness.base.conf import shown_path
from harness.base.errors import ConfigError, HarnessError
from harness.base.texts import COMMAND

NAME = "new"
HELP = "start a backend, scorecard, format, task or CI workflow of your own from a template"

TEMPLATES = Path(__file__).parents[1] / "templates"


@dataclass(frozen=True)
class Kind:
    """One kind of thing that can be started. Its template is the folder of its name, a working module like any other.

    `example` is what the template calls itself, `group` where its YAML belongs. `use` is the command that uses it.
    """

    group: str
    example: str
    use: str


KINDS = {
    "bib": Kind("bib", "my_bibs", "bib={name}"),
    "face": Kind("face", "my_faces", "face={name}"),
    "link": Kind("link", "my_links", "link={name}"),
    "identity": Kind("identity", "my_people", "identity={name}"),
    "scorecard": Kind("scoring", "my_card", "scoring={name}"),
    "format": Kind("format", "my_format", "import --format {name} {name}.csv"),
    "task": Kind("task", "my_task", "references=off task={name}"),
}
#: What is no code of the pipeline but a workflow of the project around it.
CI = "ci"
_CI_TEMPLATE, _WORKFLOWS = TEMPLATES / CI / "my_gate.yml", Path(".github") / "workflows"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("kind", metavar="KIND", choices=(*KINDS, CI), help=f"what to start: {', '.join((*KINDS, CI))}")
    parser.add_argument("name", metavar="NAME", help="what to call it: a name that Python can import, such as my_faces")


def run(arguments: argparse.Namespace) -> int:
    """Write the files, and say what to do with them."""
    if arguments.kind == CI:
        return _new_workflow(arguments.name)
    kind, name = KINDS[arguments.kind], arguments.name
    folder = _conf()
    check_name(arguments.kind, name)
    files = files_of(arguments.kind, name, folder)
    _refuse_taken(files)
    check_free(arguments.kind, name)
    write_all(files)
    go = "" if folder.parent.samefile(Path.cwd()) else f"cd {shlex.quote(shown_path(folder.parent))} && "
    print(f"\nTry it, then change it:\n  {go}{COMMAND} {kind.use.format(name=name)}")
    print(f"  {go}python -m pytest test_{name}.py")
    if find_spec("pytest") is None:
        print("pytest is not installed here: pip install pytest")
    return 0


def _new_workflow(name: str) -> int:
    """Write the workflow of the gate, and say what to set in it."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name):
        raise ConfigError(f"{name}: expected a name of letters, digits, - and _, such as gate")
    file = Path.cwd() / _WORKFLOWS / f"{name}.yml"
    files = {file: _CI_TEMPLATE.read_bytes().replace(b"my_gate", name.encode())}
    _refuse_taken(files)
    write_all(files)
    print("\nSet under `env` what is run and on which photos, then commit the file. It judges the next pull request.")
    return 0


def _refuse_taken(files: dict[Path, bytes]) -> None:
    taken = [path for path in files if path.exists()]
    if taken:
        raise HarnessError(f"{shown_path(taken[0])}: exists already, and is left as it is; nothing was written")


def files_of(kind: str, name: str, conf_folder: Path) -> dict[Path, bytes]:
    """The files of a template under the name that the user gives it, and where each belongs."""
    example, group = KINDS[kind].example, KINDS[kind].group
    words = {example: name, class_name(example): class_name(name), '"conf"': json.dumps(conf_folder.name)}
    placeholder = re.compile("|".join(words))
    files = {}
    for template in _templates(kind):
        folder = conf_folder / group if template.suffix == ".yaml" else conf_folder.parent
        content = template.read_bytes()
        if template.suffix != ".jpg":
            content = placeholder.sub(lambda found: words[found[0]], content.decode()).encode()
        files[folder / template.name.replace(example, name)] = content
    return files


def _templates(kind: str) -> list[Path]:
    """The files of a template; whatever Python or pytest have left beside them is none."""
    return sorted((TEMPLATES / kind).glob(f"*{KINDS[kind].example}.*"))


def class_name(name: str) -> str:
    """`my_faces` -> `MyFaces`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def check_name(kind: str, name: str) -> None:
    """Refuse a name that cannot be a module, a class and a choice on the command line."""
    words = {"true", "false", "null", "none", "yes", "no", "on", "off", "nan", "inf"}
    usable = name.isascii() and name.isidentifier() and name[0].isalpha()
    if not usable or keyword.iskeyword(name) or name.lower() in words:
        raise ConfigError(
            f"{name}: not a name that Python can import; expected letters, digits and _, such as {KINDS[kind].example}"
        )
    if name.startswith("test_"):
        raise ConfigError(f"{name}: pytest would take it for a test; choose a name that does not begin with test_")
    if class_name(name) in _words_in_code(kind):
        raise ConfigError(f"{name}: its class would be {class_name(name)}, a name that the code uses; choose another")


def _words_in_code(kind: str) -> set[str]:
    """Every name in the Python files of a template."""
    words = set()
    for template in _templates(kind):
        if template.suffix == ".py":
            with tokenize.open(template) as file:
                words |= {token.string for token in tokenize.generate_tokens(file.readline)}
    return words - {class_name(KINDS[kind].example)}


def check_free(kind: str, name: str) -> None:
    """Refuse a name that hides a module, or that is taken by the harness, by a package or by the user."""
    choices = _choices(kind)
    if name in choices:
        raise ConfigError(f"{name}: there is a {kind} of this name already; choose one other than {', '.join(choices)}")
    if name in sys.stdlib_module_names or name in sys.builtin_module_names or find_spec(name) is not None:
        raise ConfigError(f"{name}: there is a Python module of this name, which yours would hide; choose another")


def _choices(kind: str) -> list[str]:
    """The names that are taken, beside those of files: a scorecard's and a task's stand in metrics, too."""
    from harness.cli.help import config_groups
    from harness.formats import formats
    from harness.tasks.photos.scores import declared

    names = set(config_groups().get(KINDS[kind].group, ()))
    if kind == "format":
        names |= set(formats())
    if kind in ("scorecard", "task"):
        names |= {metric.partition("/")[0] for card in declared() for metric in card.metrics}
        names |= {"photos", "tables", "table", "confidence"}
    return sorted(names)


def write_all(files: dict[Path, bytes]) -> None:
    """Write every file and name it, or none: where one cannot be written, those before it go again."""
    made: list[Path] = []
    try:
        for path, content in files.items():
            made += _make_folder(path.parent)
            with path.open("xb") as file:
                made.append(path)
                file.write(content)
    except OSError as error:
        for each in reversed(made):
            each.rmdir() if each.is_dir() else each.unlink()
        raise HarnessError(f"{shown_path(path)}: cannot be written: {error.strerror}; nothing was written") from error
    print("\n".join(f"wrote {shown_path(path)}" for path in files))


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder and those above it; returns those that were not there."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()][::-1]
    for each in missing:
        each.mkdir()
    return missing


def _conf() -> Path:
    """The user's conf folder, which need not be there yet: the one that is named, else the one of this folder."""
    folder = Path(os.environ.get(conf.VARIABLE) or conf.DEFAULT).absolute()
    if folder.exists() and folder.samefile(conf.conf_dir()):
        own = f"{folder}: this is the harness's own; go to a folder of your own, or name one by --config-dir"
        raise ConfigError(own)
    return folder
