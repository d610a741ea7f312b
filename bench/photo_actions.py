"""How many actions does it take to label a photo, person by person, with suggestions?

    .venv/bin/python -m bench.photo_actions FOLDER [--preset NAME]

FOLDER has photos with true labels beside them, as the RBNR set has them (`NAME.JPG.mat`: bibs, numbers, faces, links).
The photos are prepared as a user does it. Then a script that knows the true labels works through the real pages in a
real browser, as a person would: it accepts who is suggested rightly, corrects numbers, says what is no person, draws
what is missing, and calls each photo done. An action is a key press, a click or a drag; each typed character counts,
and so does Shift. In the end the labels are compared with the true ones; what is not there is told. Faces of
bystanders, which the true labels do not have, are accepted as faces; names come from the numbers, as the page proposes
them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright
from tests.browser.conftest import FLAGS
from tests.browser.labeling_server import ServerThread, centre, drag, in_window, open_editor, saved

from harness.formats.rbnr import read_set
from harness.labeling.source import StagingSource
from harness.references.files import BoxRecord
from harness.references.importing import ImportedPhoto
from harness.references.store import LabelStore
from harness.references.suggestions import same_place

Json = dict[str, Any]


@dataclass
class Hand:
    """Somebody at the page; every action is counted by what it is for."""

    page: Page
    actions: Counter[str] = field(default_factory=Counter)

    def press(self, key: str, why: str) -> None:
        """Press a key; a modifier is a key, too."""
        self.page.keyboard.press(key)
        self.actions[why] += len(key.split("+"))

    def type(self, text: str, why: str) -> None:
        """Type a text, and Enter."""
        self.page.keyboard.type(text)
        self.actions[why] += len(text)
        self.press("Enter", why)

    def click(self, box: Json, why: str) -> None:
        """Click a box."""
        self.page.mouse.click(*centre(self.page, box))
        self.actions[why] += 1

    def draw(self, box: Json, why: str) -> None:
        """Draw a box."""
        at = in_window(self.page, box)
        self.page.keyboard.down("Shift")  # also over another box
        drag(self.page, (at["left"], at["top"]), (at["right"], at["bottom"]))
        self.page.keyboard.up("Shift")
        self.actions[why] += 2


@dataclass(frozen=True)
class Person:
    """A runner of the true labels."""

    number: str
    bib: BoxRecord
    face: BoxRecord


def people_of(photo: ImportedPhoto) -> list[Person]:
    """The runners of a photo."""
    assert photo.bibs is not None
    assert photo.faces is not None
    return [
        Person(photo.bibs.boxes[bib].number or "", photo.bibs.boxes[bib], photo.faces.boxes[face])
        for bib, face in photo.links or []
    ]


def _record(box: Json) -> BoxRecord:
    return BoxRecord(**{side: box[side] for side in "xywh"})


def _same(box: Json | None, true: BoxRecord) -> bool:
    """Whether a box is about what a true one shows. True boxes are tight on the digits: they may lie inside."""
    if box is None:
        return False
    x, y = true.x + true.w / 2, true.y + true.h / 2
    inside = box["x"] <= x <= box["x"] + box["w"] and box["y"] <= y <= box["y"] + box["h"]
    return same_place(_record(box), true) or inside


def label(hand: Hand, photo: Json, people: list[Person]) -> None:
    """Label the photo that is open, as somebody who knows the true labels would."""
    answers = _answers(photo, people)
    while (chosen := _selected(hand.page)) in answers:
        if all(answer == "accept" for answer in answers.values()) and len(answers) > 2:
            hand.press("Shift+A", "accept")
            break
        answer = answers.pop(chosen)
        if answer == "apart":
            hand.press("l", "link")
            answers |= _answers(photo, people, apart=True, only=chosen)
        elif answer == "accept":
            hand.press("a", "accept")
        elif answer == "reject":
            hand.press("x", "reject")
        else:
            hand.press("Enter", "number")
            hand.type(answer, "number")


def _selected(page: Page) -> str:
    """The row that is selected; "" where none is."""
    chosen = page.locator("#boxes [role=option][aria-selected=true]")
    return (chosen.get_attribute("data-id") or "") if chosen.count() else ""


def _answers(photo: Json, people: list[Person], apart: bool = False, only: str = "") -> dict[str, str]:
    """What to do about each suggested person, by the id of its row."""
    ghosts = photo["ghosts"]
    pairs = dict(ghosts["links"])
    faces = set(range(len(ghosts["faces"])))
    answers: dict[str, str] = {}
    for at, bib in enumerate(ghosts["bibs"]):
        person = next((person for person in people if _same(bib, person.bib)), None)
        face = pairs.get(at)
        right = "reject" if person is None else "accept" if bib["number"] == person.number else person.number
        if face is None:
            answers[f"bib-ghost-{at}"] = right
            continue
        faces.discard(face)
        linked = person is not None and _same(ghosts["faces"][face], person.face)
        row = f"face-ghost-{face}"
        if linked:
            answers[row] = right
        elif apart and row == only:
            return {row: "accept", f"bib-ghost-{at}": right}
        else:
            answers[row] = "apart"
    return answers | {f"face-ghost-{face}": "accept" for face in faces}


def complete(hand: Hand, server: ServerThread, sha256: str, people: list[Person]) -> None:
    """Draw and link what nobody suggested."""
    for person in people:
        saved(hand.page)
        now = server.photo(sha256)
        bib, face = _find(now["bibs"]["boxes"], person.bib), _find(now["faces"]["boxes"], person.face)
        if bib is None:
            if face is not None:
                hand.click(now["faces"]["boxes"][face], "draw a bib")
            else:
                hand.press("Escape", "draw a bib")
            hand.draw(person.bib.model_dump(), "draw a bib")
            hand.type(person.number, "draw a bib")
        elif face is not None and [bib, face] not in now["links"]:
            hand.click(now["bibs"]["boxes"][bib], "link")
            hand.press("l", "link")
        if face is None:
            if bib is not None:
                hand.click(now["bibs"]["boxes"][bib], "draw a face")
            hand.press("c", "draw a face")
            hand.draw(person.face.model_dump(), "draw a face")


def _find(boxes: list[Json], true: BoxRecord) -> int | None:
    real = [at for at, box in enumerate(boxes) if box["scope"] not in ("not_bib", "exclude") and _same(box, true)]
    return real[0] if real else None


def missing(now: Json, people: list[Person]) -> list[str]:
    """What the labels lack of the true ones."""
    wrong = []
    for person in people:
        bib, face = _find(now["bibs"]["boxes"], person.bib), _find(now["faces"]["boxes"], person.face)
        if bib is None or now["bibs"]["boxes"][bib]["number"] != person.number:
            wrong.append(f"{now['name']}: {person.number}: no such bib")
        elif face is None:
            wrong.append(f"{now['name']}: {person.number}: no face")
        elif [bib, face] not in (now["links"] or []):
            wrong.append(f"{now['name']}: {person.number}: not linked")
        elif not now["faces"]["boxes"][face]["identity"]:
            wrong.append(f"{now['name']}: {person.number}: no name")
    if now["completeness"]["state"] not in ("complete", "known_negative"):
        wrong.append(f"{now['name']}: not complete: {now['completeness']['left_open']}")
    return wrong


def main() -> int:
    """Prepare, label, count, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--preset", default="")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    truth = {
        hashlib.sha256(each.path.read_bytes()).hexdigest(): people_of(each) for each in read_set(folder, None).photos
    }
    path = os.environ.get("HARNESS_BROWSER") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        root = Path(name) / "set"
        chosen = [f"preset={arguments.preset}"] if arguments.preset else []
        command = [sys.executable, "-m", "harness", "prepare", str(folder), f"references.root={root}", *chosen]
        subprocess.run(command, cwd=name, check=True, stdout=sys.stderr)
        server = ServerThread(StagingSource(LabelStore(root)), Path(name) / "mlruns")
        server.start()
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        hand, each = Hand(page), list[int]()
        first = server.get("/api/queue?dimension=persons")["first"]
        open_editor(page, server, f"/persons/{first}#continue")
        for _ in truth:
            sha256 = page.url.split("/")[-1][:64]
            before = sum(hand.actions.values())
            label(hand, server.photo(sha256), truth[sha256])
            complete(hand, server, sha256, truth[sha256])
            last = server.get("/api/progress")["states"]["untouched"] == 0
            hand.press("d", "done")
            if not last or len(each) + 1 < len(truth):
                page.wait_for_function("at => !location.href.includes(at)", arg=sha256)
            each.append(sum(hand.actions.values()) - before)
        saved(page)
        page.wait_for_timeout(1000)
        wrong = [text for sha256, people in truth.items() for text in missing(server.photo(sha256), people)]
        browser.close()
        server.stop()
    _tell(truth, hand, each, wrong, arguments.json)
    return 1 if wrong else 0


def _tell(truth: dict[str, list[Person]], hand: Hand, each: list[int], wrong: list[str], as_json: bool) -> None:
    total, photos = sum(hand.actions.values()), len(truth)
    runners = sum(map(len, truth.values()))
    if as_json:
        print(
            json.dumps(
                {"photos": photos, "runners": runners, "actions": dict(hand.actions), "each": each, "wrong": wrong}
            )
        )
        return
    print(f"{photos} photos, {runners} runners: {total} actions, {total / photos:.2f} a photo")
    print(f"median {sorted(each)[photos // 2]}, most {max(each)}, one or two: {sum(n <= 2 for n in each)} photos")
    for why, count in hand.actions.most_common():
        print(f"  {count:5}  {why}")
    for text in wrong:
        print(f"WRONG: {text}")


if __name__ == "__main__":
    sys.exit(main())
