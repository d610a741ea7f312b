"""The list of runs: every run that fits is there, below the baseline of its data, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import QueryError
from harness.exploring.run_list import ROWS_PER_PAGE, RUNS_IN_FOLD, Choices, Fold, RunQuery, run_table
from harness.tracking.entries import RunEntry
from tests.exploring.entries import entry


def newest_first(*runs: RunEntry) -> list[RunEntry]:
    return sorted(runs, key=lambda run: run.started, reverse=True)


def names(rows: object) -> list[str]:
    assert isinstance(rows, tuple)
    return [row.name for row in rows]


def test_the_data_of_the_newest_run_come_first_and_the_baseline_is_on_top_of_its_own() -> None:
    old = entry(1, pinned="2026-01-01")
    runs = newest_first(old, entry(2), entry(3, data_digest="e" * 64), entry(4, data_name="other"))
    first, second, third = run_table(runs, RunQuery()).groups
    assert [group.data.data_column for group in (first, second, third)] == [
        "other iteration dddddddd",
        "races iteration eeeeeeee",
        "races iteration dddddddd",
    ]
    assert (first.baseline, second.baseline, third.baseline) == (None, None, old)
    assert names(third.rows) == ["run 2"]
    assert third.runs == 2


def test_of_two_that_are_pinned_on_the_same_data_the_one_pinned_last_is_on_top() -> None:
    runs = newest_first(entry(1, pinned="2026-01-02"), entry(2, pinned="2026-01-01"))
    (group,) = run_table(runs, RunQuery()).groups
    assert group.baseline is not None
    assert (group.baseline.name, names(group.rows)) == ("run 1", ["run 2"])


def test_a_baseline_that_does_not_fit_stands_there_for_comparison_and_is_not_counted() -> None:
    runs = newest_first(entry(1, pinned="2026-01-01", verdict="BASELINE"), entry(2, verdict="REGRESSED"))
    table = run_table(runs, RunQuery(verdict="REGRESSED"))
    assert table.total == 1
    assert table.groups[0].baseline is not None
    assert run_table(runs, RunQuery(text="nothing has this")).groups == ()


def test_a_sweep_is_one_row_with_its_best_and_worst_and_a_run_of_two_sweeps_is_in_both() -> None:
    def job(number: int, score: float, *sweeps: str) -> RunEntry:
        return entry(number, sweep_ids=sweeps, metrics={"number/f1": score})

    runs = newest_first(job(1, 0.2, "a"), job(2, 0.9, "a", "b"), job(3, 0.4, "a"), job(4, 0.6, "b"), entry(5))
    (group,) = run_table(runs, RunQuery()).groups
    alone, second, first = group.rows
    assert isinstance(second, Fold)
    assert isinstance(first, Fold)
    assert (alone.name, second.name, first.name) == ("run 5", "b", "a")
    assert [run.name for run in first.runs] == ["run 3", "run 2", "run 1"]
    assert [run.name for run in first.extremes] == ["run 2", "run 1"]
    assert [run.name for run in second.extremes] == ["run 2", "run 4"]
    assert first.values("number/f1") == [0.4, 0.9, 0.2]
    (opened,) = run_table(runs, RunQuery(sweep="a")).groups
    assert names(opened.rows) == ["run 3", "run 2", "run 1"]


def test_below_a_large_sweep_the_best_and_the_worst_are_listed_and_then_the_newest() -> None:
    scores = [0.5] * 40
    scores[7], scores[9] = 0.1, 0.9
    runs = [entry(i, study="tune", metrics={"number/f1": score}) for i, score in enumerate(scores)]
    (group,) = run_table(newest_first(*runs), RunQuery()).groups
    (fold,) = group.rows
    assert isinstance(fold, Fold)
    assert fold.kind == "study"
    assert [run.name for run in fold.shown[:3]] == ["run 9", "run 7", "run 39"]
    assert len(fold.shown) == RUNS_IN_FOLD


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("newest", [4, 3, 2, 1]),
        ("oldest", [1, 2, 3, 4]),
        ("name", [1, 2, 3, 4]),
        ("verdict", [2, 3, 1, 4]),
        ("high:number/f1", [3, 1, 4, 2]),
        ("low:number/f1", [1, 3, 4, 2]),
    ],
)
def test_orders(sort: str, expected: list[int]) -> None:
    """A run without a number for a metric comes last, whichever end is first."""
    runs = newest_first(
        entry(1, verdict="IMPROVED", metrics={"number/f1": 0.1}),
        entry(2, verdict="REGRESSED, UNPROTECTED", metrics={}),
        entry(3, verdict="CANNOT TELL", metrics={"number/f1": 0.9}),
        entry(4, verdict="WITHIN NOISE", metrics={"number/f1": float("nan")}),
    )
    (group,) = run_table(runs, RunQuery(sort=sort)).groups
    assert names(group.rows) == [f"run {number}" for number in expected]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("fast a.b=1 c=2 d=3", "fast … d=3"),
        ("best a.b=1 d=3", "best … d=3"),
        ("fast d=3", "fast d=3"),
        ("fast a.b=1 c=2", "fast …"),
        ("a run of mine", "a run of mine"),
    ],
)
def test_a_name_beside_the_baseline_is_what_differs(name: str, shown: str) -> None:
    base = entry(1, name="fast a.b=1 c=2")
    assert entry(2, name=name).name_beside(base) == shown
    assert base.name_beside(base) == base.name
    assert base.name_beside(None) == base.name


def test_text_is_looked_for_in_names_notes_and_ids_whatever_its_case() -> None:
    runs = newest_first(entry(1, name="Fast"), entry(2, note="a fAst one"), entry(0xFA57), entry(4))
    assert run_table(runs, RunQuery(text=" FAST ")).total == 2
    assert run_table(runs, RunQuery(text="fa57")).total == 1


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"data": "mars"}, "data=mars: no run that is listed has it; there: races"),
        ({"preset": "slow"}, "preset=slow: no run that is listed has it; there: fast"),
        ({"verdict": "BAD"}, "verdict=BAD: no run that is listed has it; there: REGRESSED"),
        ({"sweep": "x"}, "sweep=x: no run that is listed has it"),
        ({"study": "x"}, "study=x: no run that is listed has it"),
        ({"sort": "high:nothing"}, "sort=high:nothing: no run that is listed has it; there: newest, oldest"),
    ],
)
def test_what_no_run_has_is_refused_in_a_sentence(wrong: dict[str, str], told: str) -> None:
    choices = Choices.of([entry(1, preset="fast", verdict="REGRESSED")])
    with pytest.raises(QueryError) as raised:
        choices.check(RunQuery(**wrong))  # type: ignore[arg-type]
    assert str(raised.value).startswith(told)


def test_what_runs_have_and_verdicts_that_no_run_has_today_are_accepted() -> None:
    choices = Choices.of([entry(1, preset="fast", verdict="REGRESSED", sweep_ids=("s",), study="one two")])
    column = "races iteration dddddddd"
    choices.check(RunQuery(data=column, preset="fast", verdict="IMPROVED", sweep="s", study="two", sort="low:face/f1"))
    choices.check(RunQuery(data="races"))


made: st.SearchStrategy[dict[str, object]] = st.builds(
    dict,
    data_name=st.sampled_from(["races", "hills"]),
    data_digest=st.sampled_from(["1" * 64, "2" * 64]),
    sweep_ids=st.sampled_from([(), (), ("a",), ("a", "b")]),
    pinned=st.sampled_from(["", "", "", "2026-01-01"]),
    verdict=st.sampled_from(["REGRESSED", "IMPROVED"]),
)


@given(
    st.lists(made, max_size=150),
    st.sampled_from([None, "REGRESSED"]),
    st.sampled_from(["newest", "verdict", "high:number/f1"]),
)
def test_all_pages_together_have_every_run_that_fits_and_no_page_is_too_long(
    given_runs: list[dict[str, object]], verdict: str | None, sort: str
) -> None:
    runs = newest_first(*(entry(i, **values) for i, values in enumerate(given_runs)))
    query = RunQuery(verdict=verdict, sort=sort)
    shown: set[str] = set()
    pages = run_table(runs, query).pages
    for page in range(1, pages + 1):
        table = run_table(runs, query.model_copy(update={"page": page}))
        assert sum(len(group.rows) for group in table.groups) <= ROWS_PER_PAGE
        for group in table.groups:
            rows = [run for row in group.rows for run in (row.runs if isinstance(row, Fold) else (row,))]
            assert {(run.data_name, run.data_digest) for run in rows} <= {
                (group.data.data_name, group.data.data_digest)
            }
            shown |= {run.run_id for run in rows}
            shown |= {group.baseline.run_id} if group.baseline and query.fits(group.baseline) else set()
    assert shown == {run.run_id for run in runs if query.fits(run)}
    assert run_table(runs, query.model_copy(update={"page": 10_000})).page == pages


def test_the_address_has_what_was_chosen_and_not_the_page() -> None:
    query = RunQuery(verdict="CANNOT TELL", sort="name", page=3)
    assert query.query == "?verdict=CANNOT+TELL&sort=name"
    assert RunQuery().query == ""
    assert query.but(sort="newest") == "?verdict=CANNOT+TELL"
    assert RunQuery(data="", text="").filtered is False
