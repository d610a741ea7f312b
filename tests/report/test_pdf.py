"""The report as PDF: by a Chromium where there is one, and one sentence where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.report.pdf import NAMES, VARIABLE, print_pdf


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "report.html"
    path.write_text("<!doctype html><title>x</title><p>A report.</p>")
    return path


def test_without_a_browser_there_is_one_sentence(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HarnessError, match="no PDF without Chromium or Chrome: install one, or name its program in"):
        print_pdf(page, tmp_path / "report.pdf")
    assert not (tmp_path / "report.pdf").exists()


def test_what_is_no_browser_is_named(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for script, told in (("exit 3", "exit code 3"), ("echo sandbox >&2; exit 1", "sandbox")):
        program = tmp_path / "browser"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv(VARIABLE, str(program))
        with pytest.raises(HarnessError, match=f"browser did not print .*report.html: {told}"):
            print_pdf(page, tmp_path / "report.pdf")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    with pytest.raises(HarnessError, match="cannot print"):
        print_pdf(page, tmp_path / "report.pdf")


def test_a_browser_that_is_found_by_any_of_its_names_prints(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / NAMES[-1]
    script = 'for word in "$@"; do case "$word" in --print-to-pdf=*) echo %PDF > "${word#*=}";; esac; done'
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    print_pdf(page, tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_text() == "%PDF\n"
