"""Which line (a row or a column) of an extracted table is which of the ground truth (GT)?

An alignment is made of blocks: one to one (a match), one GT line that came out as several neighbours (a split), or
several GT neighbours that came out as one (a merge). Every line belongs to at most one block; a GT line in none is
missing, an extracted line in none is extra.

By content: two lines agree by the share of equal cells among those where either has text, white space ignored; below
one half they have nothing to do with each other. Up to three neighbours may be joined, cell by cell, on one side. Of
all alignments that keep the order of the lines, the one with the greatest total agreement is taken; among equals, the
one with fewer parts and earlier lines.

By position: a run of leftover lines is matched, in order, with the leftover lines between the same two neighbours if
there are as many of them; the edges of the table count as neighbours too. Where the numbers differ, lines that may be
left out (rows with a single cell of text, such as captions and group rows) are left out first.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from harness.scoring.boxes import Floats

#: A line is split or merged into at most so many.
MAX_PARTS = 3
PARTS = range(1, MAX_PARTS + 1)
MIN_AGREEMENT = 0.5
#: How many GT lines and how many extracted lines a block takes; on equal agreement the first wins.
STEPS = ((1, 1), *((1, k) for k in PARTS[1:]), *((k, 1) for k in PARTS[1:]))
SKIP_GT, SKIP_EXT = -1, -2

#: What the GT lines up to the i-th, `a` of them joined, have in common with all runs of `b` extracted lines; minus
#: infinity where it is too little.
Agreement: TypeAlias = Callable[[int, int, int], Floats]
#: GT lines and the extracted lines that stand for them.
Joined: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]


class AlignedBy(StrEnum):
    """Why two lines are taken for the same."""

    EXACT = "exact"
    SIMILAR = "similar"
    CONTENT = "content"
    POSITION = "position"


@dataclass(frozen=True, slots=True)
class Match:
    """A GT line and the extracted line that stands for it."""

    gt_index: int
    ext_index: int
    by: AlignedBy


@dataclass(frozen=True, slots=True)
class Split:
    """A GT line that was extracted as several."""

    gt_index: int
    ext_indices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """Several GT lines that were extracted as one."""

    gt_indices: tuple[int, ...]
    ext_index: int


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together."""

    gt: range
    ext: range
    by: AlignedBy


@dataclass(frozen=True, slots=True)
class Alignment:
    """What became of every line, in GT order."""

    matched: tuple[Match, ...]
    splits: tuple[Split, ...]
    merges: tuple[Merge, ...]
    missing: tuple[int, ...]
    extra: tuple[int, ...]

    @classmethod
    def of(cls, blocks: Sequence[Block], gt_lines: Sequence[int], ext_lines: Sequence[int]) -> Alignment:
        """Sort blocks by kind. Blocks count through `gt_lines` and `ext_lines`, the lines that take part."""
        matched, splits, merges = [], [], []
        for block in sorted(blocks, key=lambda block: block.gt.start):
            gt, ext = tuple(gt_lines[i] for i in block.gt), tuple(ext_lines[i] for i in block.ext)
            if len(gt) > 1:
                merges.append(Merge(gt, ext[0]))
            elif len(ext) > 1:
                splits.append(Split(gt[0], ext))
            else:
                matched.append(Match(gt[0], ext[0], block.by))
        missing = [gt_lines[i] for i in leftover([block.gt for block in blocks], len(gt_lines))]
        extra = [ext_lines[i] for i in leftover([block.ext for block in blocks], len(ext_lines))]
        return cls(tuple(matched), tuple(splits), tuple(merges), tuple(missing), tuple(extra))

    @property
    def whole(self) -> list[Joined]:
        """Lines that are one in both tables."""
        return [((match.gt_index,), (match.ext_index,)) for match in self.matched]

    @property
    def cut(self) -> list[Joined]:
        """Lines that were cut, and lines that ran together."""
        splits: list[Joined] = [((split.gt_index,), split.ext_indices) for split in self.splits]
        return [*splits, *((merge.gt_indices, (merge.ext_index,)) for merge in self.merges)]


def leftover(used: Sequence[range], count: int) -> list[int]:
    """The lines of a table that are in none of the ranges."""
    taken = {line for lines in used for line in lines}
    return [line for line in range(count) if line not in taken]


