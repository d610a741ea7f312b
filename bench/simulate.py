"""What the rules of docs/statistics.md do on made-up runs of which the truth is known: `scripts/simulate`.

Photos come in groups; what happens to the targets of one group is correlated (a beta distribution of the group's own
chance, so that any two targets of a group have the correlation that is asked for). A cell is one choice of all
parameters, simulated many times at once:

- intervals: how often they cover the true rate, how wide they are, and the same for the percentile bootstrap that was
  used before, whose code is kept here alone;
- the verdict between two equally good runs (false alarms), after a true loss (power), and after a true loss of exactly
  the margin (how often it is called NO WORSE, wrongly). Equally good are two runs that could change places: both find
  what a third one does, but for a churn of their own. Less than that is asked of a run that is made of the other by a
  churn: it is as good on average, but what is lost and what is found again are not spread alike.

With cut ties some targets share their luck with another group than that of their photo, as a runner in the background
does where merging the two groups was refused. `tests/scoring/test_simulation.py` holds a part of this to the limits.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from harness.base.texts import markdown_table
from harness.scoring.average_precision import ApPhoto, average_precision, jackknife_precision
from harness.scoring.boxes import Bools, Floats
from harness.scoring.cards import Sides
from harness.scoring.pairing import judge_together, paired_rates
from harness.scoring.uncertainty import F1, SHARE, Interval, rate_intervals

SEED = 20260116
RATES, SIZES, PHOTOS = (0.8, 0.95, 0.98), (1, 4, 10), (16, 60, 240)
CORRELATIONS, CHURN_CORRELATIONS, CHURNS = (0.0, 0.2, 0.5), (0.0, 0.5, 0.8), (0.01, 0.03, 0.1)
MARGIN = 0.05
#: Targets of a photo beyond the first, on average; as many on all runs of a cell.
MORE_TARGETS = 1.0
#: The share of the targets that the baseline finds.
FOUND = 0.9
#: How many false ones it has for each target.
INVENTED = 0.05
#: The share of targets beyond a photo's first that belong to another group, where ties are cut.
SHARED = 0.1
#: Rates that the simulated gate judges together.
TOGETHER = ("face/recall", "face/f1", "number/f1", "number/precision", "number/recall")
FEWEST_GROUPS = 5
#: Photos whose average precision stands for that of all that there could be.
TRUE_PHOTOS = 20_000


@dataclass(frozen=True)
class Cell:
    """Photos in groups of a size. A share `shared` of the targets beyond a photo's first belong to another group, as a
    runner in the background does: these ties are cut. `told` is the size of the groups that the rules know of, where
    they know smaller ones than there are."""

    photos: int
    size: int
    correlation: float
    shared: float = 0.0
    told: int | None = None

    @property
    def names(self) -> list[str]:
        """The groups as the rules are told."""
        told = self.told or self.size
        return [f"{place // self.size}-{place % self.size // told}" for place in range(self.photos)]

    def seed(self, *more: float) -> list[int]:
        """Another one for each cell."""
        values = (self.photos, self.size, self.correlation, self.shared, self.told or 0, *more)
        return [SEED, *(round(1000 * value) for value in values)]


class Targets:
    """The targets of the photos of a cell, the same in all its draws."""

    def __init__(self, cell: Cell, random: np.random.Generator) -> None:
        count = 1 + random.poisson(MORE_TARGETS, cell.photos)
        self._starts = np.cumsum(count) - count
        photo = np.repeat(np.arange(cell.photos), count)
        self._owner, self._groups = photo // cell.size, (cell.photos - 1) // cell.size + 1
        strangers = (random.random(len(photo)) < cell.shared) & ~np.isin(np.arange(len(photo)), self._starts)
        self._owner[strangers] = random.integers(self._groups, size=int(strangers.sum()))
        self._spread = (1 - cell.correlation) / cell.correlation if cell.correlation else 0.0
        self._random = random
        self.by_photo = count

    def happen(self, chance: Floats | float, draws: int, alone: bool = False) -> Bools:
        """Whether something happens to each target, one row a draw. Targets of one group share their luck, unless each
        is `alone`."""
        chances = np.broadcast_to(np.asarray(chance, float).reshape(-1, 1), (draws, self._groups))
        if self._spread and not alone:
            inside = (chances > 0) & (chances < 1)
            a, b = (np.where(inside, part, 0.5) * self._spread for part in (chances, 1 - chances))
            chances = np.where(inside, self._random.beta(a, b), chances)
        happened: Bools = self._random.random((draws, len(self._owner))) < chances[:, self._owner]
        return happened

    def summed(self, what: Bools) -> Floats:
        """How often it happened on each photo."""
        return np.add.reduceat(what.astype(float), self._starts, axis=1)


def interval_cells(shared: float = 0.0) -> Iterator[Cell]:
    """The cells with at least five groups."""
    for photos in PHOTOS:
        for size in SIZES:
            for correlation in CORRELATIONS:
                if photos // size >= FEWEST_GROUPS:
                    yield Cell(photos, size, correlation, shared)


def shares(targets: Targets, rate: float, draws: int) -> tuple[Floats, Floats]:
    """What is right and what there is, one row a draw and one column a photo."""
    right = targets.summed(targets.happen(rate, draws))
    return right, np.broadcast_to(targets.by_photo.astype(float), right.shape)


def f1s(targets: Targets, rate: float, draws: int) -> tuple[Floats, Floats]:
    """The same for an F1 of numbers: half of the errors are misread, which is a miss and a false one at once."""
    right = targets.happen(1 - (1 - rate) / (1 - rate / 4), draws)
    misread = ~right & targets.happen(0.5, draws, alone=True)
    above = targets.summed(right)
    return above, above + targets.summed(misread) + targets.summed(~right & ~misread) / 2


@dataclass(frozen=True)
class Coverage:
    """How often intervals cover the truth, and how wide they are; beside them those of Clopper and Pearson."""

    covered: float
    width: float
    plain_width: float
    bootstrap_covered: float = math.nan


def coverage(cell: Cell, rate: float, draws: int, *, f1: bool = False, bootstrap: int = 0) -> Coverage:
    """Simulate a cell; `bootstrap` is how many of the draws the percentile bootstrap is tried on as well."""
    random = np.random.default_rng(cell.seed(rate, f1))
    above, below = (f1s if f1 else shares)(Targets(cell, random), rate, draws)
    floors = dict.fromkeys(map(str, range(draws)), F1 if f1 else SHARE)
    rates = {str(draw): (above[draw], below[draw]) for draw in range(draws)}
    found = list(rate_intervals(rates, cell.names, floors).values())
    plain = [_plain(above[draw].sum(), below[draw].sum()) for draw in range(draws)]
    old = [bootstrap_interval(above[draw], below[draw], random) for draw in range(bootstrap)]
    return Coverage(
        covered=_covered(found, rate),
        width=float(np.mean([each.high - each.low for each in found])),
        plain_width=float(np.mean([each.high - each.low for each in plain])),
        bootstrap_covered=_covered(old, rate) if old else math.nan,
    )


def precision_cells() -> Iterator[Cell]:
    """Cells for average precision."""
    for photos in PHOTOS:
        for size, correlation in ((1, 0.0), (1, 0.5), (4, 0.5)):
            if photos // size >= FEWEST_GROUPS:
                yield Cell(photos, size, correlation)


def precision_coverage(cell: Cell, draws: int) -> float:
    """How often the interval of average precision covers that of all photos that there could be."""
    truth = average_precision(_detections(Cell(TRUE_PHOTOS, 1, 0.0), np.random.default_rng(SEED))).ap
    assert truth is not None
    items, found = [str(place) for place in range(cell.photos)], []
    random = np.random.default_rng(cell.seed(len("ap")))
    for _ in range(draws):
        photos = _detections(cell, random)
        found.append(jackknife_precision(photos, average_precision(photos), items, cell.names)["ap"].interval)
    return _covered(found, truth)


def _detections(cell: Cell, random: np.random.Generator) -> list[ApPhoto]:
    """Photos with a detector's boxes. What is hard to find is boxed less well and scored lower; photos of one group are
    hard alike, by the correlation."""
    hard = random.normal(size=(cell.photos - 1) // cell.size + 1)
    photos = []
    for place in range(cell.photos):
        count, false = 1 + random.poisson(MORE_TARGETS), random.poisson(4 * INVENTED)
        own = math.sqrt(cell.correlation) * hard[place // cell.size]
        effort = own + math.sqrt(1 - cell.correlation) * random.normal(size=count)
        targets = np.column_stack([np.arange(count) * 0.2, np.zeros(count), np.full((count, 2), 0.1)])
        shifted = targets + np.abs(random.normal(0, 0.01, count) + 0.01 * np.maximum(0, effort))[:, None] * [1, 0, 0, 0]
        elsewhere = np.column_stack([2 + np.arange(false) * 0.2, np.zeros(false), np.full((false, 2), 0.1)])
        seen = effort < NormalDist().inv_cdf(FOUND)
        scores = 1 / (1 + np.exp(effort - 1.5 + random.normal(0, 0.5, count)))
        photos.append(
            ApPhoto(
                targets,
                np.concatenate([shifted[seen], elsewhere]),
                np.concatenate([scores[seen], 0.8 * random.random(false)]),
            )
        )
    return photos


def _covered(intervals: list[Interval], rate: float) -> float:
    return float(np.mean([each.low <= rate <= each.high for each in intervals]))


def _plain(right: float, n: float) -> Interval:
    from scipy.special import betaincinv

    low = betaincinv(right, n - right + 1, 0.025) if right > 0 else 0.0
    high = betaincinv(right + 1, n - right, 0.975) if right < n else 1.0
    return Interval(float(low), float(high))


def bootstrap_interval(above: Floats, below: Floats, random: np.random.Generator, resamples: int = 500) -> Interval:
    """The percentile bootstrap over photos that was used before."""
    drawn = random.integers(len(above), size=(resamples, len(above)))
    values = above[drawn].sum(axis=1) / below[drawn].sum(axis=1)
    low, high = np.quantile(values, [0.025, 0.975])
    return Interval(float(low), float(high))


@dataclass(frozen=True)
class Pair:
    """Two runs, rate by rate: the baseline's sides and the candidate's."""

    baseline: dict[str, Sides]
    candidate: dict[str, Sides]


def pairs(
    cell: Cell, churn: float, drop: float, count: int, random: np.random.Generator, alike: bool = False
) -> Iterator[Pair]:
    """Pairs of runs. The candidate loses a share `churn` of the targets and finds as many others, correlated in groups;
    where both are `alike`, each does so with half the churn. Of all faces it loses a share `drop` on top. Numbers are
    not touched by the drop."""
    if alike:
        faces, numbers = (_alike(cell, churn, count, random) for _ in range(2))
    else:
        faces, numbers = (_changed(cell, churn, loss, count, random) for loss in (drop, 0.0))
    for draw in range(count):
        (face, face_now), (number, number_now) = (
            [{name: column[draw] for name, column in run.items()} for run in runs] for runs in (faces, numbers)
        )
        yield Pair(_sides(face, number), _sides(face_now, number_now))


#: True and false positives and what was missed, one row a draw and one column a photo; and those of both runs.
Columns = dict[str, Floats]
Runs = tuple[Columns, Columns]


def _changed(
    cell: Cell, churn: float, drop: float, count: int, random: np.random.Generator, whole: bool = False
) -> Runs:
    """Both runs. Targets are dropped each by itself or, where groups are lost as a `whole`, as the churn is."""
    targets = Targets(cell, random)
    found, invented = targets.happen(FOUND, count), targets.happen(INVENTED, count)
    now = _churned(targets, found, churn)
    if drop:
        kept = (found & now).mean(axis=1)
        now &= ~(found & targets.happen(drop / kept, count, alone=not whole))
    return _columns(targets, found, invented), _columns(targets, now, _rumoured(targets, invented, churn))


def _alike(cell: Cell, churn: float, count: int, random: np.random.Generator) -> Runs:
    """Two runs that could change places."""
    targets = Targets(cell, random)
    found, invented = targets.happen(FOUND, count), targets.happen(INVENTED, count)
    half = churn / 2
    before, after = (
        _columns(targets, _churned(targets, found, half), _rumoured(targets, invented, half)) for _ in range(2)
    )
    return before, after


def _churned(targets: Targets, found: Bools, churn: float) -> Bools:
    """What is found after some is lost and as much found again, also where little is left to find."""
    count, share = len(found), found.mean(axis=1)
    flow = np.minimum(churn * share, 1 - share)
    lost = found & targets.happen(flow / share, count)
    regained = ~found & targets.happen(np.divide(flow, 1 - share, out=np.zeros(count), where=share < 1), count)
    return (found & ~lost) | regained


def _rumoured(targets: Targets, invented: Bools, churn: float) -> Bools:
    """What is invented after some of it is gone and as much has come."""
    gone = invented & targets.happen(churn, len(invented))
    more = ~invented & targets.happen(churn * INVENTED / (1 - INVENTED), len(invented))
    return (invented & ~gone) | more


def _columns(targets: Targets, found: Bools, invented: Bools) -> Columns:
    return {"tp": targets.summed(found), "fn": targets.summed(~found), "fp": targets.summed(invented)}


def _sides(face: Columns, number: Columns) -> dict[str, Sides]:
    def rates(part: Columns) -> dict[str, Sides]:
        tp, fp, fn = (part[name] for name in ("tp", "fp", "fn"))
        return {"precision": (tp, tp + fp), "recall": (tp, tp + fn), "f1": (tp, tp + (fp + fn) / 2)}

    known = {f"face/{name}": sides for name, sides in rates(face).items()}
    known |= {f"number/{name}": sides for name, sides in rates(number).items()}
    return {name: known[name] for name in TOGETHER}


@dataclass(frozen=True)
class Verdicts:
    """How often pairs of a cell were called worse, and better; and worse by the earlier rule."""

    worse: float
    better: float
    bootstrap_worse: float = math.nan


def verdicts(
    cell: Cell,
    churn: float,
    drop: float,
    count: int,
    *,
    draws: int | None = None,
    bootstrap: int = 0,
    alike: bool = False,
) -> Verdicts:
    """Judge pairs of runs; `bootstrap` is how many of them the earlier rule judges as well."""
    random = np.random.default_rng(cell.seed(churn, drop))
    worse = better = old = 0
    for number, pair in enumerate(pairs(cell, churn, drop, count, random, alike)):
        rates = paired_rates(pair.baseline, pair.candidate, cell.names)
        moved = judge_together(rates, dict.fromkeys(rates, 1), draws=draws).values()
        worse, better = worse + (-1 in moved), better + (1 in moved and -1 not in moved)
        if number < bootstrap:
            old += bootstrap_regressed(pair, random)
    return Verdicts(worse / count, better / count, old / bootstrap if bootstrap else math.nan)


def called_no_worse(cell: Cell, churn: float, count: int, *, whole: bool = False) -> float:
    """How often a run whose recall of faces has truly lost the margin is called NO WORSE in it."""
    random = np.random.default_rng(cell.seed(churn, MARGIN, whole))
    before, after = _changed(cell, churn, MARGIN, count, random, whole)
    proven = 0
    for draw in range(count):
        was, now = ({"recall": (run["tp"][draw], run["tp"][draw] + run["fn"][draw])} for run in (before, after))
        proven += paired_rates(was, now, cell.names)["recall"].no_worse(MARGIN)
    return proven / count


def bootstrap_regressed(pair: Pair, random: np.random.Generator, resamples: int = 500) -> bool:
    """The earlier rule: the lowest of all rates in units of its spread over paired resamples of photos (max-t)."""
    first = next(iter(pair.baseline.values()))[0]
    drawn = random.integers(len(first), size=(resamples, len(first)))
    strayed, measured = [], []
    for name in pair.baseline:
        sides = (pair.baseline[name], pair.candidate[name])
        delta = float(np.subtract(*(above.sum() / below.sum() for above, below in reversed(sides))))
        values = np.subtract(*(above[drawn].sum(axis=1) / below[drawn].sum(axis=1) for above, below in reversed(sides)))
        if (spread := float(values.std())) > 1e-12:
            strayed.append((values - delta) / spread)
            measured.append(delta / spread)
    if not strayed:
        return False
    return min(measured) < float(np.quantile(np.min(strayed, axis=0), 0.05))


def limit(level: float, count: int) -> float:
    """The most that may be seen of something that happens at the level: 3.5 standard errors above it."""
    return level + 3.5 * math.sqrt(level * (1 - level) / count)


def verdict_cells(photos: int = 240, shared: float = 0.0) -> Iterator[tuple[Cell, float]]:
    """Cells for the verdict, each with a churn."""
    for size in SIZES:
        for correlation in CHURN_CORRELATIONS:
            for churn in CHURNS:
                yield Cell(photos, size, correlation, shared), churn


def _interval_table(cells: Iterable[Cell], draws: int, *, f1: bool = False) -> str:
    rows = []
    for cell in cells:
        for rate in RATES:
            found = coverage(cell, rate, draws, f1=f1, bootstrap=min(draws, 500))
            widths = f"{found.width / found.plain_width:.2f}"
            columns = (f"{found.covered:.1%}", f"{found.bootstrap_covered:.1%}", widths)
            rows.append((cell.photos, cell.size, cell.correlation, rate, *columns))
    names = ("photos", "photos a group", "correlation", "true rate", "coverage", "bootstrap", "width / Clopper-Pearson")
    return markdown_table(names, rows)


def _precision_table(draws: int) -> str:
    rows = [(c.photos, c.size, c.correlation, f"{precision_coverage(c, draws):.1%}") for c in precision_cells()]
    return markdown_table(("photos", "photos a group", "correlation", "coverage"), rows)


def _verdict_table(cells: Iterable[tuple[Cell, float]], count: int) -> str:
    rows = []
    for cell, churn in cells:
        same = verdicts(cell, churn, 0.0, count, bootstrap=min(count, 300), alike=True)
        made = verdicts(cell, churn, 0.0, count)
        found = verdicts(cell, churn, MARGIN, count).worse
        proven = [called_no_worse(cell, churn, count, whole=whole) for whole in (False, True)]
        shown = (same.worse, same.better, same.bootstrap_worse, made.worse, made.better, found, *proven)
        rows.append((cell.photos, cell.size, cell.correlation, churn, *(f"{value:.1%}" for value in shown)))
    names = ("photos", "photos a group", "correlation", "churn", "false REGRESSED", "false IMPROVED")
    more = (
        "false REGRESSED, bootstrap",
        "one made of the other: REGRESSED",
        "IMPROVED",
        "a loss of 5 points found",
        "called NO WORSE",
        "the same, whole groups lost",
    )
    return markdown_table((*names, *more), rows)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="scripts/simulate", description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--draws", type=int, default=2000, help="simulated runs a cell (default: %(default)s)")
    parser.add_argument("--pairs", type=int, default=1000, help="simulated pairs a cell (default: %(default)s)")
    arguments = parser.parse_args()
    draws, count = arguments.draws, arguments.pairs
    smaller = [replace(cell, told=cell.size // 2) for cell in interval_cells() if cell.size > 1]
    doubted = [(replace(cell, told=cell.size // 2), churn) for cell, churn in verdict_cells() if cell.size > 1]
    tables: dict[str, Callable[[], str]] = {
        "Intervals of shares": lambda: _interval_table(interval_cells(), draws),
        "Intervals of F1": lambda: _interval_table(interval_cells(), draws, f1=True),
        "Intervals of shares, ties cut": lambda: _interval_table(interval_cells(SHARED), draws),
        "Intervals of shares, groups known at half their size": lambda: _interval_table(smaller, draws),
        "Intervals of average precision": lambda: _precision_table(draws // 4),
        "Verdicts on 60 photos": lambda: _verdict_table(verdict_cells(60), count),
        "Verdicts on 240 photos": lambda: _verdict_table(verdict_cells(240), count),
        "Verdicts on 240 photos, ties cut": lambda: _verdict_table(verdict_cells(240, SHARED), count),
        "Verdicts on 240 photos, groups known at half their size": lambda: _verdict_table(doubted, count),
    }
    for title, table in tables.items():
        print(f"{title}\n\n{table()}\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
