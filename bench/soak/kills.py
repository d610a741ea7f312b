"""Runs and sweeps that are killed at random moments, by SIGKILL and by SIGTERM, and what is left after each death.

After every one the next command must leave no run that is RUNNING without a process. At the end every configuration is
run to its end on what the dead have left: its scores must be those of a run that nobody disturbed, and so must those of
every other run that FINISHED. Temporary folders, locks and files beside the databases must not pile up.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.soak.children import Child, harness, import_everything, wait_until
from bench.soak.desk import Desk, make_desk

#: Another threshold is another run on the same answers of the slow stage, and finds other faces.
THRESHOLDS = ("0.5", "0.886", "0.8863", "0.8867")
_SECONDS_A_PHOTO = 0.05
#: The share of the kills that come after a run has begun; the others may come while it starts.
_BEGUN = 0.7
#: The least share of the kills that has to meet a run that had begun, where there are not few of them.
_LEAST_MET, _FEW = 0.25, 5


@dataclass
class Soak:
    """The desk, what came of each death, and what was wrong."""

    desk: Desk
    rng: random.Random
    thresholds: Sequence[str]
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def call(self, *arguments: str, name: str = "said.txt") -> Child:
        """`harness ...` in a fork."""
        return harness(self.desk.folder, self.desk.folder / name, arguments, self.desk.variables)

    def kill_one(self, number: int, sent: signal.Signals, longest: float) -> None:
        """Start a run or a sweep, send it a signal at a random moment, and look at what the next command leaves."""
        chosen = self.rng.choice(self.thresholds)
        several = f"{chosen},{self.rng.choice(self.thresholds)}"
        swept = self.rng.random() < 0.4
        what = ("-m", f"face.threshold={several}") if swept else (f"face.threshold={chosen}",)
        slow = (f"face.seconds={_SECONDS_A_PHOTO}", "force=true", f"face.salt={number // 4}")
        child = self.call(*what, *self.desk.overrides, *slow)
        if self.rng.random() < _BEGUN:
            wait_until(lambda: child.ended() or "RUNNING" in self.desk.statuses(overviews=False).values())
            longest /= 2
        time.sleep(self.rng.uniform(0, longest))
        child.send(sent)
        code = child.wait()
        self.counts[f"{sent.name}: exit {code}"] += 1
        if code not in (0, -sent, 128 + sent) or (sent == signal.SIGKILL and code > 0):
            self.wrong.append(f"kill {number}: {sent.name} ended it with {code}: {child.output[-300:]}")
        before, word, traceback = child.output.partition("Traceback")
        dropped = "Exception ignored" in before[-300:] and "EndedError" in traceback
        self.counts["dropped at first"] += dropped  # raised while Python collected garbage, and once more later
        if word and not (dropped and code == 128 + sent):
            self.wrong.append(f"kill {number}: exit {code}: {before[-300:]}{word}{traceback[:1500]}")
        self.counts["left RUNNING"] += "RUNNING" in self.desk.statuses().values()
        if (listed := self.call("list")).wait() and self.desk.statuses():
            self.wrong.append(f"kill {number}: list failed: {listed.output[-300:]}")
        if "RUNNING" in (found := self.desk.statuses(overviews=False)).values():
            zombies = [run_id for run_id, status in found.items() if status == "RUNNING"]
            self.wrong.append(f"kill {number}: still RUNNING after the next command: {zombies}")


def calm_scores(desk: Desk, thresholds: Sequence[str]) -> tuple[dict[str, Any], float]:
    """The scores of each configuration where nobody disturbs it, and how long the last one takes: the first makes the
    store, which takes several times as long."""
    started = 0.0
    for threshold in thresholds:
        started = time.monotonic()
        variables = {**desk.variables, "HARNESS_CACHE": str(desk.folder / "calm-cache")}
        arguments = (*desk.overrides, f"face.threshold={threshold}", "tracking.root=calm")
        child = harness(desk.folder, desk.folder / "calm.txt", arguments, variables)
        if child.wait():
            raise AssertionError(child.output)
    return scores_by_threshold(desk, "calm"), time.monotonic() - started


def scores_by_threshold(desk: Desk, mlruns: str) -> dict[str, Any]:
    """The scores of every finished run; those of one threshold have to be the same, or a text says that they differ."""
    query = (
        "SELECT r.run_uuid, p.value FROM runs r JOIN params p ON p.run_uuid = r.run_uuid "
        "WHERE r.status = 'FINISHED' AND p.key = 'face.threshold'"
    )
    found: dict[str, Any] = {}
    for run_id, threshold in desk.rows(query, mlruns):
        scores = desk.scores(run_id, mlruns)
        if found.setdefault(threshold, scores) != scores:
            found[threshold] = f"runs differ, {run_id} among them"
    return found


def leftovers(folder: Path) -> dict[str, int]:
    """What may pile up: temporary files and folders, locks, half-written files, and the bytes beside the databases."""
    paths = list(folder.rglob("*"))
    return {
        "temporary": len(list((folder / "tmp").iterdir())),
        "locks": sum(path.name.endswith("lock") for path in paths),
        "half written": sum(
            path.name.endswith(".new") or path.name.startswith((".keeping", ".logged")) for path in paths
        ),
        "wal bytes": sum(path.stat().st_size for path in paths if path.name.endswith("-wal")),
    }


def soak_kills(folder: Path, kills: int, seed: int) -> list[str]:
    """Kill so often by each signal; returns what was wrong."""
    import_everything()
    (folder / "tmp").mkdir(parents=True)
    made = make_desk(folder, photos=12)
    desk = Desk(made.folder, {"TMPDIR": str(folder / "tmp"), "HYDRA_FULL_ERROR": "1"})
    thresholds = THRESHOLDS[: max(2, kills)]
    calm, seconds = calm_scores(desk, thresholds)
    if len({str(scores) for scores in calm.values()}) < 2:
        return ["the configurations come to the same, so that a wrong number would not be seen"]
    soak = Soak(desk, random.Random(seed), thresholds)
    longest = seconds + 12 * _SECONDS_A_PHOTO
    # Killed while they make the store, runs would never come to their beginning; one of them makes it undisturbed.
    if (first := soak.call(*desk.overrides, f"face.threshold={thresholds[0]}")).wait():
        return [f"the first run failed: {first.output[-300:]}"]
    signals = [signal.SIGKILL, signal.SIGTERM] * kills
    soak.rng.shuffle(signals)
    for number, sent in enumerate(signals):
        soak.kill_one(number, sent, longest)
    for threshold in thresholds:
        child = soak.call(*desk.overrides, f"face.threshold={threshold}", "force=true")
        if child.wait():
            soak.wrong.append(f"the last run failed: {child.output[-300:]}")
    if "RUNNING" in desk.statuses().values():  # `list` looks at no overview of a sweep; the next run does
        soak.wrong.append("an overview of a sweep is still RUNNING after the last run")
    if scores_by_threshold(desk, "mlruns") != calm:
        soak.wrong.append("a run that finished has other scores than one that nobody disturbed")
    met = Counter(desk.statuses().values())["KILLED"]
    if kills >= _FEW and met < len(signals) * _LEAST_MET:
        soak.wrong.append(f"only {met} of {len(signals)} kills met a run that had begun")
    left = leftovers(folder)
    if left["temporary"] or left["half written"] or left["locks"] > 8 or left["wal bytes"] > 16_000_000:
        soak.wrong.append(f"something piles up: {left}")
    print(f"{len(signals)} kills of runs of {longest:.1f} s: {dict(soak.counts)}; statuses: "
          f"{dict(Counter(desk.statuses().values()))}; left: {left}", flush=True)  # fmt: skip
    return soak.wrong
