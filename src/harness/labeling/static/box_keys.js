/** The keys of the editor of bibs and of faces. */
import { accepted, rejected } from "./model/ghosts.js";
import { command, verdict } from "./parts/keys.js";
import { KEYS, NUMBER_KEY } from "./parts/known_people.js";
import { viewCommands } from "./parts/view_keys.js";
import { MEANING, scopeWord } from "./parts/words.js";

/** Every arrow key with some modifiers. @param {...string} before */
const arrows = (...before) =>
  before.flatMap((keys) => ["Left", "Right", "Up", "Down"].map((way) => `${keys}Arrow${way}`)).join(" ");

/** @param {import("./box_editor.js").BoxEditor} editor @returns {import("./parts/keys.js").Command[]} */
export function boxCommands(editor) {
  const { dimension, config, stage } = editor;
  /** @type {string[]} */
  const scopes = config.scopes;
  const text = dimension === "bibs" ? "type the number" : "type whose face it is";
  return [
    command("Box", "b", "new box in the middle of the window", () => editor.newBox()),
    command("Box", "Enter", text, (event) => editor.enter(event)),
    ...scopes.map((scope, at) =>
      command("Box", String(at + 1), `${scopeWord(scope)}: ${MEANING[scope]}`, () => editor.setScope(scope)),
    ),
    command(
      "Box",
      "Tab Shift+Tab",
      "next box, previous box (on the photo)",
      (event) => editor.tab(event),
      "Tab Shift+Tab",
    ),
    command("Box", "Delete Backspace", "delete the box", () => editor.remove()),
    command("Box", "t", "go to the tags; arrows and Space set them", () => editor.tags()),
    command("Move", arrows("", "Shift+"), "by 1 pixel, by 10", (event) => editor.arrow(event), "Arrows Shift+Arrows"),
    command(
      "Move",
      arrows("Control+", "Control+Shift+"),
      "the right or bottom edge",
      (event) => editor.arrow(event),
      "Control+Arrows",
    ),
    command("Move", arrows("Alt+", "Alt+Shift+"), "the left or top edge", (event) => editor.arrow(event), "Alt+Arrows"),
    command("Suggestions", "a", "accept, and go to the next", () => editor.answer(editor.selected, accepted)),
    command("Suggestions", "x", "reject, and go to the next", () => editor.answer(editor.selected, rejected)),
    command("Suggestions", "Shift+a", "accept all", () => editor.acceptAll()),
    ...(editor.known
      ? [
          ...KEYS.map((key, at) =>
            command("Suggestions", key, `this is known person ${at + 1} of those who look like it`, () => editor.nameAs(editor.known?.nameAt(key) ?? null)),
          ),
          command("Suggestions", NUMBER_KEY, "this is whoever wears the linked number", () => editor.nameAs(editor.known?.nameAt(NUMBER_KEY) ?? null)),
        ]
      : []),
    command("Suggestions", "h", "hide or show them", () => editor.toggleGhosts()),
    verdict("Photos", "d", `the ${dimension} of this photo are done; next`, () => void editor.done()),
    verdict("Photos", "n", `no ${dimension} in this photo; next`, () => void editor.none()),
    command("Photos", "s", "other split", () => editor.otherSplit()),
    ...viewCommands(stage, () => editor.zoomToBox()),
    command("Edit", "Escape", "take back a gesture, select nothing, leave the photo", () => editor.escape()),
  ];
}
