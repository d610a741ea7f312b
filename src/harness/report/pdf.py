"""A page as PDF, printed by a Chromium or Chrome of this machine: nothing that the harness installs can do it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.scratch import scratch

#: The names by which it is installed, and the variable that names another one.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
VARIABLE = "HARNESS_BROWSER"
_SECONDS = 300


def print_pdf(page: Path, target: Path) -> None:
    """Print a page. Raises a HarnessError where there is no Chromium, or where it fails."""
    browser = os.environ.get(VARIABLE) or next(filter(None, map(shutil.which, NAMES)), None)
    if browser is None:
        raise HarnessError(f"no PDF without Chromium or Chrome: install one, or name its program in {VARIABLE}")
    with scratch() as folder:
        printed = folder / "report.pdf"
        command = [browser, "--headless", "--disable-gpu", "--no-pdf-header-footer", f"--print-to-pdf={printed}"]
        command += [f"--user-data-dir={folder / 'profile'}", "--disable-background-networking", page.as_uri()]
        if os.name == "posix" and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # Chromium refuses to start for root with one
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise HarnessError(f"{browser} cannot print {page}: {error}") from error
        if not printed.is_file():
            said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
            raise HarnessError(f"{browser} did not print {page}: {said}")
        try:
            shutil.copyfile(printed, target)
        except OSError as error:
            raise HarnessError(f"{target}: the PDF cannot be written: {error.strerror}") from error
