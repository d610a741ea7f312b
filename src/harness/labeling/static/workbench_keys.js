/** The keys of the identity workbench. */
import { command } from "./parts/keys.js";

const DIGITS = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/** @param {import("./workbench.js").Workbench} bench @returns {import("./parts/keys.js").Command[]} */
export const workbenchCommands = (bench) => [
  command("Groups", "ArrowDown j", "next group", () => bench.go(1)),
  command("Groups", "ArrowUp k", "previous group", () => bench.go(-1)),
  command("Groups", "ArrowRight", "next face of the group; from a face that is alone, the next group", () => bench.step(1)),
  command("Groups", "ArrowLeft", "previous face of the group", () => bench.step(-1)),
  command("Groups", "Space", "select the face, or not", (event) => bench.toggle(event)),
  command("Groups", "", "take a face of another group along", () => false, "Ctrl+click"),
  command("Groups", "a", "select all faces of the group, or none", () => bench.toggleAll()),
  command("Name", "Enter", "accept the proposed name, or type one", (event) => bench.accept(event)),
  command("Name", "n", "type a name; a few letters bring up who is on the start list", () => bench.text.focus()),
  command("Name", "t", "type one name after the other: the name field opens by itself, or not", () => bench.toggleTyping()),
  ...DIGITS.map((n) =>
    command("Name", String(n), "the person shown under this digit", () => bench.nearest(n - 1), n === 1 ? "1 … 9" : ""),
  ),
  command("Name", "b", "bystander: the next anonymous_N", () => bench.act("anonymous")),
  command("Name", "l", "leave alone: needs no name", () => bench.act("leave")),
  command("Say", "s", "split off the selected faces: somebody else", () => bench.split()),
  command("Say", "m", "move: take up, and put down on another group", () => bench.carry()),
  command("Say", "x", "not this person", () => bench.notPerson()),
  command("Say", "=", "same person, whoever it is", () => bench.same()),
  command("Say", "Delete", "not a face", () => bench.act("not_faces")),
  command("Edit", "Control+z u", "undo", () => bench.changes.undo()),
  command("Edit", "Control+Shift+z Control+y", "redo", () => bench.changes.redo()),
  command("Edit", "Escape", "select nothing, put nothing down", () => bench.escape()),
  command("Edit", "o", "open the photo in the editor", () => bench.open()),
  command("Edit", "?", "show these keys", () => bench.help.showModal()),
];

/** What each button does, by its id. @param {import("./workbench.js").Workbench} bench @returns {Record<string, () => void>} */
export const workbenchButtons = (bench) => ({
  accept: () => bench.accept(),
  typing: () => bench.toggleTyping(),
  bystander: () => bench.act("anonymous"),
  leave: () => bench.act("leave"),
  split: () => bench.split(),
  carry: () => bench.carry(),
  "not-person": () => bench.notPerson(),
  same: () => bench.same(),
  "not-face": () => bench.act("not_faces"),
  open: () => bench.open(),
  undo: () => bench.changes.undo(),
  "show-help": () => bench.help.showModal(),
});
