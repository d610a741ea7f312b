"""Progress that is told to whoever shows it."""

from __future__ import annotations

import pytest

from harness.base.progress import silent, track, watched


def test_progress_is_told_to_a_watcher_and_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    told: list[tuple[int, int]] = []
    with watched(lambda done, total: told.append((done, total))):
        assert list(track(["a", "b"], "photos")) == ["a", "b"]
        with silent():
            assert list(track(["c"], "photos")) == ["c"]
    assert told == [(0, 2), (1, 2), (2, 2)]
    assert capfd.readouterr().err == ""
    list(track(["a"], "photos"))
    assert told[-1] == (2, 2)
    assert "photos: 1 of 1" in capfd.readouterr().err
