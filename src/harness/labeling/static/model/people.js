/**
 * Groups of faces as the workbench shows them: what is where on the page, and what is left of groups after an answer.
 *
 * @typedef {{face: string, photo: string, file: string, crop: string, bib: string | null, number: string | null,
 *   was: string | null, suggested: boolean}} Face
 * @typedef {{name: string, score: number, crop: string, number: string | null}} Near
 * @typedef {{id: string, faces: Face[], person: string | null, number: string | null, proposal: string | null,
 *   doubt: number, nearest: Near[]}} Group
 * @typedef {{group: number, from: number, to: number, top: number, height: number}} Line a head where `to` is 0
 */
export const HEAD = 34;
export const ROW = 108;
export const CELL = 104;

/** The lines of all groups: a head each, then rows of faces. @param {Group[]} groups @param {number} columns @returns {Line[]} */
export function linesOf(groups, columns) {
  /** @type {Line[]} */
  const lines = [];
  let top = 0;
  groups.forEach(({ faces }, group) => {
    lines.push({ group, from: 0, to: 0, top, height: HEAD });
    top += HEAD;
    for (let from = 0; from < faces.length; from += columns, top += ROW)
      lines.push({ group, from, to: Math.min(from + columns, faces.length), top, height: ROW });
  });
  return lines;
}

/** The first line that ends below a place, by bisection. @param {Line[]} lines @param {number} place */
export function lineAt(lines, place) {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lines[middle].top + lines[middle].height <= place) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Groups without some faces; one without any goes. @param {Group[]} groups @param {Set<string>} gone @returns {Group[]} */
export const without = (groups, gone) =>
  groups
    .map((group) =>
      group.faces.some(({ face }) => gone.has(face))
        ? { ...group, faces: group.faces.filter(({ face }) => !gone.has(face)) }
        : group,
    )
    .filter(({ faces }) => faces.length);

/** Faces with the identity that was seen, as the server asks for them. @param {Face[]} faces */
export const seen = (faces) => Object.fromEntries(faces.map(({ face, was }) => [face, was]));

/** What a group is called. @param {Group} group */
export function titleOf(group) {
  if (group.person) return `Looks like ${group.person}`;
  if (group.number) return `Number ${group.number}`;
  return group.faces.length > 1 ? "Somebody" : "Seen once";
}

/** @param {Group} group */
export function detailOf(group) {
  const count = group.faces.length === 1 ? "1 face" : `${group.faces.length} faces`;
  const numbers = [...new Set(group.faces.map(({ number }) => number).filter(Boolean))];
  const doubt = group.faces.length === 1 ? "" : group.doubt >= 0.55 ? "big doubt" : group.doubt >= 0.4 ? "some doubt" : "little doubt";
  const worn = numbers.length > 1 ? `numbers ${numbers.join(", ")}` : numbers.length ? `number ${numbers[0]}` : "";
  return [count, worn, doubt].filter(Boolean).join(" · ");
}
