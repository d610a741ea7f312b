"""Two runs side by side in words: for a terminal, for a pull request, and for programs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from harness.runs.archive import PHOTOS, BenchmarkRun
from harness.runs.comparison import Change, Comparison, ItemChange
from harness.runs.verdicts import markdown_judgement, text_judgement

#: The changes of one item.
Changed = tuple[ItemChange, ...]
#: More items than this are counted, not listed, where people read them.
LISTED = 20
_TITLES = {Change.BROKEN: "Newly broken", Change.MIXED: "Better and worse", Change.FIXED: "Newly fixed"}


def text_comparison(comparison: Comparison, run_id: str, base_id: str) -> str:
    """For a terminal."""
    lines = [f"run   {_title(comparison.run, run_id)}", f"base  {_title(comparison.base, base_id)}", ""]
    lines += [text_judgement(comparison.judgement), "", "Config"]
    lines += [f"  {each}" for each in _config_lines(comparison)] or ["  no difference"]
    for kind, photos in comparison.by_item().items():
        width = max(len(changes[0].name) for changes in photos)
        lines += ["", f"{_TITLES[kind]} ({_photos(photos)})"]
        lines += [f"  {changes[0].name:<{width}}  {_words(changes)}" for changes in photos[:LISTED]]
        lines += [f"  {each}" for each in _more(photos)]
    lines += ["", _totals(comparison)]
    return "\n".join(lines).rstrip()


def markdown_comparison(comparison: Comparison, run_id: str, base_id: str) -> str:
    """For a comment on a pull request: the verdict and its table open, the rest folded."""
    where = " and ".join(f"`{task.data}` ({task.counted()})" for task in comparison.run.tasks.values())
    parts = [
        f"### harness: {comparison.judgement.verdict}",
        f"{_code(_title(comparison.run, run_id))} beside {_code(_title(comparison.base, base_id))} on {where}",
        markdown_judgement(comparison.judgement),
        _totals(comparison),
    ]
    for kind, photos in comparison.by_item().items():
        rows = [f"| {_cell(changes[0].name)} | {_cell(_words(changes))} |" for changes in photos[:LISTED]]
        table = "\n".join(["| photo | what happened |", "| --- | --- |", *rows])
        parts.append(_folded(f"{_TITLES[kind]}: {_photos(photos)}", "\n\n".join([table, *_more(photos)])))
    if config := list(_config_lines(comparison)):
        parts.append(_folded("Config", "\n".join(["```", *config, "```"])))
    return "\n\n".join(filter(None, parts))


def comparison_dict(comparison: Comparison, run_id: str, base_id: str) -> dict[str, Any]:
    """For programs: everything, and every photo."""
    return {
        "run": _about(comparison.run, run_id),
        "base": _about(comparison.base, base_id),
        "verdict": str(comparison.judgement.verdict),
        "reasons": list(comparison.judgement.reasons),
        "metrics": [asdict(item) for item in comparison.judgement.metrics],
        "photos": [_change(item) | {"sha256": item.id} for item in comparison.items if item.task == PHOTOS],
        "items": [_change(item) for item in comparison.items if item.task != PHOTOS],
        "totals": {name: {"lost": lost, "found": found} for name, (_, lost, found) in comparison.totals().items()},
        "config": [asdict(change) for change in comparison.config],
    }


def _change(item: ItemChange) -> dict[str, Any]:
    return asdict(item) | {"change": str(item.change), "words": item.words()}


def _title(run: BenchmarkRun, run_id: str) -> str:
    commit = run.metadata.git_commit
    code = f", code {commit[:10]}" if commit and " " not in commit else ""
    return f"{run_id[:8]}  {run.metadata.name}{code}"


def _about(run: BenchmarkRun, run_id: str) -> dict[str, Any]:
    data = run.metadata
    facts = {"name": data.name, "note": data.note, "timestamp": data.timestamp, "git_commit": data.git_commit}
    return {"run_id": run_id, **facts, "data": [data.data_name, data.data_split, data.data_digest]}


def _config_lines(comparison: Comparison) -> Iterable[str]:
    width = max((len(change.key) for change in comparison.config), default=0)
    for change in comparison.config:
        before, after = ("(none)" if value is None else value for value in (change.before, change.after))
        yield f"{change.key:<{width}}  {before} -> {after}"


def _photos(items: Sequence[Changed]) -> str:
    noun = "photo" if all(changes[0].task == PHOTOS for changes in items) else "item"
    return f"1 {noun}" if len(items) == 1 else f"{len(items)} {noun}s"


def _words(changes: Changed) -> str:
    return "; ".join(change.words() for change in changes)


def _more(photos: Sequence[Changed]) -> list[str]:
    return [f"... and {len(photos) - LISTED} more (--json has all)"] if len(photos) > LISTED else []


def _totals(comparison: Comparison) -> str:
    """`faces: 12 lost, 0 found; ...`, of the scorecards in which anything moved."""
    moved = [(noun, lost, found) for noun, lost, found in comparison.totals().values() if lost or found]
    return "; ".join(f"{noun}s: {lost} lost, {found} found" for noun, lost, found in moved)


def _code(text: str) -> str:
    return f"`{text.replace('`', chr(39))}`"


def _cell(text: str) -> str:
    """Text that breaks out of no Markdown table and makes no markup of its own."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ").replace("`", "'")


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"
