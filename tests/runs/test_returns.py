"""What came back for each runner, as a run keeps it: the rows add up to the scorecard, and a file reads as written."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.runs.returns import Return, Returns, read_returns, write_returns
from harness.scoring.finding import CAUSES, FindTally, tally_finding
from harness.scoring.people import NOBODY
from harness.scoring.searching import Operating, Search
from harness.tasks.identity.returned import returns_of
from tests.scoring.worlds import World, random_world


def kept(world: World, threshold: float = 0.5) -> tuple[Returns, FindTally]:
    evidence = world.evidence()
    photos: Any = [SimpleNamespace(photo=SimpleNamespace(sha256=f"hash{n}")) for n in range(len(evidence.photos))]
    tally = tally_finding(Search(evidence), Operating.fixed(0.01, threshold, 1000, "a test"))
    return returns_of(evidence, photos, tally), tally


@given(st.integers(0, 10**6), st.sampled_from([0.2, 0.5, np.inf]))
@settings(max_examples=60, deadline=None)
def test_a_file_reads_as_written_and_adds_up_to_the_scorecard(
    tmp_path_factory: pytest.TempPathFactory, seed: int, threshold: float
) -> None:
    path = tmp_path_factory.mktemp("returns") / "file.parquet"
    world = random_world(seed)
    written, tally = kept(world, threshold)
    write_returns(path, written)
    read = read_returns(path.read_bytes())
    for person, counts in zip(world.people, tally.counts.by_item(), strict=True):
        rows = read.of(person.name)
        assert rows == written.of(person.name)
        assert sum(row.wanted for row in rows) == counts["wanted"]
        for way in ("selfie", "number", "both"):
            shares = [getattr(row, way) for row in rows if row.wanted]
            assert sum(share is not None for share in shares) == counts[f"{way}_asked"]
            assert sum(filter(None, shares)) == pytest.approx(counts[f"{way}_found"], abs=1e-9)
        assert sum(row.both or 0 for row in rows if not row.wanted) == pytest.approx(counts["both_wrong"], abs=1e-9)
        for cause in CAUSES:
            missed = sum(1 - (row.both or 0) for row in rows if row.cause == cause)
            assert missed == pytest.approx(counts[cause], abs=1e-9)
        if rows:
            assert read.numbers[read.places[person.name]] == person.numbers
    assert sorted(read.missed()) == sorted(
        (f"hash{each.photo}", world.people[each.person].name, each.cause) for each in tally.missed
    )


def test_a_wanted_photo_below_the_threshold_and_a_stranger_above_it(tmp_path: Path) -> None:
    world = World()
    ann = world.person("ann", numbers=("12",))
    world.query(ann, (1, 0))
    world.face(world.photo(), (0, 1), ann)
    stranger = world.photo()
    world.face(stranger, (0, 1), NOBODY)
    world.face(stranger, (1, 0), NOBODY)
    write_returns(tmp_path / "file", kept(world)[0])
    read = read_returns((tmp_path / "file").read_bytes())
    assert read.of("ann") == [
        Return("ann", "hash0", True, selfie=0, number=0, both=0, score=0, threshold=0.5, cause="below_threshold"),
        Return("ann", "hash1", False, both=1, score=1, threshold=0.5, face=1),
    ]
    assert read.of("somebody else") == []
    assert "vector" not in " ".join(pq.read_schema(tmp_path / "file").names)


def test_a_file_of_something_else_is_named() -> None:
    with pytest.raises(HarnessError, match=r"identity_returns\.parquet: not what came back in a run"):
        read_returns(b"no table")
