/**
 * Links between the bibs and the faces of one photo: pairs of positions, or null while nobody has looked.
 *
 * @typedef {import("./geometry.js").Box} Box
 * @typedef {[number, number]} Pair bib, face
 * @typedef {{links: readonly Pair[] | null, dismissed: readonly Pair[], labeled: boolean}} Links
 */
import { matched } from "./matching.js";

/** @param {any} photo @returns {{doc: Links, base: {revision: string}}} */
export const linksOf = (photo) => ({
  doc: { links: photo.links, dismissed: [], labeled: photo.links_labeled },
  base: { revision: photo.revision },
});

/** What a save sends. @param {Links} doc */
export const bodyOfLinks = ({ links, labeled }) => ({ links, labeled });

/** @param {Links} a @param {Links} b */
export const sameLinks = (a, b) =>
  a.labeled === b.labeled && JSON.stringify(inOrder(a.links)) === JSON.stringify(inOrder(b.links));

/** @param {readonly Pair[] | null} pairs */
const inOrder = (pairs) => pairs && [...pairs].sort((a, b) => a[0] - b[0] || a[1] - b[1]);

/** @param {readonly Pair[]} pairs @param {Pair} pair */
export const has = (pairs, [bib, face]) => pairs.some((pair) => pair[0] === bib && pair[1] === face);

/** @param {readonly Pair[]} pairs @param {Pair} pair @returns {Pair[]} */
const less = (pairs, [bib, face]) => pairs.filter((pair) => pair[0] !== bib || pair[1] !== face).map((p) => [...p]);

/**
 * Link the pair, or take its link away. One bib may have several faces only if somebody says so, pair by pair.
 * @param {Links} doc
 * @param {Pair} pair
 * @returns {Links}
 */
export function toggledLink(doc, pair) {
  const links = doc.links ?? [];
  return { ...doc, links: has(links, pair) ? less(links, pair) : [...links, pair] };
}

/** @param {Links} doc @param {Pair} pair @returns {Links} */
export const dismissedLink = (doc, pair) => ({ ...doc, dismissed: [...doc.dismissed, pair] });

/** Somebody looked, and these are all; there may be none. @param {Links} doc @returns {Links} */
export const allLinked = (doc) => ({ ...doc, links: doc.links ?? [], labeled: true });

/**
 * Suggestions that are neither linked nor dismissed, whose ends are free.
 * @param {readonly Pair[]} suggested
 * @param {Links} doc
 * @returns {Pair[]}
 */
export function openSuggestions(suggested, doc) {
  const links = doc.links ?? [];
  return suggested
    .filter((pair) => !has(doc.dismissed, pair))
    .filter(([bib, face]) => !links.some((link) => link[0] === bib || link[1] === face))
    .map((pair) => [...pair]);
}

/**
 * Positions of faces, nearest to the place above a bib where its wearer's face would be.
 * @param {Box} bib
 * @param {readonly Box[]} faces
 * @returns {number[]}
 */
export function nearest(bib, faces) {
  const at = { x: bib.x + bib.w / 2, y: bib.y - bib.h };
  /** @param {Box} face */
  const distance = (face) => Math.hypot(face.x + face.w / 2 - at.x, face.y + face.h / 2 - at.y);
  return faces.map((_, at) => at).sort((a, b) => distance(faces[a]) - distance(faces[b]));
}

/**
 * The pairs after the boxes of the photo have changed; a pair that has lost an end goes.
 * @param {readonly Pair[] | null} pairs
 * @param {any} before
 * @param {any} now
 * @returns {Pair[] | null}
 */
export function followed(pairs, before, now) {
  const bibs = matched(before.bibs.boxes, now.bibs.boxes);
  const faces = matched(before.faces.boxes, now.faces.boxes);
  /** @type {Pair[] | null} */
  const moved = pairs && pairs.map(([bib, face]) => [bibs[bib], faces[face]]);
  return moved && moved.filter(([bib, face]) => bib >= 0 && face >= 0);
}
