/**
 * The labels of one photo in one dimension as an immutable document, and every edit that a person can make.
 *
 * Boxes carry an id of this page, so that a save can tell the server which of its boxes each one was, and links
 * follow the boxes that they belong to.
 *
 * @typedef {import("./geometry.js").Box} Box
 * @typedef {Box & {id: string, scope: string, tags: readonly string[], number?: string | null,
 *   identity?: string | null}} LabelBox
 * @typedef {{labeled: boolean, boxes: readonly LabelBox[], tags: readonly string[], split: string}} Labels
 * @typedef {{revision: string, ids: readonly string[], split: string}} Base what the server had
 * @typedef {"bibs" | "faces"} Dimension
 */
import { matched } from "./matching.js";

/** What differs between bibs and faces. */
export const RULES = {
  bibs: { scope: "bib", rejected: "not_bib", none: "no_bib", field: "number" },
  faces: { scope: "keep", rejected: "exclude", none: "no_faces", field: "identity" },
};

let made = 0;
const newId = () => `${Date.now().toString(36)}-${(made += 1)}`;

/**
 * The labels of a photo as the API gives it.
 * @param {any} photo
 * @param {Dimension} dimension
 * @returns {{doc: Labels, base: Base}}
 */
export function labelsOf(photo, dimension) {
  const { labeled, boxes, tags } = photo[dimension];
  const ids = boxes.map(newId);
  const doc = {
    labeled,
    boxes: boxes.map((/** @type {any} */ box, /** @type {number} */ at) => ({ ...box, id: ids[at] })),
    tags,
    split: photo.split,
  };
  return { doc, base: { revision: photo.revision, ids, split: photo.split } };
}

/** What a save sends. @param {Labels} doc @param {Base} base */
export const bodyOf = (doc, base) => ({
  labeled: doc.labeled,
  boxes: doc.boxes.map(({ id, ...box }) => box),
  tags: doc.tags,
  origins: doc.boxes.map((box) => (base.ids.includes(box.id) ? base.ids.indexOf(box.id) : null)),
});

/** Whether two documents say the same, whatever their ids. @param {Labels} a @param {Labels} b */
export const sameLabels = (a, b) => JSON.stringify(said(a)) === JSON.stringify(said(b));

/** @param {Labels} doc */
const said = ({ labeled, boxes, tags, split }) => [
  labeled,
  boxes.map((b) => [b.x, b.y, b.w, b.h, b.scope, b.number ?? null, b.identity ?? null, [...b.tags].sort()]),
  [...tags].sort(),
  split,
];

/**
 * Their version under the ids of mine, box by box, so that either can be saved over the other and links stay right.
 * @param {Labels} mine @param {any} theirs @param {Dimension} dimension @returns {{doc: Labels, base: Base}}
 */
export function adopted(mine, theirs, dimension) {
  const { doc, base } = labelsOf(theirs, dimension);
  const same = matched(doc.boxes, mine.boxes);
  const ids = base.ids.map((id, at) => (same[at] < 0 ? id : mine.boxes[same[at]].id));
  return {
    doc: { ...doc, boxes: doc.boxes.map((box, at) => ({ ...box, id: ids[at] })) },
    base: { ...base, ids },
  };
}

/** @param {Labels} doc @param {string | null} id */
export const boxOf = (doc, id) => doc.boxes.find((box) => box.id === id) ?? null;

/**
 * A new box at the end of the list.
 * @param {Labels} doc
 * @param {Box} place
 * @param {Dimension} dimension
 * @param {Partial<LabelBox>} [fields]
 * @returns {{doc: Labels, id: string}}
 */
export function withBox(doc, place, dimension, fields = {}) {
  const { scope, field, none } = RULES[dimension];
  const { x, y, w, h } = place;
  const box = { x, y, w, h, [field]: null, scope, tags: [], ...fields, id: newId() };
  const tags = box.scope === RULES[dimension].rejected ? doc.tags : doc.tags.filter((tag) => tag !== none);
  return { doc: { ...doc, boxes: [...doc.boxes, box], tags }, id: box.id };
}

/** @param {Labels} doc @param {string} id @param {Partial<LabelBox>} change @returns {Labels} */
export const withChange = (doc, id, change) => ({
  ...doc,
  boxes: doc.boxes.map((box) => (box.id === id ? { ...box, ...change } : box)),
});

/** @param {Labels} doc @param {string} id @returns {Labels} */
export const without = (doc, id) => ({ ...doc, boxes: doc.boxes.filter((box) => box.id !== id) });

/** @param {readonly string[]} tags @param {string} tag @returns {string[]} */
export const toggled = (tags, tag) => (tags.includes(tag) ? tags.filter((t) => t !== tag) : [...tags, tag]);

/**
 * There is nothing here: rejected suggestions go too, so that the photo is a known negative.
 * @param {Labels} doc
 * @param {Dimension} dimension
 * @returns {Labels}
 */
export const none = (doc, dimension) => ({
  ...doc,
  labeled: true,
  boxes: [],
  tags: doc.tags.includes(RULES[dimension].none) ? doc.tags : [...doc.tags, RULES[dimension].none],
});

/** The boxes that are not rejected suggestions. @param {Labels} doc @param {Dimension} dimension */
export const realBoxes = (doc, dimension) => doc.boxes.filter((box) => box.scope !== RULES[dimension].rejected);
