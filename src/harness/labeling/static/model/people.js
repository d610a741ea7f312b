/**
 * Groups of faces as the workbench shows them: what is where on the page, and what is left of groups after an answer.
 *
 * @typedef {{face: string, photo: string, file: string, crop: string, bib: string | null, number: string | null,
 *   was: string | null, suggested: boolean}} Face
 * @typedef {{name: string, score: number, crop: string, number: string | null}} Near
 * @typedef {{id: string, faces: Face[], person: string | null, number: string | null, wearer: string | null, proposal: string | null,
 *   doubt: number, nearest: Near[]}} Group
 * @typedef {{kind: "head" | "faces" | "alone", group: number, groups: number, from: number, to: number, top: number, height: number}} Line
 *   a head of `groups` groups from `group` on, some faces of one group, or the faces of several groups of one face each
 */
export const HEAD = 34;
export const ROW = 108;
export const CELL = 104;
/** A row of faces that are alone has a word below each. */
const ALONE = ROW + 16;

/**
 * The lines of all groups: a head each, then rows of faces. Faces that are alone stand side by side, under one head.
 * @param {Group[]} groups @param {number} columns @returns {Line[]}
 */
export function linesOf(groups, columns) {
  /** @type {Line[]} */
  const lines = [];
  let top = 0;
  const add = (/** @type {Omit<Line, "top">} */ line) => {
    lines.push({ ...line, top });
    top += line.height;
  };
  for (let group = 0; group < groups.length; ) {
    const count = aloneFrom(groups, group);
    if (count > 1) {
      add({ kind: "head", group, groups: count, from: 0, to: 0, height: HEAD });
      for (let from = group; from < group + count; from += columns)
        add({ kind: "alone", group: from, groups: Math.min(columns, group + count - from), from: 0, to: 1, height: ALONE });
    } else {
      const { length } = groups[group].faces;
      add({ kind: "head", group, groups: 1, from: 0, to: 0, height: HEAD });
      for (let from = 0; from < length; from += columns)
        add({ kind: "faces", group, groups: 1, from, to: Math.min(from + columns, length), height: ROW });
    }
    group += Math.max(1, count);
  }
  return lines;
}

/** How many groups of one face there are in a row. @param {Group[]} groups @param {number} first */
function aloneFrom(groups, first) {
  let end = first;
  while (groups[end]?.faces.length === 1) end += 1;
  return end - first;
}

/** The lines of a group: of a face that is alone only its row, which it shares. @param {Line[]} lines @param {number} group */
export const linesWith = (lines, group) =>
  lines.filter((line) => line.group <= group && group < line.group + line.groups && !(line.kind === "head" && line.groups > 1));

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

/** The group that has a face of another one, which is gone. @param {Group[]} groups @param {Group | null} gone */
export const holding = (groups, gone) => {
  const faces = new Set(gone?.faces.map(({ face }) => face));
  return groups.find((group) => group.faces.some(({ face }) => faces.has(face)));
};

/** A face of any group. @param {Group[]} groups @param {string} name @returns {Face | undefined} */
export const faceOf = (groups, name) => groups.flatMap(({ faces }) => faces).find(({ face }) => face === name);

/** @param {Face[]} faces */
export const byName = (faces) => new Map(faces.map((face) => [face.face, face]));

/** Faces with the identity that was seen, as the server asks for them. @param {Face[]} faces */
export const seen = (faces) => Object.fromEntries(faces.map(({ face, was }) => [face, was]));

/** What a group is called. @param {Group} group */
export function titleOf(group) {
  if (group.person) return `Looks like ${group.person}`;
  if (group.number) return `Number ${group.number}${group.wearer ? `: ${group.wearer}` : ""}`;
  return group.faces.length > 1 ? "Somebody" : "Seen once";
}

/** Who a face that is alone may be, in a word. @param {Group} group */
export const guessOf = ({ person, wearer }) => ((person ?? wearer) ? `${person ?? wearer}?` : "");

/** @param {Group} group */
export function detailOf(group) {
  const count = group.faces.length === 1 ? "1 face" : `${group.faces.length} faces`;
  const numbers = [...new Set(group.faces.map(({ number }) => number).filter(Boolean))];
  const doubt = group.faces.length === 1 ? "" : group.doubt >= 0.55 ? "big doubt" : group.doubt >= 0.4 ? "some doubt" : "little doubt";
  const worn = numbers.length > 1 ? `numbers ${numbers.join(", ")}` : numbers.length ? `number ${numbers[0]}` : "";
  return [count, worn, doubt].filter(Boolean).join(" · ");
}
