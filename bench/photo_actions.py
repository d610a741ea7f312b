"""How many actions does it take to label a photo, person by person, with suggestions?

    .venv/bin/python -m bench.photo_actions FOLDER [--preset NAME]

FOLDER has photos with true labels beside them, as the RBNR set has them (`NAME.JPG.mat`: bibs, numbers, faces, links).
The photos are prepared as a user does it. Then a script that knows the true labels works through the real pages in a
real browser, as a person would: it accepts who is suggested rightly, corrects numbers, says what is no bib, takes apart
who does not belong together, links and draws what is missing, and calls each photo done. An action is a key press, a
click or a drag; each typed character counts, and so does Shift.

A suggested bib is right where it shows a true one, which no other suggestion shows better; any other is rejected. The
true labels have no bystanders, so that nobody can say here whether the face of one is a face: they are accepted, each
that is none would take one key more, and with `--one-by-one` each is answered with a key of its own, as A and X are one
key, and never with everybody at once. In the end the labels are read from disk and compared with the true ones: boxes
one to one, numbers, links, and names, which have to be the numbers.
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
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright
from tests.browser.conftest import FLAGS
from tests.browser.labeling_server import ServerThread, centre, drag, in_window, open_editor, saved

from bench.photo_truth import SAID, Agreement, Person, fits_bib, matched, people_of
from harness.formats.rbnr import read_set
from harness.labeling.source import StagingSource
from harness.references.completeness import completeness
from harness.references.files import BoxRecord
from harness.references.labels import view
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


def label(hand: Hand, photo: Json, people: list[Person], one_by_one: bool) -> None:
    """Answer what is suggested for the photo that is open, as somebody who knows the true labels would."""
    answers, strangers = _answers(photo["ghosts"], people)
    doubted = strangers if one_by_one else set()
    while (chosen := _selected(hand.page)) in answers:
        if len(answers) > 2 and not doubted & answers.keys() and set(answers.values()) == {"accept"}:
            return hand.press("Shift+A", "accept")
        answer = answers.pop(chosen)
        if answer.startswith("apart "):
            hand.press("l", "take apart")
            _, bib, right = answer.split(" ")
            answers |= {chosen: "accept", bib: right}
        elif answer == "accept":
            hand.press("a", "answer a face without a true runner" if chosen in strangers else "accept")
        elif answer == "reject":
            hand.press("x", "reject")
        else:
            hand.press("Enter", "correct a number")
            hand.type(answer, "correct a number")
    return None


def _selected(page: Page) -> str:
    """The row that is selected; "" where none is."""
    chosen = page.locator("#boxes [role=option][aria-selected=true]")
    return (chosen.get_attribute("data-id") or "") if chosen.count() else ""


def _answers(ghosts: Json, people: list[Person]) -> tuple[dict[str, str], set[str]]:
    """What to do about each suggested person, by the id of its row; and the rows with a face that no runner has."""
    bibs, faces = ([_record(box) for box in ghosts[kind]] for kind in ("bibs", "faces"))
    own_bibs = matched(bibs, [person.bib for person in people], fits_bib)
    own_faces = matched(faces, [person.face for person in people], same_place)
    right = dict.fromkeys(range(len(bibs)), "reject")
    for at, bib in own_bibs.items():
        number = people[at].number
        right[bib] = "accept" if ghosts["bibs"][bib]["number"] == number else number
    pairs = [(bib, face) for bib, face in ghosts["links"]]
    true = {(own_bibs.get(at), own_faces.get(at)) for at in range(len(people))}
    answers = {f"bib-ghost-{bib}": right[bib] for bib in right if bib not in dict(pairs)}
    answers |= {f"face-ghost-{face}": "accept" for face in range(len(faces))}
    for pair in pairs:
        bib, face = pair
        answers[f"face-ghost-{face}"] = right[bib] if pair in true else f"apart bib-ghost-{bib} {right[bib]}"
    return answers, {f"face-ghost-{face}" for face in range(len(faces)) if face not in own_faces.values()}


def _record(box: Json) -> BoxRecord:
    return BoxRecord(**{side: box[side] for side in "xywh"})


@dataclass(frozen=True)
class Found:
    """The boxes of one runner, as they are saved; None where there is none."""

    bib: Json | None
    face: Json | None
    linked: bool
    others: tuple[Json, ...]  #: bibs that are linked with the face, or faces with the bib, but should not be


def _found(server: ServerThread, sha256: str, people: list[Person], person: Person) -> Found:
    now = server.photo(sha256)
    bibs, faces = now["bibs"]["boxes"], now["faces"]["boxes"]
    real = [at for at, box in enumerate(bibs) if box["scope"] != "not_bib"]
    heads = [at for at, box in enumerate(faces) if box["scope"] != "exclude"]
    own_bibs = matched([_record(bibs[at]) for at in real], [each.bib for each in people], fits_bib)
    own_faces = matched([_record(faces[at]) for at in heads], [each.face for each in people], same_place)
    at = people.index(person)
    bib = real[own_bibs[at]] if at in own_bibs else None
    face = heads[own_faces[at]] if at in own_faces else None
    links = [(b, f) for b, f in now["links"] or []]
    wrong = [faces[f] for b, f in links if b == bib and f != face] + [
        bibs[b] for b, f in links if f == face and b != bib
    ]
    return Found(
        bib=None if bib is None else bibs[bib],
        face=None if face is None else faces[face],
        linked=(bib, face) in links,
        others=tuple(wrong),
    )


def complete(hand: Hand, server: ServerThread, sha256: str, people: list[Person]) -> None:
    """Draw and link what nobody suggested."""
    for person in people:
        _complete(hand, person, partial(_found, server, sha256, people, person))


def _complete(hand: Hand, person: Person, look: Callable[[], Found]) -> None:
    """The same for one runner; `look` says what is saved by now."""

    def now() -> Found:
        saved(hand.page)
        return look()

    for other in now().others:
        hand.click(other, "link")
        hand.press("l", "link")
    found = now()
    if found.bib is None:
        _draw(hand, found.face, "bib", person.bib)
        hand.type(person.number, "draw a bib")
        found = now()
    if found.face is None:
        _draw(hand, found.bib, "face", person.face)
    elif not found.linked and found.bib is not None:
        _link(hand, found, lambda: now().linked)


def _draw(hand: Hand, beside: Json | None, what: str, box: BoxRecord) -> None:
    """Draw a bib or a face, which is linked at once with the box that is selected."""
    why = f"draw a {what}"
    if beside is None:
        hand.press("Escape", why)
    else:
        hand.click(beside, why)
    if hand.page.locator(f"#draw-{what}").get_attribute("aria-pressed") != "true":
        hand.press("b" if what == "bib" else "c", why)
    hand.draw(box.model_dump(), why)


def _link(hand: Hand, found: Found, linked: Callable[[], bool]) -> None:
    """Link a bib with a face: from either, as the page takes what is nearest; a wrong link is taken back."""
    for box in (found.bib, found.face):
        assert box is not None
        hand.click(box, "link")
        hand.press("l", "link")
        if linked():
            return
        hand.press("Control+z", "link")


def main() -> int:
    """Prepare, label, count, compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--preset", default="")
    parser.add_argument("--root", type=Path, help="a set that was prepared from it before; it is copied")
    parser.add_argument("--one-by-one", action="store_true", help="a key for each face of a bystander")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    truth = {
        hashlib.sha256(each.path.read_bytes()).hexdigest(): people_of(each) for each in read_set(folder, None).photos
    }
    path = os.environ.get("HARNESS_BROWSER") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        root = Path(name) / "set"
        if arguments.root:
            shutil.copytree(arguments.root, root)
        else:
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
            label(hand, server.photo(sha256), truth[sha256], arguments.one_by_one)
            complete(hand, server, sha256, truth[sha256])
            last = server.get("/api/progress")["states"]["untouched"] == 0
            hand.press("d", "done")
            if not last or len(each) + 1 < len(truth):
                page.wait_for_function("at => !location.href.includes(at)", arg=sha256)
            each.append(sum(hand.actions.values()) - before)
        saved(page)
        page.wait_for_timeout(1000)
        browser.close()
        server.stop()
        agreement, store = Agreement(), LabelStore(root)
        for sha256, people in truth.items():
            agreement.add(view(store, sha256), completeness(store.contents(), sha256).complete, people)
    _tell(truth, hand, each, agreement, arguments.json)
    return 1 if agreement.wrong else 0


def _tell(truth: dict[str, list[Person]], hand: Hand, each: list[int], found: Agreement, as_json: bool) -> None:
    total, photos = sum(hand.actions.values()), len(truth)
    if as_json:
        told = {"photos": photos, "actions": dict(hand.actions), "each": each, **asdict(found)}
        return print(json.dumps(told))
    print(f"{photos} photos, {found.runners} runners: {total} actions, {total / photos:.2f} a photo")
    print(f"median {sorted(each)[photos // 2]}, most {max(each)}, one or two: {sum(n <= 2 for n in each)} photos")
    for why, count in hand.actions.most_common():
        print(f"  {count:5}  {why}")
    print(
        "saved as the true labels say: " + ", ".join(f"{what} {found.found[what]} of {found.runners}" for what in SAID)
    )
    print("saved beyond them: " + ", ".join(f"{count} {what}" for what, count in found.more.items()))
    for text in found.wrong:
        print(f"WRONG: {text}")
    return None


if __name__ == "__main__":
    sys.exit(main())
