"""Which row or column of an extracted table is which of the ground truth (GT): the form that both answers take.

An alignment is made of blocks: one to one (a match), one GT line that came out as several neighbours (a split), or
several GT neighbours that came out as one (a merge). Every line belongs to at most one block; a GT line in none is
missing, an extracted line in none is extra.

Position is evidence only between landmarks. A run of leftover lines is matched, in order, with the leftover lines
between the same two neighbours if there are as many of them; the edges of the table count as neighbours too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

#: A line is split or merged into at most so many.
MAX_PARTS = 3


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


def leftover(used: Sequence[range], count: int) -> list[int]:
    """The lines of a table that are in none of the ranges."""
    taken = {line for lines in used for line in lines}
    return [line for line in range(count) if line not in taken]


def match_leftovers(blocks: Sequence[Block], n_gt: int, n_ext: int) -> Iterator[Block]:
    """Match leftover lines by their position between the blocks there are."""
    edges = [Block(range(-1, 0), range(-1, 0), AlignedBy.POSITION)]
    edges.append(Block(range(n_gt, n_gt + 1), range(n_ext, n_ext + 1), AlignedBy.POSITION))
    begins = {block.gt.stop: block.ext.stop for block in (*blocks, *edges)}
    ends = {block.gt.start: block.ext.start for block in (*blocks, *edges)}
    free = set(leftover([block.ext for block in blocks], n_ext))
    for run in runs(leftover([block.gt for block in blocks], n_gt)):
        between = range(begins[run.start], ends[run.stop])
        if len(between) == len(run) and free.issuperset(between):
            for gt, ext in zip(run, between, strict=True):
                yield Block(range(gt, gt + 1), range(ext, ext + 1), AlignedBy.POSITION)


def runs(lines: Sequence[int]) -> list[range]:
    """Consecutive numbers as ranges."""
    found: list[range] = []
    for line in lines:
        if found and found[-1].stop == line:
            found[-1] = range(found[-1].start, line + 1)
        else:
            found.append(range(line, line + 1))
    return found
