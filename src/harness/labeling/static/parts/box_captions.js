/** Boxes in words: the captions on the photo, and the photo for those who cannot see it. */
import { sameBox } from "../model/geometry.js";
import { scopeWord, scoreWord } from "./words.js";

/**
 * Labels and suggestions as shapes.
 * @param {import("../model/labels.js").Labels} doc
 * @param {readonly import("../model/ghosts.js").Ghost[]} ghosts
 * @param {string | null} selected
 * @param {string} dimension
 * @returns {import("./shapes.js").Shape[]}
 */
export const boxShapes = (doc, ghosts, selected, dimension) => [
  ...doc.boxes.map((box) => ({ box, kind: `${dimension} ${box.scope}`, text: caption(box), ...marked(box, selected) })),
  ...ghosts.map((box) => ({ box, kind: "ghost", text: ghostCaption(box), ...marked(box, selected) })),
];

/**
 * The boxes of another version that are not the same in this one, for a look before one of them is taken.
 * @param {import("../model/labels.js").Labels} doc
 * @param {readonly any[]} theirs
 * @returns {import("./shapes.js").Shape[]}
 */
export const theirShapes = (doc, theirs) =>
  theirs
    .map((box, at) => ({ id: `theirs-${at}`, box, kind: "theirs", text: ["theirs", caption(box)].join(" ").trim() }))
    .filter(({ box }) => !doc.boxes.some((mine) => sameBox(mine, box) && caption(mine) === caption(box)));

/** @param {{id: string}} box @param {string | null} selected */
const marked = ({ id }, selected) => ({ id, selected: id === selected });

/** @param {import("../model/labels.js").LabelBox} box */
function caption(box) {
  const scope = box.scope === "bib" || box.scope === "keep" ? "" : scopeWord(box.scope);
  return [box.number ?? box.identity ?? "", scope].filter(Boolean).join(" ");
}

/** @param {import("../model/ghosts.js").Ghost} ghost */
const ghostCaption = (ghost) =>
  [ghost.number ?? ghost.identity, scoreWord(ghost.score)].filter(Boolean).join(" · ") || "suggested";

/**
 * The photo in words, for those who cannot see it.
 * @param {any} photo
 * @param {import("../model/labels.js").Labels} doc
 * @param {number} ghosts
 * @param {any} box
 * @param {string} things
 */
export function spoken(photo, doc, ghosts, box, things) {
  const parts = [`Photo ${photo.name}: ${doc.boxes.length} ${things}, ${ghosts} suggested.`];
  if (box)
    parts.push(
      `Selected: box ${doc.boxes.indexOf(box) + 1}, ${caption(box) || "without a name"}, ${scopeWord(box.scope)}.`,
    );
  return parts.join(" ");
}
