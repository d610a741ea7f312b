/**
 * Suggestions of a pipeline. A ghost is answered when a label overlaps it, whatever the label's scope: accepting adds a
 * box, rejecting adds one that says so, undoing or deleting it brings the ghost back. No label is ever changed.
 *
 * @typedef {import("./geometry.js").Box} Box
 * @typedef {import("./labels.js").Labels} Labels
 * @typedef {import("./labels.js").Dimension} Dimension
 * @typedef {Box & {id: string, score: number | null, number?: string | null, identity?: string | null}} Ghost
 */
import { contains, isDrawn, overlap } from "./geometry.js";
import { RULES, withBox } from "./labels.js";

const SAME = 0.3;

/** @param {any} photo @param {Dimension} dimension @returns {Ghost[]} */
export const ghostsOf = (photo, dimension) =>
  photo.ghosts[dimension].map((/** @type {any} */ ghost, /** @type {number} */ at) => ({
    ...ghost,
    id: `ghost-${at}`,
  }));

/** The ghosts without an answer, from left to right. @param {readonly Ghost[]} ghosts @param {Labels} doc */
export const openGhosts = (ghosts, doc) =>
  ghosts.filter((ghost) => !doc.boxes.some((box) => answers(box, ghost))).sort((a, b) => a.x - b.x || a.y - b.y);

/** @param {Box} box @param {Box} ghost */
function answers(box, ghost) {
  if (!isDrawn(box)) return false;
  return overlap(box, ghost) >= SAME || (contains(box, centre(ghost)) && contains(ghost, centre(box)));
}

/** @param {Box} box */
const centre = (box) => ({ x: box.x + box.w / 2, y: box.y + box.h / 2 });

/** @param {Labels} doc @param {Ghost} ghost @param {Dimension} dimension */
export function accepted(doc, ghost, dimension) {
  const field = /** @type {"number" | "identity"} */ (RULES[dimension].field);
  return withBox(doc, ghost, dimension, { [field]: ghost[field] ?? null });
}

/** @param {Labels} doc @param {Ghost} ghost @param {Dimension} dimension */
export const rejected = (doc, ghost, dimension) => withBox(doc, ghost, dimension, { scope: RULES[dimension].rejected });

/**
 * Every ghost that has no answer yet, accepted; one that an accepted one answers is passed over.
 * @param {Labels} doc
 * @param {readonly Ghost[]} ghosts
 * @param {Dimension} dimension
 * @returns {Labels}
 */
export const allAccepted = (doc, ghosts, dimension) =>
  ghosts.reduce(
    (soFar, ghost) => (openGhosts([ghost], soFar).length ? accepted(soFar, ghost, dimension).doc : soFar),
    doc,
  );
