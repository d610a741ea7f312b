"""Judging a run against the baseline, and keeping the judgement: with a new run, with one that is found again, and with
every run on the same data when another baseline is pinned. A judgement on a holdout is counted as a look at it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path

from harness.base.errors import ConfigError
from harness.base.progress import track, warn
from harness.base.texts import counted
from harness.config import gate_of
from harness.report.html import REPORT_FILE
from harness.report.page import judged_anew
from harness.runs.archive import PHOTOS, BenchmarkRun
from harness.runs.comparison import Comparison, code_diff, compare
from harness.runs.gate import CLAIMS, THE_BASELINE, Gate, Judgement, Verdict, delta_name
from harness.runs.judge import judge
from harness.runs.looks import (
    LEVEL,
    SEALED,
    SHOWN,
    Holdout,
    Look,
    is_sealed,
    looking,
    protection,
    read_looks,
    seal,
    was_shown,
    write_looks,
)
from harness.runs.plan import Plan
from harness.runs.records import describe, judgement_key, judgement_tags
from harness.runs.tags import JUDGEMENT_TAG
from harness.runs.verdicts import ranked
from harness.scoring.pairing import ALPHA
from harness.tracking.catalog import (
    Baseline,
    has_artifact,
    load_code,
    load_to_judge,
    read_artifact,
    read_tags,
)
from harness.tracking.entries import RunEntry
from harness.tracking.looks import log_look, stored_looks
from harness.tracking.pages import compare_page
from harness.tracking.runs import amend_run
from harness.tracking.store import OpenStore
from harness.types import Split


@dataclass(frozen=True)
class Judged:
    """A run with its judgement and, where there is a baseline, the comparison with it."""

    run: BenchmarkRun
    judgement: Judgement
    comparison: Comparison | None
    baseline: Baseline
    key_of: Callable[[], str]

    @property
    def key(self) -> str:
        """What the judgement depends on. All code behind it is hashed, which takes a moment, when it is first asked."""
        return self.key_of()

    def sealed(self) -> Judged:
        """The same with nothing but the verdict."""
        told = () if self.judgement.look else (SEALED,)
        judgement = replace(self.judgement, reasons=(*self.judgement.reasons, *told), metrics=())
        return replace(self, run=self.run.without_scores(), judgement=judgement, comparison=None)

    def looked(self, look: str, unprotected: bool) -> Judged:
        """The same that says which look at a holdout it is, and whether what it claims is unprotected."""
        judgement = replace(self.judgement, look=look, unprotected=unprotected)
        comparison = replace(self.comparison, judgement=judgement) if self.comparison else None
        return replace(self, judgement=judgement, comparison=comparison)

    @property
    def look_key(self) -> str:
        """What a look is known by: the judgement, and what came out of it. A run that was forced and came out
        otherwise has the same key, and is another look."""
        gated = [item for item in self.judgement.metrics if item.verdict is not None]
        values = [(item.metric, item.verdict, item.baseline, item.candidate, item.low, item.high) for item in gated]
        return hashlib.sha256(json.dumps([self.key, values]).encode()).hexdigest()

    @property
    def deltas(self) -> dict[str, float]:
        """The gains as metrics."""
        return self.judgement.deltas()

    @cached_property
    def tags(self) -> dict[str, str]:
        """The verdict and what it is about."""
        return judgement_tags(self.judgement, self.key, self.baseline.run_id)

    @property
    def metrics(self) -> dict[str, float]:
        """All metrics of the run in the order in which MLflow is to show them: gains, and what moved, worst first. Its
        compare page begins with the first metric that both runs have."""
        order = [item.metric for item in ranked(self.judgement)]
        deltas, own = self.deltas, self.run.metrics
        gains = {delta_name(metric): deltas[delta_name(metric)] for metric in order}
        return {**gains, **{metric: own[metric] for metric in order if metric in own}, **own}

    def description(self, store: OpenStore, run_id: str) -> str:
        """What MLflow shows first of the run: the verdict, what is newly broken, and a link to both runs."""
        if self.comparison is None or self.baseline.run_id is None:
            return describe(self.run, self.judgement)
        page = compare_page(store.runs_experiment, [run_id, self.baseline.run_id])
        return describe(self.run, self.judgement, self.comparison.base.metadata.name, page, self._changed())

    def _changed(self) -> str:
        """How many photos came out otherwise, where both runs count the same."""
        if self.comparison is None or not self.judgement.metrics or PHOTOS not in self.run.tasks:
            return ""
        broken, fixed = self.comparison.newly_broken(PHOTOS), self.comparison.newly_fixed(PHOTOS)
        return f"{counted(len(broken), 'photo')} newly broken, {len(fixed)} newly fixed."

    def stands(self, run_id: str, tags: Mapping[str, str]) -> bool:
        """Whether the run has been logged with this judgement; that of the baseline is that it is the baseline."""
        pinned = tags.get("verdict") == Verdict.BASELINE
        return pinned if run_id == self.baseline.run_id else not pinned and tags.get(JUDGEMENT_TAG) == self.key


def judge_run(
    gate: Gate, run: BenchmarkRun, baseline: Baseline, seed: int, run_id: str = "", level: float = ALPHA
) -> Judged:
    """Judge a run against the baseline, if there is one and the run is not the baseline itself; what is claimed in its
    favour errs at this level."""
    key = cache(partial(judgement_key, run.metadata.key, gate, baseline.key, seed))
    if run_id and run_id == baseline.run_id:
        return Judged(run, THE_BASELINE, None, baseline, key)
    comparison = compare(gate, run, baseline.run, seed, level_better=level) if baseline.run else None
    judgement = comparison.judgement if comparison else judge(gate, run, None)
    return Judged(run, judgement, comparison, baseline, key)


def judge_shown(gate: Gate, run: BenchmarkRun, baseline: Baseline, seed: int, run_id: str = "") -> Judged:
    """Judge a stored run whose scores everybody can see. On a holdout nothing that is claimed by them is protected."""
    on_holdout = run.metadata.data_split == Split.HOLDOUT
    judged = judge_run(gate, run, baseline, seed, run_id, LEVEL if on_holdout else ALPHA)
    return judged.looked(SHOWN, True) if on_holdout and judged.judgement.verdict in CLAIMS else judged


def judge_plan(plan: Plan, store: OpenStore, run: BenchmarkRun, baseline: Baseline, run_id: str = "") -> Judged:
    """Judge a run that was made as planned. On a holdout that is a look; where the scores are sealed, nothing but the
    verdict goes on from here."""
    holdout = plan.holdout
    level = LEVEL if holdout and holdout.alone else ALPHA
    judged = judge_run(plan.gate, run, baseline, plan.seed, run_id, level)
    if holdout is None:
        return judged
    if plan.sealed:
        if run.complete or not is_sealed(holdout.root, run.metadata.key):  # a baseline may stand there
            seal(holdout.root, run)
    else:
        show_scores(store, holdout)
    if holdout.alone:
        judged = count_look(store, holdout, judged)
    return judged.sealed() if plan.sealed else judged


def count_look(store: OpenStore, holdout: Holdout, judged: Judged) -> Judged:
    """A judgement on a holdout that says which look it is; the look is counted before anything of it is shown.

    What does not compare scores is none: a run that is incomplete, or has nothing to be compared with. One that lacks
    a gated metric is compared in the others, and is said not to have REGRESSED in them.
    """
    if judged.judgement.verdict not in CLAIMS and not judged.judgement.metrics:
        return judged
    key, name = judged.look_key, judged.run.metadata.name
    with looking(holdout.root):
        looks = _all_looks(store, holdout)
        if not any(look.judgement == key for look in looks):
            looks.append(_kept(store, holdout, looks, Look.now(holdout, looks, key, name)))
    worth = protection(looks, holdout, key)
    return judged.looked(worth.words(), not worth.holds)


def compare_stored(
    store: OpenStore, gate: Gate, run: RunEntry, base: RunEntry, seed: int, loaded: BenchmarkRun | None = None
) -> Comparison:
    """Two stored runs side by side; `loaded` is the first, where whoever asks has read it. Where the scores of one of
    them are sealed it is a look, of which nothing but the verdict is shown."""
    kept, against = loaded or load_to_judge(store, run), Baseline(base.run_id, load_to_judge(store, base))
    if wrong := gate.unknown(card.declared for card in kept.cards.values()):
        raise ConfigError(wrong)
    sealed = run.sealed or base.sealed
    judged = judge_run(gate, kept, against, seed, level=LEVEL) if sealed else judge_shown(gate, kept, against, seed)
    assert judged.comparison is not None
    code = code_diff(*(load_code(store, each.run_id) for each in (run, base)))
    judged = replace(judged, comparison=replace(judged.comparison, code=code))
    assert judged.comparison is not None
    if not sealed:
        return judged.comparison
    holdout = Holdout(Path(run.sealed_in or base.sealed_in), frozenset(item.id for item in kept.photos), alone=True)
    counted_in = count_look(store, holdout, judged).comparison
    assert counted_in is not None
    return counted_in.without_scores()


def known_judgement(run: RunEntry) -> Judgement:
    """The judgement that a run was logged with, as far as a list of runs tells it."""
    verdict, _, mark = run.verdict.partition(", ")
    return Judgement(Verdict(verdict or Verdict.NO_BASELINE), look=run.look, unprotected=bool(mark))


def show_scores(store: OpenStore, holdout: Holdout) -> None:
    """Note that the scores of a holdout are about to be shown, which leaves it unprotected, and say so."""
    with looking(holdout.root):
        looks = _all_looks(store, holdout)
        if not was_shown(looks, holdout):
            _kept(store, holdout, looks, Look.now(holdout, looks))
    warn(
        f"the scores of {counted(len(holdout.photos), 'photo')} of the holdout are shown: "
        "no verdict on them is protected any more"
    )


def _all_looks(store: OpenStore, holdout: Holdout) -> list[Look]:
    """Every look that is known, in the file of the reference set or in the store."""
    here = read_looks(holdout.root)
    return here + stored_looks(store, here)


def _kept(store: OpenStore, holdout: Holdout, before: list[Look], look: Look) -> Look:
    write_looks(holdout.root, [*before, look])
    log_look(store, look)
    return look


def log_judgement(store: OpenStore, run_id: str, judged: Judged, shown: Mapping[str, str], files: Path | None) -> None:
    """Put a judgement in the place of the one that a run was logged with."""
    amend_run(store, run_id, judged.deltas, {**judged.tags, **shown}, judged.description(store, run_id), files)


def judge_all(store: OpenStore, runs: Sequence[RunEntry], pinned: RunEntry) -> int:
    """Judge the finished runs on the data of a run that was just pinned; returns how many judgements are new. The
    pinned run itself is then called BASELINE, and the one that it replaces is judged like the others.

    Each is judged by the rules that it was made with. Trials of a search are left alone: their search compares them.
    So are runs on a holdout: each would cost a look, which nobody has asked for.
    The report of a run keeps the judgement that it was written with, and says on top that there is another one.
    """
    baseline = Baseline(pinned.run_id, load_to_judge(store, pinned))
    judged_by_it = [run for run in runs if run.finished and not run.worker and run.same_data(pinned)]
    new = 0
    for entry in track(judged_by_it, "judging"):
        if entry.sealed and entry.run_id != pinned.run_id:
            if entry.verdict == Verdict.BASELINE:
                _no_longer_baseline(store, entry, baseline)
            continue
        run = load_to_judge(store, entry)
        config = read_artifact(store, entry.run_id, "config.yaml").decode()
        judged = judge_shown(gate_of(config), run, baseline, int(run.metadata.config.get("seed", 0)), entry.run_id)
        judged = judged.sealed() if entry.sealed else judged
        if judged.stands(entry.run_id, read_tags(store, entry.run_id)):
            continue
        log_judgement(store, entry.run_id, judged, {}, None)
        if has_artifact(store, entry.run_id, REPORT_FILE):
            page = read_artifact(store, entry.run_id, REPORT_FILE).decode()
            told = judged_anew(page, judged.judgement, pinned.name, pinned.run_id)
            store.client.log_text(entry.run_id, told, REPORT_FILE)
        new += entry.run_id != pinned.run_id
    return new


def _no_longer_baseline(store: OpenStore, entry: RunEntry, baseline: Baseline) -> None:
    """What is said of a run on a holdout that another one replaces: to judge it would be a look."""
    run = load_to_judge(store, entry).without_scores()
    judgement = Judgement(Verdict.NO_BASELINE, ("it was the baseline before; to judge it, run it again",))
    log_judgement(store, entry.run_id, Judged(run, judgement, None, baseline, str), {}, None)
