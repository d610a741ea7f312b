/** The keys of the pass person by person. */
import { SCOPES } from "./model/persons.js";
import { command, verdict } from "./parts/keys.js";
import { viewCommands } from "./parts/view_keys.js";
import { MEANING, scopeWord } from "./parts/words.js";

/** @param {import("./persons_editor.js").PersonsEditor} editor @returns {import("./parts/keys.js").Command[]} */
export const personCommands = (editor) => [
  command("Person", "a", "accept this person as suggested, and go to the next", () => editor.accept()),
  command("Person", "Shift+a", "accept everybody who is left", () => editor.acceptAll()),
  command("Person", "x", "not a person; on to the next", () => editor.reject()),
  command("Person", "Enter", "accept, and type the number", (event) => editor.enter(event)),
  command("Person", "w", "accept, and type who it is", () => editor.who()),
  command("Person", "l", "link with the nearest bib or face, or take the link away", () => editor.link()),
  command("Person", "Tab Shift+Tab", "next person, previous person", (event) => editor.tab(event), "Tab Shift+Tab"),
  command("Person", "Delete Backspace", "delete the boxes of this person", () => editor.remove()),
  ...SCOPES.map(({ scope }, at) =>
    command("Boxes", String(at + 1), `${scopeWord(scope)}: ${MEANING[scope]}`, () => editor.setScope(at)),
  ),
  command("Boxes", "b", "draw a bib next", () => editor.setDraws("bibs")),
  command("Boxes", "c", "draw a face next", () => editor.setDraws("faces")),
  verdict("Photos", "d", "everybody in this photo is done; next", () => void editor.done()),
  verdict("Photos", "n", "nobody in this photo; next", () => void editor.none()),
  command("Photos", "s", "other split", () => editor.otherSplit()),
  command("View", "h", "hide or show suggestions", () => editor.toggleGhosts()),
  ...viewCommands(editor.stage, () => editor.zoomToPerson()),
  command("Edit", "Escape", "take back a gesture, select nobody, leave the photo", () => editor.escape()),
];
