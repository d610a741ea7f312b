"""The pages of docs/reference/, made of what the program itself says: config files, argument parsers, docstrings.

python -m bench.reference writes them; a test fails where they are not what would be written.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import harness
from harness.base.comments import FileMeaning, meanings_of, read_meanings
from harness.base.conf import conf_dir, groups
from harness.base.texts import markdown_table
from harness.cli import COMMANDS
from harness.cli.parsing import CommandParser

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference"
_MADE = "*Made from {source} by `scripts/docs --reference`; change those, not this page.*"
_CALL = "python -m harness"
_EXAMPLE = re.compile(r"^(>>>|\.\.\.)")


def pages() -> dict[str, str]:
    """The pages by the names of their files."""
    return {"config.md": config_page(), "commands.md": commands_page(), "api.md": api_page()}


def config_page() -> str:
    """Every key of every config file, with its value and what its comment says."""
    top = read_meanings((conf_dir() / "config.yaml").read_text())
    own = FileMeaning("", top.keys, {key: each for key, each in top.values.items() if not _of_hydra(key)})
    parts = [
        "# Every key of the configuration",
        _MADE.format(source="the comments of the files in `conf/`"),
        "[Configuration](../config.md) says how to choose and override. Here is what can be set: `harness KEY=VALUE`.",
        "## The run itself",
        _keys(own, ""),
    ]
    for group in sorted(groups()):
        parts.append(f"## {group}")
        for choice, meaning in sorted(meanings_of(group).items()):
            parts += [f"### {group}={choice}", _about(meaning), _keys(meaning, f"{group}.")]
    return _page(parts)


def _of_hydra(key: str) -> bool:
    return key.split(".")[0] in ("hydra", "defaults", "sweep_id")


def _about(meaning: FileMeaning) -> str:
    """What a file says of itself; commands in it, each between three blanks, are blocks of their own."""
    pieces = [piece.strip() for piece in re.split(r" {3,}", meaning.about)]
    said = [
        piece.replace(_CALL, "    harness", 1) if piece.startswith(_CALL) else _sentence(piece)
        for piece in pieces
        if piece
    ]
    return "\n\n".join(said)


def _keys(meaning: FileMeaning, prefix: str) -> str:
    """The keys of a file that hold a value; a preset's keys are those of the groups."""
    values = {key: value for key, value in meaning.values.items() if value and not key.endswith("_target_")}
    prefix = "" if prefix == "preset." else prefix
    # A list, since the columns of a table break keys in the middle of a word on a narrow screen.
    told = ((f"`{prefix}{key}={_plain(value)}`", _sentence(_meaning(meaning, key))) for key, value in values.items())
    return "\n".join(f"- {': '.join(filter(None, each))}" for each in told)


def _meaning(meaning: FileMeaning, key: str) -> str:
    """What a key means by its own comment, or by that of what it is a part of."""
    while key:
        if key in meaning.keys:
            return meaning.keys[key]
        key = key.rpartition(".")[0]
    return ""


def _plain(value: str) -> str:
    return value.replace("`", "'") if len(value) <= 60 else f"{value[:57].replace('`', chr(39))}..."


def _sentence(text: str) -> str:
    text = text.strip().replace("<", "&lt;").replace(" ... ", "; ")
    text = text[:1].upper() + text[1:]
    return text if not text or text.endswith((".", ":", ")")) else f"{text}."


def commands_page() -> str:
    """Every command with its usage, arguments and options, as `--help` tells them."""
    parts = [
        "# Every command and option",
        _MADE.format(source="the commands' own help"),
        "[Commands](../commands.md) explains them with examples. `harness COMMAND --help` prints the same.",
        markdown_table(
            ["command", "what it does"],
            [(f"[`{each.NAME}`](#harness-{each.NAME})", _sentence(each.HELP)) for each in COMMANDS],
        ),
    ]
    for command in COMMANDS:
        parser = CommandParser(prog=f"harness {command.NAME}", description=command.__doc__, allow_abbrev=False)
        command.configure(parser)
        parts += [f"## harness {command.NAME}", inspect.cleandoc(command.__doc__ or ""), _arguments(parser)]
    return _page(parts)


def _arguments(parser: argparse.ArgumentParser) -> str:
    shown = [each for each in parser._actions if not isinstance(each, argparse._HelpAction)]
    rows = [(f"`{_name(each)}`", _sentence(_help(each))) for each in shown if each.help != argparse.SUPPRESS]
    return markdown_table(["argument", "meaning"], rows) if rows else "It takes no arguments."


