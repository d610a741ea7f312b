"""A start list: numbers and names that are known before anybody has labelled a photo."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.__main__ import run
from harness.base.errors import ReferenceSetError
from harness.formats import import_labels
from harness.references.forgetting import forget, remembered
from harness.references.people import Change, change_people, undo_people
from harness.references.start_list import Entrant, StartList
from harness.references.store import LabelStore


def enter(folder: Path, text: str, store: LabelStore | None = None) -> LabelStore:
    file = folder / "start.csv"
    file.write_text(text, encoding="utf-8")
    store = store or LabelStore(folder / "set")
    import_labels(store, "names", file)
    return store


def test_numbers_and_names_are_kept_with_the_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "start.csv").write_text("Startnummer;Name\n417;Ada Lovelace;F\n;Grace Hopper\n", encoding="utf-8")
    arguments = ["import", "--format", "names", str(tmp_path / "start.csv"), f"references.root={tmp_path / 'set'}"]
    assert run(arguments) == 0
    assert "Imported 2 names of a start list" in capsys.readouterr().out
    listed = LabelStore(tmp_path / "set").start_list()
    assert listed.names_by_number == {"417": "Ada Lovelace"}
    assert listed.numbers_by_name == {"Ada Lovelace": "417", "Grace Hopper": None}


def test_a_newer_list_corrects_an_older_one_and_loses_nobody(tmp_path: Path) -> None:
    store = enter(tmp_path, "1,Ada\n2,Grace\n3,Mary\n")
    enter(tmp_path, "2,Grace Hopper\n4,Mary\n", store)
    assert store.start_list().numbers_by_name == {"Ada": "1", "Grace Hopper": "2", "Mary": "4"}


def test_two_people_of_one_name_are_told_apart_by_their_numbers(tmp_path: Path) -> None:
    store = enter(tmp_path, "1,Ada\n2,Ada\n3,Grace\n")
    assert list(store.start_list().numbers_by_name) == ["Ada (1)", "Ada (2)", "Grace"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,Ada\n2\n", "line 2: '2': expected a number and a name"),
        ("1,Ada\n1,Grace\n", "line 2: number 1 stands in line 1, too"),
        (",Ada\n,Ada\n", "2 people are called Ada; expected numbers that tell them apart"),
        ("1,Ada\n4_2,Grace\n", "line 2: number"),
        ("1,<b>Ada\n", "without control characters, < or >"),
        ("number,name\n", "nobody in it; expected a number and a name a line"),
    ],
)
def test_a_bad_list_is_refused_with_the_line_and_changes_nothing(tmp_path: Path, text: str, said: str) -> None:
    store = enter(tmp_path, "7,Mary\n")
    with pytest.raises(ReferenceSetError) as refused:
        enter(tmp_path, text, store)
    assert said in str(refused.value)
    assert str(tmp_path / "start.csv") in str(refused.value)
    assert store.start_list().entrants == [Entrant(name="Mary", number="7")]


def test_who_is_renamed_is_renamed_on_the_list_and_back(tiny_set: Path, tmp_path: Path) -> None:
    store = enter(tmp_path, "417,Ada\n", LabelStore(tiny_set))
    done = change_people(store, Change(rename=("Ada", "Ada Lovelace")))
    assert store.start_list().names_by_number == {"417": "Ada Lovelace"}
    undo_people(store, done)
    assert store.start_list().names_by_number == {"417": "Ada"}


def test_whoever_is_forgotten_is_on_no_list(tiny_set: Path, tmp_path: Path) -> None:
    store = enter(tmp_path, "417,Ada\n418,Mary\n", LabelStore(tiny_set))
    assert remembered(store, "Mary").staging.known
    forget(store, "Mary")
    assert not remembered(store, "Mary").staging
    assert "Mary" not in (tiny_set / StartList.FILE_NAME).read_text()
    assert store.start_list().names_by_number == {"417": "Ada"}
