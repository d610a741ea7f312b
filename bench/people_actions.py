"""How many actions does it take to say who is who? A script labels a folder of people on `/people/`, in a real browser.

It acts as a person would who knows everybody: it looks at the current group, clicks the faces that do not belong to the
others and names them, and names the rest, each with the fewest keys that the page offers at that moment: Enter where
the proposed name is right, a digit or a click where the person is shown beside it, or else by typing. Before it types,
it takes along the faces of that person that the page shows as alike, by a click, and others that are in sight, with
Ctrl held. A key press, a click, every typed character and holding Ctrl is one action. The folder has one folder of
pictures a person; the largest face of a picture is theirs, and other faces are left alone. In the end the labels are
read from disk and compared with the folders.

    .venv/bin/python -m bench.people_actions ~/lfw --names anonymous
    .venv/bin/python -m bench.people_actions ~/tgc --names typed --set identity=arcface

`--names`: `anonymous` presses B for somebody new, `typed` types the folder's name, `listed` has all names on a start
list, so that a few letters find one, `mixed` has those on it who are in several pictures, and presses B for the others.
`--one-by-one` switches on T: the name field opens by itself. Naming every picture singly takes the characters of each
name and Enter; on the faces page also A and Enter before it, and D after it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright
from tests.browser.conftest import FLAGS
from tests.browser.labeling_server import ServerThread

from harness.building import build_finder, build_pipeline
from harness.config import compose
from harness.labeling.source import StagingSource
from harness.pipeline.prepare import copy_in, suggest
from harness.references.photo_files import find_photos
from harness.references.start_list import Entrant, StartList
from harness.references.store import LabelStore

#: No person would go on: something is wrong with the page or with the script.
_MOST_ROUNDS = 20_000
#: So many people have a digit; others who are shown can be clicked.
KEYED = 9
#: Faces that are wholly in the window, with what is shown of each.
_SEEN = """() => {
  const { top, bottom } = document.querySelector("#groups").getBoundingClientRect();
  const inside = (box) => box.top >= top && box.bottom <= bottom;
  return [...document.querySelectorAll("#groups .crop")]
    .filter((crop) => inside(crop.getBoundingClientRect()))
    .map((crop) => [crop.dataset.face, crop.querySelector("img").getAttribute("src")]);
}"""
_ALIKE = """() => [...document.querySelectorAll("#alike button")].map(
  (button) => [button.dataset.face, button.querySelector("img").getAttribute("src")])"""
_IDLE = 'body[data-fresh="true"]:has(#saving[data-state="saved"])'


@dataclass
class Hands:
    """What is done to the page, counted."""

    page: Page
    actions: Counter[str] = field(default_factory=Counter)

    def press(self, key: str) -> None:
        """One key."""
        self.actions["keys"] += 1
        self.page.keyboard.press(key)

    def write(self, text: str) -> None:
        """Text, each character of which counts."""
        self.actions["characters"] += len(text)
        self.page.keyboard.type(text)

    def click(self, face: str) -> None:
        """A face in the list."""
        self.actions["clicks"] += 1
        self.page.locator(f'.crop[data-face="{face}"]').click()

    def click_person(self, name: str) -> None:
        """Somebody beside the list."""
        self.actions["clicks"] += 1
        self.page.locator("#near, #more").get_by_title(name, exact=True).click()

    def take_alike(self, face: str) -> None:
        """A face that looks like the group."""
        self.actions["clicks"] += 1
        self.page.locator(f'#alike [data-face="{face}"]').click()

    def take_along(self, faces: list[str]) -> None:
        """Faces of other groups, with Ctrl held down."""
        self.actions["keys"] += 1
        self.page.keyboard.down("Control")
        for face in faces:
            self.click(face)
        self.page.keyboard.up("Control")

    @property
    def total(self) -> int:
        """All actions so far."""
        return sum(self.actions.values())

    def wait(self) -> None:
        """Until the page has saved, and regrouped what is left; no action."""
        self.page.wait_for_selector(_IDLE, state="attached", timeout=120_000)


@dataclass
class Labeller:
    """Somebody who knows everybody, at work. `truth` has the person of each photo, `main` the name of its own face by
    place; `bystanders` get no name but `anonymous_N`; `called` is what people are called on the page by now."""

    hands: Hands
    truth: dict[str, str]
    main: dict[str, str]
    bystanders: frozenset[str]
    called: dict[str, str] = field(default_factory=dict)

    def work(self) -> None:
        """Go on until nothing is left to name."""
        for _ in range(_MOST_ROUNDS):
            self.hands.wait()
            if (group := self._current()) is None:
                return
            self._answer(group)
        raise AssertionError(f"not done after {_MOST_ROUNDS} rounds")

    def _current(self) -> Any:
        """The group that the page shows as the current one, as the person sees it."""
        head = self.hands.page.locator("[data-group].current").first
        if not self.hands.page.locator("[data-group].current").count():
            return None
        wanted = head.get_attribute("data-group")
        answer = self.hands.page.request.get("/api/people/groups").json()
        return next(group for group in answer["groups"] if group["id"] == wanted)

    def _who(self, face: Any) -> str | None:
        """Whose face it is; None for somebody in the background."""
        return self.truth[face["photo"]] if self.main[face["photo"]] == face["crop"] else None

    def _answer(self, group: Any) -> None:
        """Say who is in the group: those who do not belong first, then the rest."""
        there = Counter(self._who(face) for face in group["faces"])
        who = min(there, key=lambda name: (there[name], name or ""))
        if len(there) > 1:
            for face in group["faces"]:
                if self._who(face) == who:
                    self.hands.click(face["face"])
        self._name(group, who)

    def _name(self, group: Any, who: str | None) -> None:
        """Name the selected faces, or all, with the fewest keys."""
        name = None if who is None else self.called.get(who)
        shown = [near["name"] for near in group["nearest"]]
        if who is None:
            self._command("l")
        elif name is not None and group["proposal"] == name:
            self.hands.press("Enter")
        elif name is not None and name in shown and self._in_field:
            self.hands.click_person(name)
        elif name is not None and name in shown:
            self.hands.press(str(shown.index(name) + 1))
        elif name is not None and self._beyond(group, name):
            self.hands.click_person(name)
        elif name is None and who in self.bystanders:
            self._command("b")
            self.hands.wait()
            said = self.hands.page.locator("#message").inner_text()
            self.called[who] = said.rstrip(".").split(" named ")[1]
        else:
            self.called.setdefault(who, spoken(who))
            if group["proposal"] == self.called[who]:  # the number of the linked bib
                self.hands.press("Enter")
            else:
                alike = self._theirs(self._alike(group), who)
                for face in alike:
                    self.hands.take_alike(face)
                own = {*alike, *(face["face"] for face in group["faces"])}
                if others := [face for face in self._theirs(self.hands.page.evaluate(_SEEN), who) if face not in own]:
                    self.hands.take_along(others)
                self._type(self.called[who])

    def _theirs(self, seen: list[list[str]], who: str) -> list[str]:
        """Those of some faces, each with the picture of it, that are a person's."""
        return [face for face, crop in seen if self._who({"photo": face.partition(":")[0], "crop": crop}) == who]

    def _alike(self, group: Any) -> list[list[str]]:
        """The faces that the page shows as alike, once it does."""
        page = self.hands.page
        page.wait_for_function("id => document.querySelector('#alike').dataset.group === id", arg=group["id"])
        found: list[list[str]] = page.evaluate(_ALIKE)
        return found

    @property
    def _in_field(self) -> bool:
        """Whether keys go to the name field now, as the caret there shows."""
        return bool(self.hands.page.evaluate("document.activeElement.id === 'text'"))

    def _command(self, key: str) -> None:
        if self._in_field:
            self.hands.press("Escape")
        self.hands.press(key)

    def _beyond(self, group: Any, name: str) -> bool:
        """Whether somebody is shown for whom there is no key."""
        if len(group["nearest"]) < KEYED:
            return False
        answer = self.hands.page.request.get("/api/people/more", params={"group": group["id"]}).json()
        return name in [near["name"] for near in answer["nearest"][KEYED:]]

    def _type(self, name: str) -> None:
        """A name: letter by letter, until it is offered with a key, or first or second."""
        if not self._in_field:
            self.hands.press("n")
        words = name.split()
        # Somebody in a hurry types the first letter of the first name, and then the family name.
        letters = words[0][0] + "".join(words[1:]) if len(words) > 1 else name
        for letter in letters:
            self.hands.write(letter.lower())
            chosen, keyed, offers = self._offers()
            if keyed and name in offers[1:]:
                return self.hands.press(str(offers.index(name) + 1))
            if chosen and name in offers[:2]:
                for _ in range(offers.index(name)):
                    self.hands.press("ArrowDown")
                return self.hands.press("Enter")
            if not chosen and name in offers and offers.index(name) + 1 < len(name) - self._typed:
                for _ in range(offers.index(name) + 1):
                    self.hands.press("ArrowDown")
                return self.hands.press("Enter")
        if letters != name:  # nobody offered it: as it is written
            self.hands.press("Control+a")
            self.hands.write(name)
        return self.hands.press("Enter")

    @property
    def _typed(self) -> int:
        return len(self.hands.page.locator("#text").input_value())

    def _offers(self) -> tuple[bool, bool, list[str]]:
        """What the page offers, and whether Enter takes the first of it, and a digit any."""
        offers = self.hands.page.locator("#offers:not([hidden]) [role=option]")
        names = offers.locator("span").all_inner_texts()
        chosen = bool(names) and offers.first.get_attribute("aria-selected") == "true"
        return chosen, chosen and offers.first.locator("kbd").count() > 0, names