def _name(action: argparse.Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    if action.option_strings:
        return ", ".join(action.option_strings) + ("" if action.nargs == 0 else f" {metavar}")
    return f"[{metavar} ...]" if action.nargs == "*" else f"[{metavar}]" if action.nargs == "?" else metavar


def _help(action: argparse.Action) -> str:
    told = (action.help or "") % {"default": action.default, "choices": action.choices, "prog": "harness"}
    listed = f" (one of {', '.join(map(str, action.choices))})" if action.choices and "%(choices)" not in told else ""
    return told if not listed or all(str(each) in told for each in action.choices or ()) else told + listed


def api_page() -> str:
    """The public functions and results in full, and a line for each name of the modules for code of one's own."""
    functions = [name for name in harness.__all__ if inspect.isfunction(getattr(harness, name))]
    results = [name for name in harness.__all__ if inspect.isclass(getattr(harness, name))]
    parts = [
        "# Every public name of the API",
        _MADE.format(source="the docstrings"),
        "[From Python](../api.md) begins with examples, and says what stays as it is between versions.",
        "## Functions",
    ]
    for name in functions:
        parts += [f"### harness.{name}", _signature(getattr(harness, name)), _described(getattr(harness, name))]
    parts.append("## Results")
    for name in results:
        parts += [f"### harness.{name}", _described(getattr(harness, name)), _members(getattr(harness, name))]
    for module in public_modules():
        parts += [f"## harness.{_short(module)}", _first(module), _names(module)]
    return _page(parts)


def public_modules() -> list[ModuleType]:
    """The modules that docs/api.md promises."""
    listed = re.findall(r"^\| `(harness\.[\w.]+)` \|", (ROOT / "docs" / "api.md").read_text(), re.MULTILINE)
    return [importlib.import_module(name) for name in listed]


def _short(module: ModuleType) -> str:
    return module.__name__.removeprefix("harness.")


def _names(module: ModuleType) -> str:
    named = getattr(module, "__all__", None)
    if named is None:
        own = {name: each for name, each in vars(module).items() if getattr(each, "__module__", "") == module.__name__}
        named = [name for name in own if not name.startswith("_")]
    described = {name: getattr(module, name) for name in named}
    rows = [(f"`{name}`", _first(each)) for name, each in described.items() if callable(each) and each.__doc__]
    return markdown_table(["name", "what it is"], rows)


def _members(result: type) -> str:
    rows = []
    for name, each in vars(result).items():
        if not name.startswith("_") and (isinstance(each, property) or inspect.isfunction(each)):
            rows.append((f"`{name}{'()' if inspect.isfunction(each) else ''}`", _first(each)))
    return markdown_table(["member", "what it is"], rows) if rows else ""


def _signature(function: Callable[..., Any]) -> str:
    """A function's signature, an argument a line."""
    signature = inspect.signature(function)
    lines = [f"    {each}," for each in _parameters(signature)]
    back = signature.return_annotation
    return "\n".join(["```python", f"harness.{function.__name__}(", *lines, f") -> {back}", "```"])


def _parameters(signature: inspect.Signature) -> Iterable[str]:
    before = None
    for each in signature.parameters.values():
        if each.kind is each.KEYWORD_ONLY and before not in (each.KEYWORD_ONLY, each.VAR_POSITIONAL):
            yield "*"
        before = each.kind
        stars = "*" if each.kind is each.VAR_POSITIONAL else ""
        default = "" if each.default is each.empty else f" = {each.default!r}"
        yield f"{stars}{each.name}: {each.annotation}{default}"


def _first(thing: Any) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(inspect.cleandoc(thing.__doc__ or "").split("\n\n")[0].split()).replace("<", "&lt;")


def _described(thing: Any) -> str:
    """A docstring as Markdown: its examples are blocks of code."""
    lines, inside = list[str](), False
    for line in inspect.cleandoc(thing.__doc__ or "").splitlines():
        example = bool(_EXAMPLE.match(line.strip())) or (inside and bool(line.strip()))
        if example != inside:
            lines += ["```python"] if example else ["```"]
        inside = example
        lines.append(inspect.cleandoc(line) if example else line)
    return "\n".join([*lines, "```"] if inside else lines)


def _page(parts: Iterable[str]) -> str:
    return "\n\n".join(part.strip("\n") for part in parts if part.strip()) + "\n"


def main() -> None:
    """Write the pages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text)
        print(f"docs/reference/{name}")


if __name__ == "__main__":
    main()
