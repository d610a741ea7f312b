"""Two runs side by side in words: for a terminal, for a pull request, and for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any

from harness.base.screen import ENDLESS, Screen
from harness.base.texts import counted
from harness.report.bars import bars, sign
from harness.runs.archive import PHOTOS, BenchmarkRun
from harness.runs.comparison import Changed, CodeChange, Comparison, ItemChange
from harness.runs.gate import Judgement
from harness.runs.verdicts import TONES, markdown_judgement, notes, reasons, text_judgement, unseen
from harness.scoring.pairing import JUDGE_VERSION

#: More items than this are counted, not listed, where people read them.
LISTED = 20


def text_comparison(comparison: Comparison, run_id: str, base_id: str, screen: Screen = ENDLESS) -> str:
    """For a terminal: the verdict, a picture of the change, and what differs; no line is wider than the screen."""
    lines = [f"run   {_title(comparison.run, run_id)}", f"base  {_title(comparison.base, base_id)}"]
    lines = [*map(screen.clip, lines), "", *shown_judgement(comparison.judgement, screen), "", "Config"]
    lines += [screen.clip(f"  {each}") for each in _config_lines(comparison)] or ["  no difference"]
    lines += ["", "Code", *(screen.clip(f"  {each}") for each in code_lines(comparison))]
    for title, items in changes_by_title(comparison):
        width = max(len(changes[0].name) for changes in items[:LISTED])
        lines += ["", f"{title} ({_counted(comparison, items)})"]
        lines += [screen.clip(f"  {changes[0].name:<{width}}  {_words(changes)}") for changes in items[:LISTED]]
        lines += [f"  {each}" for each in _more(items)]
    lines += ["", *screen.wrapped(_totals(comparison))]
    return "\n".join(lines).rstrip()


def shown_judgement(judgement: Judgement, screen: Screen = ENDLESS) -> list[str]:
    """A judgement on a screen: a picture of the change where it has a width, and the table of figures where it has
    none, as in a pipe."""
    if screen.width is None:
        return text_judgement(judgement).splitlines()
    tone = TONES[judgement.verdict][0]
    said = f"Verdict: {sign(judgement.verdict, screen)} {judgement.said}"
    told = [line for reason in reasons(judgement) for line in screen.wrapped(f"  {reason}", "    ")]
    drawn = bars(judgement, screen)
    explained = [line for note in notes(judgement) for line in screen.wrapped(note, "  ")]
    lines = [screen.paint(said, tone), *told]
    lines += ["", *drawn] if drawn else []
    return [*lines, "", *explained] if explained else lines


def changes_by_title(comparison: Comparison) -> list[tuple[str, tuple[Changed, ...]]]:
    """The items that are newly broken and those that are newly fixed, each under its title; without empty ones."""
    kinds = [("Newly broken", comparison.newly_broken()), ("Newly fixed", comparison.newly_fixed())]
    return [(title, items) for title, items in kinds if items]


def markdown_comparison(comparison: Comparison, run_id: str, base_id: str) -> str:
    """For a comment on a pull request: the verdict and its table open, the rest folded."""
    where = " and ".join(f"`{task.data}` ({task.counted()})" for task in comparison.run.tasks.values())
    parts = [
        f"### harness: {comparison.judgement.said}",
        f"{_code(_title(comparison.run, run_id))} beside {_code(_title(comparison.base, base_id))} on {where}",
        markdown_judgement(comparison.judgement),
        _totals(comparison),
    ]
    for title, items in changes_by_title(comparison):
        rows = [f"| {_cell(changes[0].name)} | {_cell(_words(changes))} |" for changes in items[:LISTED]]
        table = "\n".join(["| photo | what happened |", "| --- | --- |", *rows])
        parts.append(_folded(f"{title}: {_counted(comparison, items)}", "\n\n".join([table, *_more(items)])))
    if config := list(_config_lines(comparison)):
        parts.append(_folded("Config", "\n".join(["```", *config, "```"])))
    if comparison.code:
        parts.append(_folded("Code", "\n".join(["```", *code_lines(comparison), "```"])))
    return "\n\n".join(filter(None, parts))


def comparison_dict(comparison: Comparison, run_id: str, base_id: str) -> dict[str, Any]:
    """For programs: everything, and every photo."""
    return {
        "run": _about(comparison.run, run_id),
        "base": _about(comparison.base, base_id),
        "verdict": str(comparison.judgement.verdict),
        "judge_version": JUDGE_VERSION,
        "reasons": list(comparison.judgement.reasons),
        "look": comparison.judgement.look,
        "unprotected": comparison.judgement.unprotected,
        "unseen": unseen(comparison.judgement),
        "metrics": [asdict(item) for item in comparison.judgement.metrics],
        "photos": [_change(item) | {"sha256": item.id} for item in comparison.items if item.task == PHOTOS],
        "items": [_change(item) for item in comparison.items if item.task != PHOTOS],
        "newly_broken": _ids(comparison.newly_broken()),
        "newly_fixed": _ids(comparison.newly_fixed()),
        "totals": {name: {"lost": lost, "found": found} for name, (_, lost, found) in comparison.totals().items()},
        "config": [asdict(change) for change in comparison.config],
        "code": None if comparison.code is None else [asdict(change) for change in comparison.code],
    }


def _ids(items: Sequence[Changed]) -> list[dict[str, str]]:
    return [{"task": changes[0].task, "id": changes[0].id, "name": changes[0].name} for changes in items]


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
    rows = list(_config_rows(comparison))
    width = max((len(key) for key, _, _ in rows), default=0)
    for key, before, after in rows:
        yield f"{key:<{width}}  {before} -> {after}"


def _config_rows(comparison: Comparison) -> Iterable[tuple[str, str, str]]:
    """Key, value before and value after. A group that one of the runs does not have at all, such as the pipeline of a
    run on a file of predictions, is one row."""
    for group, each in groupby(comparison.config, key=lambda change: change.key.partition(".")[0]):
        changes = list(each)
        settings = f"({len(changes)} settings)"
        if len(changes) > 1 and not _has_group(comparison.run, group):
            yield group, settings, "(none)"
        elif len(changes) > 1 and not _has_group(comparison.base, group):
            yield group, "(none)", settings
        else:
            for change in changes:
                before, after = ("(none)" if value is None else value for value in (change.before, change.after))
                yield change.key, before, after


def _has_group(run: BenchmarkRun, group: str) -> bool:
    return any(key.partition(".")[0] == group for key in run.metadata.config)


def code_lines(comparison: Comparison) -> list[str]:
    """Which code differs, as in `helper changed` and `numpy 2.4.1 -> 2.4.2`. The harness's own modules are one line."""
    if comparison.code is None:
        return ["not known: a run of an older version did not record it"]
    ours = [each for each in comparison.code if each.kind == "module" and each.name.partition(".")[0] == "harness"]
    others = [each for each in comparison.code if each not in ours]
    changed = [_code_words(each) for each in others if each.before and each.after]
    lines = [*changed[:LISTED], *([f"... and {len(changed) - LISTED} more (--json has all)"] * (len(changed) > LISTED))]
    for where, absent in (("run", "before"), ("base", "after")):
        if alone := [_code_words(each) for each in others if getattr(each, absent) is None]:
            lines.append(f"only in the {where}: {_some(alone)}")
    if ours:
        lines.append(f"the harness itself: {counted(len(ours), 'module')} ({_some([each.name for each in ours])})")
    return lines or ["no difference"]


def _code_words(change: CodeChange) -> str:
    if change.kind == "module":
        return f"{change.name} changed" if change.before and change.after else change.name
    return f"{change.name} {' -> '.join(filter(None, (change.before, change.after)))}"


def _some(names: Sequence[str], shown: int = 5) -> str:
    return ", ".join(names[:shown]) + (f" and {len(names) - shown} more" if len(names) > shown else "")


def _counted(comparison: Comparison, items: Sequence[Changed]) -> str:
    """`12 photos, 3 people`: the items of each task apart, so that photos are counted as in the report."""
    counts = Counter(changes[0].task for changes in items)
    return ", ".join(
        counted(count, comparison.run.tasks[task].noun) for task, count in sorted(counts.items(), reverse=True)
    )


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