def spoken(folder: str) -> str:
    """What somebody is called whose folder has this name."""
    return folder.replace("_", " ")


def label(
    folder: Path, root: Path, names: str, overrides: list[str], people: int | None, one_by_one: bool
) -> dict[str, Any]:
    """Label the pictures of a folder; what it took, and how many faces are labelled as the folders say."""
    config = compose(["references=staging", f"references.root={root}", "preset=fast", *overrides])
    store = LabelStore(root)
    chosen = sorted(path for path in folder.iterdir() if path.is_dir())[:people]
    truth = {hashlib.sha256(p.read_bytes()).hexdigest(): p.parent.name for d in chosen for p in find_photos(d)}
    if not (root / "photo_index.json").is_file():
        for each in chosen:
            copy_in(store, each)
        suggest(store, build_pipeline(config))
    pictures = Counter(truth.values())
    named_only = {who for who, count in pictures.items() if count > 1}
    bystanders = {"anonymous": set(pictures), "mixed": set(pictures) - named_only}.get(names, set())
    if names in ("listed", "mixed"):
        with store.edit() as draft:
            listed = [Entrant(name=spoken(who)) for who in sorted(set(pictures) - bystanders)]
            draft.put_head(StartList, entrants=listed)
    server = ServerThread(StagingSource(store), root / "mlruns", lambda: build_finder(config))
    server.start()
    try:
        with sync_playwright() as playwright:
            path = os.environ.get("HARNESS_BROWSER") or shutil.which("chromium")
            browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
            page = browser.new_page(viewport={"width": 1440, "height": 900}, base_url=server.address)
            page.goto("/people/")
            hands = Hands(page)
            page.wait_for_selector(_IDLE, state="attached", timeout=3_600_000)
            worker = Labeller(hands, truth, _main_faces(server), frozenset(bystanders))
            if one_by_one:
                hands.press("t")
            worker.work()
            browser.close()
    finally:
        server.stop()
    return _result(LabelStore(root), worker)


