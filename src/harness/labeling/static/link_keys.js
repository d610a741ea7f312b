/** The keys of the editor of links. */
import { command, verdict } from "./parts/keys.js";
import { viewCommands } from "./parts/view_keys.js";

/** @param {import("./link_editor.js").LinkEditor} editor @returns {import("./parts/keys.js").Command[]} */
export const linkCommands = (editor) => [
  command(
    "Link",
    "Tab Shift+Tab",
    "next bib, previous bib (on the photo)",
    (event) => editor.tab(event),
    "Tab Shift+Tab",
  ),
  command(
    "Link",
    "1 2 3 4 5 6 7 8 9",
    "link the bib with this face, or unlink it",
    (event) => editor.digit(event),
    "1 … 9",
  ),
  command("Link", "ArrowLeft ArrowRight", "choose a face, nearest first", (event) => editor.nextFace(event), "← →"),
  command("Link", "Enter", "link the bib with the chosen face, or unlink it", (event) => editor.enter(event)),
  command("Link", "Delete Backspace", "take the bib's links away", () => editor.unlink()),
  command("Suggestions", "a", "accept, and go to the next", () => editor.accept()),
  command("Suggestions", "x", "reject, and go to the next", () => editor.reject()),
  command("Suggestions", "Shift+a", "accept all", () => editor.acceptAll()),
  verdict("Photos", "d", "the links of this photo are done; next", () => void editor.done()),
  verdict("Photos", "n", "no links in this photo; next", () => void editor.none()),
  ...viewCommands(editor.stage, () => editor.zoomToBib()),
  command("Edit", "Escape", "choose no face, leave the photo", () => editor.escape()),
];
