"""Column alignment: which extracted column is which column of the ground truth (GT)?

By header, in this order, each step on what the steps before left over:

1. exact: equal headers; equal ones among several pair up from left to right.
2. similar: longest common substring over the longer length at least 0.8, best first; a number is similar to nothing.
3. split and merged: the headers of two or three neighbours, joined without white space, make up the header of one
   column of the other table; fewest parts first, then from left to right, splits before merges.
4. position: leftover columns between the same two neighbours. Headers that contradict each other everywhere are no
   landmarks: if no column was found by its header, columns match by number only where a table has no header text.

An empty header takes part in the last step only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.scoring.fuzzy_tables import assign_texts
from harness.scoring.table_alignment import MAX_PARTS, AlignedBy, Alignment, Block, leftover, match_leftovers, squeeze

MIN_SIMILARITY = 0.8


def align_columns(gt_headers: Sequence[str], ext_headers: Sequence[str]) -> Alignment:
    """Align columns by their normalised headers."""
    n_gt, n_ext = len(gt_headers), len(ext_headers)
    blocks = list(_by_header(gt_headers, ext_headers))
    free_gt, free_ext = _free(blocks, gt_headers, ext_headers)
    blocks += [Block(one, parts, AlignedBy.EXACT) for one, parts in _joined(gt_headers, free_gt, ext_headers, free_ext)]
    free_gt, free_ext = _free(blocks, gt_headers, ext_headers)
    blocks += [Block(parts, one, AlignedBy.EXACT) for one, parts in _joined(ext_headers, free_ext, gt_headers, free_gt)]
    if blocks:
        blocks += match_leftovers(blocks, n_gt, n_ext)
    elif not any(gt_headers) or not any(ext_headers):
        blocks = [Block(_one(i), _one(i), AlignedBy.POSITION) for i in range(min(n_gt, n_ext))]
    return Alignment.of(blocks, range(n_gt), range(n_ext))


def _by_header(gt: Sequence[str], ext: Sequence[str]) -> Iterator[Block]:
    gt_named, ext_named = [i for i, text in enumerate(gt) if text], [i for i, text in enumerate(ext) if text]
    for pair in assign_texts([gt[i] for i in gt_named], [ext[i] for i in ext_named]):
        if pair.score >= MIN_SIMILARITY:
            by = AlignedBy.EXACT if pair.score == 1.0 else AlignedBy.SIMILAR
            yield Block(_one(gt_named[pair.gt]), _one(ext_named[pair.ext]), by)


def _joined(
    whole: Sequence[str], free_whole: Sequence[int], split: Sequence[str], free_split: Sequence[int]
) -> Iterator[tuple[range, range]]:
    """A free column of `whole` and the free neighbours in `split` whose headers make up its own."""
    wanted: dict[str, list[int]] = {}
    for column in reversed(free_whole):
        wanted.setdefault(squeeze(whole[column]), []).append(column)
    free = set(free_split)
    for parts in range(2, MAX_PARTS + 1):
        for start in free_split:
            window = range(start, start + parts)
            columns = wanted.get("".join(squeeze(split[i]) for i in window)) if free.issuperset(window) else None
            if columns:
                free.difference_update(window)
                yield _one(columns.pop()), window


def _free(blocks: Sequence[Block], gt: Sequence[str], ext: Sequence[str]) -> tuple[list[int], list[int]]:
    """Columns with a header that are in no block yet."""
    free_gt = leftover([block.gt for block in blocks], len(gt))
    free_ext = leftover([block.ext for block in blocks], len(ext))
    return [i for i in free_gt if gt[i]], [i for i in free_ext if ext[i]]


def _one(index: int) -> range:
    return range(index, index + 1)