def _main_faces(server: ServerThread) -> dict[str, str]:
    """The crop of the largest face of each photo, as pages know it."""
    from harness.labeling.people.routes import crop_address

    found = {}
    for photo, faces in server.context.people.index().photos.items():
        if faces:
            largest = max(faces, key=lambda face: face.place[2] * face.place[3])
            found[photo] = crop_address(photo, largest.place)
    return found


def _result(store: LabelStore, worker: Labeller) -> dict[str, Any]:
    faces = store.contents().faces.photos
    wanted = {photo: worker.called.get(who) for photo, who in worker.truth.items() if photo in worker.main}
    right = sum(
        [box.identity for box in faces[photo].boxes if box.identity] == [name] for photo, name in wanted.items()
    )
    pictures, hands = len(wanted), worker.hands
    singly = sum(len(worker.truth[photo]) + 1 for photo in wanted)
    return {
        "pictures with a face": pictures,
        "people": len({worker.truth[photo] for photo in wanted}),
        "labelled as the folders say": right,
        "actions": hands.total,
        **hands.actions,
        "actions a picture": round(hands.total / pictures, 3),
        "naming each picture singly": singly,
        "share of that": round(hands.total / singly, 3),
        "share of the faces page": round(hands.total / (singly + 3 * pictures), 3),
    }


def main() -> None:
    """Label a folder, and tell what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="one folder of pictures a person")
    parser.add_argument("--root", type=Path, help="a set that was prepared from it before; it is copied")
    parser.add_argument("--names", choices=("anonymous", "typed", "listed", "mixed"), default="anonymous")
    parser.add_argument("--one-by-one", action="store_true", help="type names one after the other (T)")
    parser.add_argument("--people", type=int, help="so many people only, the first by name")
    parser.add_argument("--set", action="append", default=[], help="an override of the config, as identity=arcface")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as beside:
        root = Path(beside) / "set"
        if arguments.root:
            shutil.copytree(arguments.root, root)
        told = label(arguments.folder, root, arguments.names, arguments.set, arguments.people, arguments.one_by_one)
        for name, value in told.items():
            print(f"{name:32} {value}")


if __name__ == "__main__":
    main()
