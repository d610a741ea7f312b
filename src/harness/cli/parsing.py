"""The arguments of a command: what is wrong with them is told in one sentence that names what was meant."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NoReturn

from harness.base import conf
from harness.base.errors import ConfigError
from harness.base.texts import meant

_REQUIRED = re.compile(r"the following arguments are required: (.*)")
_UNKNOWN = re.compile(r"unrecognized arguments: (.*)")
_CHOICE = re.compile(r"argument (?P<name>.+?): invalid choice: '?(?P<given>.*?)'? \(choose from (?P<known>.*)\)")
_NO_VALUE = re.compile(r"argument (?P<name>.+?): expected (one argument|at least one argument)")
_NO_NUMBER = re.compile(r"argument (?P<name>.+?): invalid (?P<kind>int|float) value: '(?P<given>.*)'")
_OPTIONAL = re.compile(r"\[.*?\]")
_OVERRIDE = re.compile(r"[+~]*[\w.@/]+=")


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are ConfigErrors, as any other mistake in what was typed."""

    def parse_command(self, words: Sequence[str]) -> argparse.Namespace:
        """Parse the words after the command. A misspelled option is told before what is missing."""
        options = set(self._option_string_actions)
        for word in words:
            if word == "--":
                break
            if word.startswith("--") and word.partition("=")[0] not in options:
                self.error(f"unrecognized arguments: {word}")
        return self.parse_intermixed_args(words)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, what was probably meant, and where the rest is told."""
        raise ConfigError(f"{self._told(message)} ({self.prog} --help tells more)")

    def _told(self, message: str) -> str:
        command = self.prog.removeprefix("harness ")
        if found := _REQUIRED.fullmatch(message):
            return f"{command}: {'; '.join(self._missing(name) for name in found[1].split(', '))}"
        if found := _UNKNOWN.fullmatch(message):
            return f"{command}: {self._unknown(found[1].split()[0])}"
        if found := _CHOICE.fullmatch(message):
            known = [name.strip("' ") for name in found["known"].split(",")]
            listed = ", ".join(known)
            return (
                f"{command}: {found['name']} {found['given']}: expected one of {listed}{meant(found['given'], known)}"
            )
        if found := _NO_VALUE.fullmatch(message):
            return f"{command}: {found['name']} needs a value: {self._help(found['name'])}"
        if found := _NO_NUMBER.fullmatch(message):
            kind = "a whole number" if found["kind"] == "int" else "a number"
            return f"{command}: {found['name']} {found['given']}: expected {kind}"
        return f"{command}: {message.removeprefix('argument ')}"

    def _unknown(self, word: str) -> str:
        """An option that is not there: perhaps an override with two strokes before it, or a misspelled one."""
        if override := conf.override_meant(word):
            return f"{word}: no such option; did you mean {override}?"
        options = sorted({action.option_strings[-1] for action in self._actions if action.option_strings})
        others = [option for option in options if option != "--help"]
        known = f"; there are {', '.join(others)}" if others else "; this command has none"
        near = meant(word, options) or known
        return f"{word}: no such option{near}"

    def _help(self, name: str) -> str:
        named = (each for each in self._actions if name == "/".join(each.option_strings))
        return next((str(each.help) % vars(each) for each in named), "")

    def _missing(self, name: str) -> str:
        """An argument that has to be there, with what its help says about it."""
        for action in self._actions:
            if name in (action.metavar, action.dest, "/".join(action.option_strings)):
                unsaid = [str(each) for each in action.choices or () if str(each) not in str(action.help)]
                choices = f" ({', '.join(map(str, action.choices or ()))})" if unsaid else ""
                return f"{_OPTIONAL.sub('', name).strip()} is missing: {action.help}{choices}"
        return f"{name} is missing"


#: What people type who know other programs.
_SAID_OTHERWISE = {
    "run": "a run has no command; type harness and what it overrides, as in harness preset=fast",
    "help": "no such command; harness --help lists all commands, and harness COMMAND --help explains one",
    "version": "no such command; did you mean harness --version?",
    "init": "no such command; harness start FOLDER begins with a folder of photos",
    "label": "no such command; harness ui opens the labelling pages",
    "runs": "no such command; did you mean list?",
    "diff": "no such command; did you mean compare?",
    "sweep": "no such command; a sweep is harness -m preset=fast,best",
}


def no_such_command(word: str, commands: Collection[str]) -> str:
    """A word that is no command: perhaps a misspelled one, a group without a choice, or a choice without its group."""
    if word in _SAID_OTHERWISE:
        return f"{word}: {_SAID_OTHERWISE[word]}"
    if Path(word).is_dir():
        return f"{word}: no such command; for the photos of that folder: harness start {word}"
    if word in conf.groups():
        return f"{word}: expected {word}=CHOICE; {word} is one of: {', '.join(conf.choices(word))}"
    groups = [group for group in sorted(conf.groups()) if word in conf.choices(group)]
    choice = f"; did you mean {groups[0]}={word}?" if groups else ""
    return f"{word}: no such command{meant(word, commands) or choice}"


def is_override(word: str) -> bool:
    """Whether a word is an override, and no path or name of a run."""
    return bool(_OVERRIDE.match(word))


def _after_override(before: str, word: str) -> str:
    """A word after an override that is no command: the rest of a value with blanks, or something of its own."""
    return (
        f"{word}: no such command (harness --help lists them all); if it belongs to the value before it, a value with "
        f"blanks is quoted twice: '{before.partition('=')[0]}=\"{before.partition('=')[2]} {word}\"'"
    )


def command_first(arguments: Sequence[str], commands: Collection[str]) -> list[str]:
    """The arguments with the command before its overrides, as in `tracking.root=x list`. A word after overrides alone
    is taken for one, too: it is no override."""
    if (sign := next((place for place, word in enumerate(arguments[1:], 1) if word.startswith("=")), 0)) > 0:
        told = " ".join(arguments[sign - 1 : sign + 2])
        raise ConfigError(f"{told}: an override has no blanks around its =, as in preset=fast")
    for place, word in enumerate(arguments):
        if word in commands:
            return [word, *arguments[:place], *arguments[place + 1 :]]
        if word.replace("_", "").isalnum():
            near = meant(word, commands)
            if place and not near and word not in _SAID_OTHERWISE:
                raise ConfigError(_after_override(arguments[place - 1], word))
            return [word, *arguments[:place], *arguments[place + 1 :]]
        if not is_override(word):
            break
    return list(arguments)
