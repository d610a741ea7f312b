"""The token traces of an artifact, sample by sample, whatever order their file has them in.

A trace file is usually written in the order of the samples; then one pass reads it in step with them. Where it turns
out not to be, an index of byte offsets (eight bytes a sample) leads to each trace. Both hold one trace at a time.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path

from harness.scoring.confidence import Trace
from harness.scoring.coord_tokens import TraceForm
from harness.tasks.confidence.lines import parse, read_lines, unreadable, wrong


class OutOfOrderError(Exception):
    """The traces do not come in the order of the samples; they have to be read by index."""


def traces_in_step(path: Path, samples: int, form: TraceForm) -> Iterator[Trace | None]:
    """The trace of each sample in turn, None where it has none. Raises OutOfOrderError where one comes too late."""
    due = 0
    for number, line in read_lines(path):
        index, trace = read_trace(path, number, line, samples, form)
        if index < due:
            raise OutOfOrderError
        while due < index:
            yield None
            due += 1
        yield trace
        del trace  # before the next one is made: memory that is warm is used again
        due += 1
    while due < samples:
        yield None
        due += 1


def traces_by_index(path: Path, samples: int, form: TraceForm) -> Iterator[Trace | None]:
    """The same for a file in any order, which is read twice."""
    offsets, offset = array("q", [-1]) * samples, 0
    for number, line in read_lines(path):
        index, _ = read_trace(path, number, line, samples, form)
        if offsets[index] >= 0:
            raise wrong(path, number, f"line_idx: {index} has a trace already, further up")
        offsets[index] = offset
        offset += len(line)
    try:
        with path.open("rb") as file:
            for offset in offsets:
                if offset >= 0:
                    file.seek(offset)
                yield read_trace(path, 0, file.readline(), samples, form)[1] if offset >= 0 else None
    except OSError as error:
        raise unreadable(path, error) from error


def read_trace(path: Path, number: int, line: bytes, samples: int, form: TraceForm) -> tuple[int, Trace]:
    """The checked trace of one line, and the sample that it belongs to."""
    fields = parse(path, number, line)
    index, tokens, logprobs = fields.get("line_idx"), fields.get("generated_token_text"), fields.get("token_logprobs")
    if type(index) is not int or index < 0:
        raise wrong(path, number, f"line_idx: expected a whole number from 0, got {index!r:.60}")
    if index >= samples:
        raise wrong(path, number, f"line_idx: {index} is past the last of {samples} samples")
    if not isinstance(tokens, list):
        raise wrong(path, number, "generated_token_text: expected a list of strings")
    if not isinstance(logprobs, list):  # what is in it matters to the object that it belongs to, and to no other
        raise wrong(path, number, "token_logprobs: expected a list of numbers")
    try:
        return index, Trace(tokens, logprobs, form)
    except TypeError as error:
        raise wrong(path, number, f"generated_token_text: expected a list of strings: {error}") from error
