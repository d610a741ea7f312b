"""A judge that is asked again and again keeps what is no better at most once in twenty bases."""

from __future__ import annotations

import pytest
from bench.soak.keeps import METRIC, _answer, _run, _sides, false_keeps

from harness.candidates.scorer import Question, compare_runs, gate_with
from harness.candidates.tries import Answer
from tests.benchmark_runs import gate


@pytest.mark.simulation
@pytest.mark.slow
def test_noise_is_not_kept_however_often_it_is_tried() -> None:
    kept = false_keeps(bases=60, tries=20, seed=1)
    assert kept.any_kept / kept.bases <= kept.limit
    assert kept.best_kept / kept.bases <= kept.limit
    assert kept.best_kept <= kept.any_kept + 1


def test_a_real_gain_is_kept_at_the_first_and_at_the_twentieth_try() -> None:
    import numpy as np

    base = np.arange(60) % 3 > 0  # 20 of 60 are missed
    better = np.arange(60) % 12 > 0  # 5 of 60 are
    noise = tuple((_sides(base), _sides(base)) for _ in range(19))
    assert _answer(_run(base), _run(better), ()) is Answer.KEEP
    assert _answer(_run(base), _run(better), noise) is Answer.KEEP


def test_only_candidates_beside_a_base_that_answers_alike_are_counted_together() -> None:
    import numpy as np

    base, other = np.arange(60) % 3 > 0, np.arange(60) % 4 > 0
    before = ((_sides(other), _sides(base)), (_sides(base), _sides(other)))
    question = Question((), METRIC, 1, "", "", before=before)
    scored = compare_runs(question, gate_with(question, gate()), _run(other), _run(base))
    assert scored.tries == 2
    assert scored.level == pytest.approx(0.05 / 6)