def match_leftovers(
    blocks: Sequence[Block], n_gt: int, n_ext: int, less_gt: Collection[int] = (), less_ext: Collection[int] = ()
) -> Iterator[Block]:
    """Match leftover lines by their position between the blocks there are; `less_*` are lines that may be left out."""
    edges = [Block(range(-1, 0), range(-1, 0), AlignedBy.POSITION)]
    edges.append(Block(range(n_gt, n_gt + 1), range(n_ext, n_ext + 1), AlignedBy.POSITION))
    begins = {block.gt.stop: block.ext.stop for block in (*blocks, *edges)}
    ends = {block.gt.start: block.ext.start for block in (*blocks, *edges)}
    free = set(leftover([block.ext for block in blocks], n_ext))
    for run in runs(leftover([block.gt for block in blocks], n_gt)):
        between = range(begins[run.start], ends[run.stop])
        if not free.issuperset(between):
            continue
        gt, ext = list(run), list(between)
        if len(gt) != len(ext):
            gt, ext = [i for i in gt if i not in less_gt], [i for i in ext if i not in less_ext]
        if len(gt) == len(ext):
            for a, b in zip(gt, ext, strict=True):
                yield Block(range(a, a + 1), range(b, b + 1), AlignedBy.POSITION)


def runs(lines: Sequence[int]) -> list[range]:
    """Consecutive numbers as ranges."""
    found: list[range] = []
    for line in lines:
        if found and found[-1].stop == line:
            found[-1] = range(found[-1].start, line + 1)
        else:
            found.append(range(line, line + 1))
    return found


def squeeze(text: str) -> str:
    """Text without white space: where a line was broken, nobody knows whether there was a space."""
    return text.replace(" ", "")


def align_by_content(gt: Sequence[Sequence[str]], ext: Sequence[Sequence[str]], join_cost: float = 0.0) -> list[Block]:
    """Align lines by the texts that stand in the same place of both; all lines have the same number of places.

    Joined lines count `join_cost` less: so much more do they have to agree than one of them alone.
    """
    if not gt or not ext or not gt[0]:
        return []
    numbers: dict[str, int] = {"": 0}
    gt_joined, ext_joined = ([_joined(lines, parts, numbers) for parts in PARTS] for lines in map(_squeezed, (gt, ext)))
    gt_filled, ext_filled = ([lines != 0 for lines in joined] for joined in (gt_joined, ext_joined))
    with_text = [np.where(lines == 0, -1, lines) for lines in ext_joined]

    def agreement(a: int, b: int, i: int) -> Floats:
        equal = np.count_nonzero(with_text[b - 1] == gt_joined[a - 1][i - a], axis=1)
        either = np.count_nonzero(ext_filled[b - 1] | gt_filled[a - 1][i - a], axis=1)
        share = equal / np.maximum(either, 1)
        return np.where(share >= MIN_AGREEMENT, share - join_cost * (a != b), -np.inf)

    return best_alignment(len(gt), len(ext), agreement)


def best_alignment(
    n_gt: int, n_ext: int, agreement: Agreement, steps: Sequence[tuple[int, int]] = STEPS
) -> list[Block]:
    """The blocks of the alignment with the greatest total agreement."""
    return _trace(_best_steps(n_gt, n_ext, agreement, steps), steps)


def _squeezed(lines: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[squeeze(text) for text in line] for line in lines]


def _joined(lines: Sequence[Sequence[str]], parts: int, numbers: dict[str, int]) -> NDArray[np.int32]:
    """Every run of so many lines as one line, each distinct text replaced by its number; 0 is no text."""
    wide = lines
    for part in range(1, parts):
        wide = [[*map(operator.add, *pair)] for pair in zip(wide, lines[part:], strict=False)]
    rows = [[numbers.setdefault(text, len(numbers)) for text in line] for line in wide]
    return np.array(rows, dtype=np.int32).reshape(-1, len(lines[0]))


def _best_steps(n_gt: int, n_ext: int, agreement: Agreement, kinds: Sequence[tuple[int, int]]) -> NDArray[np.int8]:
    """The last step of the best alignment of the first i GT lines with the first j extracted lines."""
    steps = np.full((n_gt + 1, n_ext + 1), SKIP_GT, dtype=np.int8)
    totals = deque([np.zeros(n_ext + 1)], maxlen=MAX_PARTS)
    for i in range(1, n_gt + 1):
        total = totals[-1].copy()
        for number, (a, b) in enumerate(kinds):
            if a > i or b > n_ext:
                continue
            value = totals[-a][: n_ext + 1 - b] + agreement(a, b, i)
            better = np.flatnonzero(value > total[b:])
            total[b:][better] = value[better]
            steps[i, b:][better] = number
        best = np.maximum.accumulate(total)
        steps[i, 1:][best[:-1] >= total[1:]] = SKIP_EXT
        totals.append(best)
    return steps


def _trace(steps: NDArray[np.int8], kinds: Sequence[tuple[int, int]]) -> list[Block]:
    """Walk back from the last lines."""
    blocks = []
    i, j = steps.shape[0] - 1, steps.shape[1] - 1
    while i and j:
        step = int(steps[i, j])
        a, b = (1, 0) if step == SKIP_GT else (0, 1) if step == SKIP_EXT else kinds[step]
        if a and b:
            blocks.append(Block(range(i - a, i), range(j - b, j), AlignedBy.CONTENT))
        i, j = i - a, j - b
    return blocks
