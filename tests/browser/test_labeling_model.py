"""The editor's model in a real browser, without a server: rules that hold for any box, view and order of answers."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route

pytestmark = pytest.mark.browser

STATIC = Path(str(files("harness.labeling"))) / "static"
ORIGIN = "http://model.test"

#: A small generator of numbers that are the same in every run, and boxes made with it.
PRELUDE = """
let seed = 12345;
const random = () => ((seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648);
const photo = { width: 6000, height: 4000 };
const someBox = () => {
  const [x, y] = [random() * 0.9, random() * 0.9];
  return { x, y, w: 0.001 + random() * (0.999 - x), h: 0.001 + random() * (0.999 - y) };
};
const check = (holds, what) => { if (!holds) throw new Error(JSON.stringify(what)); };
"""


@pytest.fixture(scope="module")
def model(browser: Browser) -> Iterator[Page]:
    """An empty page that can import the modules."""
    page = browser.new_page()

    def serve(route: Route) -> None:
        path = route.request.url.removeprefix(ORIGIN + "/")
        if path:
            route.fulfill(path=STATIC / path, content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html><title>model</title>", content_type="text/html")

    page.route(f"{ORIGIN}/**", serve)
    page.goto(ORIGIN + "/")
    yield page
    page.close()


def run(page: Page, imports: str, body: str) -> Any:
    """Run JavaScript with names from modules: `geometry: resized moved`."""
    lines = [
        f"const {{ {names.strip().replace(' ', ', ')} }} = await import('/model/{module.strip()}.js');"
        for module, names in (part.split(":") for part in imports.split(";"))
    ]
    return page.evaluate("async () => {" + PRELUDE + "\n".join(lines) + body + "}")


def test_a_handle_changes_its_own_edges_and_no_other_to_the_last_bit(model: Page) -> None:
    run(
        model,
        "geometry: HANDLES resized",
        """
        for (let i = 0; i < 20000; i++) {
          const box = someBox(), handle = HANDLES[i % 8];
          const next = resized(box, handle, { x: random() * 2 - 1, y: random() * 2 - 1 }, photo);
          const what = { box, handle, next };
          if (!handle.includes("w")) check(next.x === box.x, what);
          if (!handle.includes("n")) check(next.y === box.y, what);
          if (!handle.includes("e")) check(next.x + next.w === box.x + box.w, what);
          if (!handle.includes("s")) check(next.y + next.h === box.y + box.h, what);
          if (!/[we]/.test(handle)) check(next.w === box.w, what);
          if (!/[ns]/.test(handle)) check(next.h === box.h, what);
          check(next.x >= 0 && next.y >= 0 && next.x + next.w <= 1 && next.y + next.h <= 1, what);
          check(next.w > 0 && next.h > 0, what);
        }
        """,
    )


def test_a_move_keeps_the_size_and_stays_in_the_photo(model: Page) -> None:
    run(
        model,
        "geometry: moved step",
        """
        for (let i = 0; i < 20000; i++) {
          const box = someBox(), next = moved(box, { x: random() * 2 - 1, y: random() * 2 - 1 });
          check(next.w === box.w && next.h === box.h, { box, next });
          check(next.x >= 0 && next.y >= 0 && next.x + next.w <= 1 && next.y + next.h <= 1, { box, next });
        }
        const box = { x: 0.5, y: 0.5, w: 0.1, h: 0.1 };
        check(Math.abs(moved(box, step("ArrowRight", 10, photo)).x - (0.5 + 10 / 6000)) < 1e-9, "10 pixels");
        check(moved(box, step("ArrowRight", 10, photo)).y === 0.5, "the other axis");
        """,
    )


def test_zoom_keeps_what_is_under_the_cursor(model: Page) -> None:
    run(
        model,
        "view: fitted zoomed toPhoto toWindow",
        """
        const room = { width: 1100, height: 800 };
        for (let i = 0; i < 2000; i++) {
          const view = zoomed(fitted(room, photo), { x: 550, y: 400 }, 1 + random() * 8, room, photo);
          const at = { x: 300 + random() * 500, y: 200 + random() * 400 };
          const next = zoomed(view, at, 0.9 + random() * 0.4, room, photo);
          const before = toPhoto(view, at, photo), after = toWindow(next, before, photo);
          check(Math.hypot(after.x - at.x, after.y - at.y) < 1e-6, { at, after });
        }
        """,
    )


def test_the_smallest_box_is_on_top_and_corners_come_before_edges(model: Page) -> None:
    found = run(
        model,
        "hit: boxesAt cycled handleAt",
        """
        const large = { id: "large", x: 0, y: 0, w: 1, h: 1 }, small = { id: "small", x: 0.4, y: 0.4, w: 0.2, h: 0.2 };
        const undrawn = { id: "undrawn", x: 0.5, y: 0.5, w: 0, h: 0 };
        const box = { x: 100, y: 100, w: 200, h: 100 };
        return {
          order: boxesAt([large, undrawn, small], { x: 0.5, y: 0.5 }).map((b) => b.id),
          round: [cycled([1, 2, 3], 3, 1), cycled([1, 2, 3], 1, -1), cycled([1, 2, 3], null, 1), cycled([], null, 1)],
          handles: [[100, 100], [200, 102], [298, 203], [200, 150]].map(([x, y]) => handleAt(box, { x, y })),
        };
        """,
    )
    assert found == {
        "order": ["small", "large"],
        "round": [1, 3, 1, None],
        "handles": ["nw", "n", "se", None],
    }


def test_undo_and_redo_go_through_every_state_and_quick_nudges_are_one(model: Page) -> None:
    states = run(
        model,
        "history: History",
        """
        let now = 0;
        const history = new History("start", () => now);
        for (const state of ["a", "b", "c"]) history.push(state);
        history.push("c1", "arrow"); now += 300; history.push("c2", "arrow"); now += 5000; history.push("c3", "arrow");
        const seen = [];
        while (history.undo()) seen.push(history.state);
        while (history.redo()) seen.push(history.state);
        history.undo(); history.push("other");
        return [...seen, history.redo(), history.state];
        """,
    )
    assert states == ["c2", "c", "b", "a", "start", "a", "b", "c", "c2", "c3", False, "other"]


def test_answers_to_ghosts_add_boxes_and_leave_labels_alone(model: Page) -> None:
    seen = run(
        model,
        "ghosts: accepted allAccepted ghostsOf openGhosts rejected; labels: labelsOf without",
        """
        const bib = (x, number) => ({ x, y: 0.5, w: 0.1, h: 0.1, number, scope: "bib", tags: [] });
        const ghost = (x, number) => ({ x, y: 0.5, w: 0.1, h: 0.1, number, score: 0.9 });
        const suggested = [ghost(0.7, "3"), ghost(0.1, "8"), ghost(0.4, "2"), ghost(0.42, "2")];
        const bibs = { labeled: false, boxes: [bib(0.11, "7")], tags: ["no_bib"] };
        const record = { revision: "1.1.1.1", split: "iteration", bibs, ghosts: { bibs: suggested, faces: [] } };
        const { doc } = labelsOf(record, "bibs"), ghosts = ghostsOf(record, "bibs");
        const open = openGhosts(ghosts, doc).map((g) => g.number);
        const one = accepted(doc, openGhosts(ghosts, doc)[0], "bibs");
        const two = rejected(one.doc, openGhosts(ghosts, one.doc)[0], "bibs");
        const all = allAccepted(doc, openGhosts(ghosts, doc), "bibs");
        return { open, human: two.doc.boxes[0] === doc.boxes[0],
                 boxes: two.doc.boxes.map((b) => [b.number, b.scope]), tags: two.doc.tags,
                 left: openGhosts(ghosts, two.doc).length,
                 back: openGhosts(ghosts, without(two.doc, two.id)).map((g) => g.number),
                 all: all.boxes.map((b) => b.number) };
        """,
    )
    assert seen == {
        "open": ["2", "2", "3"],
        "human": True,
        "boxes": [["7", "bib"], ["2", "bib"], [None, "not_bib"]],
        "tags": [],
        "left": 0,
        "back": ["3"],
        "all": ["7", "2", "3"],
    }


def test_a_save_says_which_box_was_which_also_over_another_version(model: Page) -> None:
    seen = run(
        model,
        "labels: adopted bodyOf labelsOf sameLabels withBox without",
        """
        const bib = (x, number) => ({ x, y: 0.5, w: 0.1, h: 0.1, number, scope: "bib", tags: [] });
        const record = (...boxes) =>
          ({ revision: "1.1.1.1", split: "iteration", bibs: { labeled: false, boxes, tags: [] } });
        const { doc, base } = labelsOf(record(bib(0.1, "1"), bib(0.4, "2"), bib(0.7, "3")), "bibs");
        const mine = withBox(without(doc, doc.boxes[0].id), { x: 0, y: 0, w: 0.05, h: 0.05 }, "bibs").doc;
        const theirs = adopted(mine, record(bib(0.71, "3"), bib(0.9, "9"), bib(0.4, "22")), "bibs");
        return { mine: bodyOf(mine, base).origins, over: bodyOf(mine, theirs.base).origins,
                 theirs: bodyOf(theirs.doc, theirs.base).origins, same: sameLabels(mine, doc) };
        """,
    )
    assert seen == {"mine": [1, 2, None], "over": [2, 0, None], "theirs": [0, 1, 2], "same": False}


def test_links_follow_boxes_and_suggestions_need_free_ends(model: Page) -> None:
    seen = run(
        model,
        "pairs: dismissedLink followed nearest openSuggestions toggledLink",
        """
        const box = (x, y) => ({ x, y, w: 0.1, h: 0.1 });
        const scene = (bibs, faces) => ({ bibs: { boxes: bibs }, faces: { boxes: faces } });
        const before = scene([box(0, 0.5), box(0.3, 0.5), box(0.6, 0.5)], [box(0, 0.1), box(0.3, 0.1)]);
        const now = scene([box(0.31, 0.5), box(0, 0.5)], [box(0.3, 0.1), box(0, 0.1)]);
        const doc = toggledLink({ links: null, dismissed: [], labeled: false }, [0, 0]);
        return { followed: followed([[0, 0], [1, 1], [2, 1]], before, now), none: followed(null, before, now),
                 open: openSuggestions([[0, 1], [1, 0], [1, 1], [2, 2]], dismissedLink(doc, [2, 2])),
                 again: toggledLink(doc, [0, 0]).links, nearest: nearest(box(0.28, 0.4), before.faces.boxes) };
        """,
    )
    assert seen == {"followed": [[1, 1], [0, 0]], "none": None, "open": [[1, 1]], "again": [], "nearest": [1, 0]}


def test_autosave_sends_the_latest_once_and_again_until_the_server_answers(model: Page) -> None:
    seen = run(
        model,
        "autosave: Autosave; drafts: Drafts",
        """
        const saved = (base) => ({ kind: "saved", base });
        const sent = [], states = [];
        const answers = [{ kind: "away" }, saved("r2"), saved("r3"), { kind: "conflict", theirs: "T" }, saved("r9")];
        let meanwhile = null;
        const keep = new Drafts(sessionStorage, "test");
        const send = async (...what) => {
          sent.push(what);
          meanwhile?.();
          meanwhile = null;
          return answers.shift();
        };
        const changed = (entry) => states.at(-1) === entry.state || states.push(entry.state);
        const saver = new Autosave({ keep, delay: 1, changed, send });
        const until = async (test) => {
          for (let i = 0; i < 300 && !test(); i++) await new Promise((next) => setTimeout(next, 10));
          check(test(), states);
        };
        saver.edit("p", "a", "r1"); saver.edit("p", "b", "r1");
        await until(() => saver.state === "away");
        const kept = keep.get("p");
        meanwhile = () => saver.edit("p", "c", "ignored: the entry knows its base");
        await until(() => saver.state === "saved");
        const dropped = keep.get("p");
        saver.edit("p", "d", "r3");
        await until(() => saver.state === "conflict");
        saver.edit("p", "e", "r3");
        await saver.flush();
        const held = [saver.state, keep.get("p").doc];
        saver.overwrite("p", "e", "r8");
        await until(() => saver.state === "saved");
        return { sent, states, kept, dropped, held, unsaved: saver.unsaved };
        """,
    )
    assert seen["sent"] == [
        ["p", "b", "r1"],
        ["p", "b", "r1"],
        ["p", "c", "r2"],
        ["p", "d", "r3"],
        ["p", "e", "r8"],
    ]
    assert seen["kept"] == {"doc": "b", "base": "r1"}
    assert seen["dropped"] is None
    assert seen["held"] == ["conflict", "e"]
    assert seen["unsaved"] == 0
    assert seen["states"][-1] == "saved"
