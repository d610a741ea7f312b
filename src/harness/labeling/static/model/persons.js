/**
 * The people of one photo: each has a face, a bib or both, as labels or as suggestions, and all of it is answered
 * together. Bibs and faces are kept as the other pages keep them; a link is a pair of the ids of its two boxes.
 *
 * @typedef {import("./labels.js").Labels} Labels
 * @typedef {import("./labels.js").Dimension} Dimension
 * @typedef {import("./ghosts.js").Ghost} Ghost
 * @typedef {{bibs: Labels, faces: Labels, links: readonly [string, string][], linksLabeled: boolean, split: string,
 *   labeled: boolean}} Doc `labeled`: all of it is done
 * @typedef {{id: string, bib: any, face: any, suggested: boolean}} Person ghosts where it is suggested
 * @typedef {{bibs: readonly Ghost[], faces: readonly Ghost[], links: readonly [number, number][]}} Ghosts
 */
import { ghostsOf, openGhosts, rejected } from "./ghosts.js";
import { adopted, bodyOf, labelsOf, none, realBoxes, sameLabels, withBox, withChange, without } from "./labels.js";

/** @param {any} photo @returns {{doc: Doc, base: any}} */
export function personsOf(photo) {
  const bibs = labelsOf(photo, "bibs");
  const faces = labelsOf(photo, "faces");
  return joined(photo, bibs, faces);
}

/** @param {any} photo @param {any} bibs @param {any} faces @returns {{doc: Doc, base: any}} */
function joined(photo, bibs, faces) {
  /** @type {[string, string][]} */
  const links = (photo.links ?? []).map((/** @type {[number, number]} */ [bib, face]) => [
    bibs.doc.boxes[bib].id,
    faces.doc.boxes[face].id,
  ]);
  const doc = { bibs: bibs.doc, faces: faces.doc, links, linksLabeled: photo.links_labeled, split: photo.split };
  return {
    doc: { ...doc, labeled: isDone(doc) },
    base: { revision: photo.revision, split: photo.split, bibs: bibs.base, faces: faces.base },
  };
}

/** Somebody said so of each. @param {{bibs: Labels, faces: Labels, linksLabeled: boolean}} doc */
const isDone = ({ bibs, faces, linksLabeled }) => bibs.labeled && faces.labeled && linksLabeled;

/** Their version under the ids of mine. @param {Doc} mine @param {any} theirs */
export const adoptedPersons = (mine, theirs) =>
  joined(theirs, adopted(mine.bibs, theirs, "bibs"), adopted(mine.faces, theirs, "faces"));

/** @param {Doc} doc @returns {[number, number][]} */
const positions = ({ bibs, faces, links }) =>
  links
    .map(([bib, face]) => /** @type {[number, number]} */ ([at(bibs, bib), at(faces, face)]))
    .filter(([bib, face]) => bib >= 0 && face >= 0)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);

/** @param {Labels} labels @param {string} id */
const at = (labels, id) => labels.boxes.findIndex((box) => box.id === id);

/** @param {Doc} a @param {Doc} b */
export const samePersons = (a, b) =>
  sameLabels(a.bibs, b.bibs) &&
  sameLabels(a.faces, b.faces) &&
  a.split === b.split &&
  a.linksLabeled === b.linksLabeled &&
  JSON.stringify(positions(a)) === JSON.stringify(positions(b));

/** What a save sends. @param {Doc} doc @param {any} base */
export const bodyOfPersons = (doc, base) => ({
  bibs: bodyOf(doc.bibs, base.bibs),
  faces: bodyOf(doc.faces, base.faces),
  links: positions(doc),
  links_labeled: doc.linksLabeled,
});

/** The suggestions of a photo, with ids that differ. @param {any} photo @returns {Ghosts} */
export const allGhosts = (photo) => ({
  bibs: ghostsOf(photo, "bibs").map((ghost) => ({ ...ghost, id: `bib-${ghost.id}` })),
  faces: ghostsOf(photo, "faces").map((ghost) => ({ ...ghost, id: `face-${ghost.id}` })),
  links: photo.ghosts.links,
});

/**
 * Everybody, from left to right: those who are labelled, and those who are only suggested.
 * @param {Doc} doc
 * @param {Ghosts} ghosts
 * @param {ReadonlySet<string>} apart ids of suggested bibs whose suggested face is another person's
 * @returns {Person[]}
 */
export function people(doc, ghosts, apart) {
  const place = ({ face, bib }) => (face ?? bib).x;
  return [...labelled(doc), ...suggested(doc, ghosts, apart)].sort((a, b) => place(a) - place(b));
}

/** @param {Doc} doc @returns {Person[]} */
function labelled(doc) {
  const bibOf = new Map(doc.links.map(([bib, face]) => [face, bib]));
  const bibs = new Map(realBoxes(doc.bibs, "bibs").map((box) => [box.id, box]));
  const found = realBoxes(doc.faces, "faces").map((face) => {
    const bib = bibs.get(bibOf.get(face.id) ?? "") ?? null;
    if (bib) bibs.delete(bib.id);
    return { id: face.id, face, bib, suggested: false };
  });
  return [...found, ...[...bibs.values()].map((bib) => ({ id: bib.id, face: null, bib, suggested: false }))];
}

/** @param {Doc} doc @param {Ghosts} ghosts @param {ReadonlySet<string>} apart @returns {Person[]} */
function suggested(doc, ghosts, apart) {
  const faces = new Set(openGhosts(ghosts.faces, doc.faces));
  const bibs = new Set(openGhosts(ghosts.bibs, doc.bibs));
  /** @type {Person[]} */
  const pairs = [];
  for (const [b, f] of ghosts.links) {
    const [bib, face] = [ghosts.bibs[b], ghosts.faces[f]];
    if (!bibs.has(bib) || !faces.has(face) || apart.has(bib.id)) continue;
    bibs.delete(bib);
    faces.delete(face);
    pairs.push({ id: face.id, face, bib, suggested: true });
  }
  const alone = (/** @type {Ghost} */ ghost, /** @type {"bib" | "face"} */ kind) =>
    /** @type {Person} */ ({ id: ghost.id, face: null, bib: null, suggested: true, [kind]: ghost });
  return [...pairs, ...[...faces].map((ghost) => alone(ghost, "face")), ...[...bibs].map((ghost) => alone(ghost, "bib"))];
}

/** The name that a number stands for: the one that it has elsewhere, or the number itself; none for a part of one.
 * @param {string | null | undefined} number @param {Record<string, string>} known */
export const proposedName = (number, known) => (number && !number.includes("?") ? (known[number] ?? number) : null);

/**
 * A suggested person taken as suggested: face, bib, number, link and name.
 * @param {Doc} doc @param {Person} person @param {Record<string, string>} known whose number it is
 * @returns {{doc: Doc, id: string}}
 */
export function acceptedPerson(doc, person, known) {
  let next = doc;
  let bibId = "";
  let faceId = "";
  if (person.bib) {
    const added = withBox(next.bibs, person.bib, "bibs", { number: person.bib.number ?? null });
    next = { ...next, bibs: added.doc };
    bibId = added.id;
  }
  if (person.face) {
    const identity = person.face.identity ?? (person.bib ? proposedName(person.bib.number, known) : null);
    const added = withBox(next.faces, person.face, "faces", { identity });
    next = { ...next, faces: added.doc };
    faceId = added.id;
  }
  if (bibId && faceId) next = { ...next, links: [...next.links, [bibId, faceId]] };
  return { doc: next, id: faceId || bibId };
}

/** Not a person: neither the face nor the bib is one. @param {Doc} doc @param {Person} person @returns {Doc} */
export function rejectedPerson(doc, person) {
  if (!person.suggested) return removedPerson(doc, person);
  return {
    ...doc,
    bibs: person.bib ? rejected(doc.bibs, person.bib, "bibs").doc : doc.bibs,
    faces: person.face ? rejected(doc.faces, person.face, "faces").doc : doc.faces,
  };
}

/** @param {Doc} doc @param {Person} person @returns {Doc} */
export function removedPerson(doc, person) {
  const gone = [person.bib?.id, person.face?.id];
  return {
    ...doc,
    bibs: person.bib ? without(doc.bibs, person.bib.id) : doc.bibs,
    faces: person.face ? without(doc.faces, person.face.id) : doc.faces,
    links: doc.links.filter((pair) => !pair.some((id) => gone.includes(id))),
  };
}

/**
 * Another number. A name that stood for the old one follows it.
 * @param {Doc} doc @param {Person} person @param {string | null} number @param {Record<string, string>} known
 * @returns {Doc}
 */
export function renumbered(doc, person, number, known) {
  const bibs = withChange(doc.bibs, person.bib.id, { number });
  const before = proposedName(person.bib.number, known);
  const follows = person.face && (person.face.identity ?? null) === before;
  const identity = proposedName(number, known);
  return { ...doc, bibs, faces: follows ? withChange(doc.faces, person.face.id, { identity }) : doc.faces };
}

/** @param {Doc} doc @param {string} bib @param {string} face @param {Record<string, string>} known @returns {Doc} */
export function linkedPersons(doc, bib, face, known) {
  const box = doc.bibs.boxes.find(({ id }) => id === bib);
  const identity = doc.faces.boxes.find(({ id }) => id === face)?.identity ?? proposedName(box?.number, known);
  return { ...doc, faces: withChange(doc.faces, face, { identity }), links: [...doc.links, [bib, face]] };
}

/** Somebody looked at everybody. @param {Doc} doc @returns {Doc} */
export const allDone = (doc) => ({
  ...doc,
  bibs: { ...doc.bibs, labeled: true },
  faces: { ...doc.faces, labeled: true },
  linksLabeled: true,
  labeled: true,
});

/** @param {Doc} doc @returns {Doc} */
export const nobody = (doc) => allDone({ ...doc, bibs: none(doc.bibs, "bibs"), faces: none(doc.faces, "faces"), links: [] });

/** A box that somebody drew. @param {Doc} doc @param {any} place @param {Dimension} dimension */
export function withDrawn(doc, place, dimension) {
  const added = withBox(doc[dimension], place, dimension);
  return { doc: { ...doc, [dimension]: added.doc }, id: added.id };
}

/** The scopes that a key sets, bibs first. */
export const SCOPES = [
  ...["bib", "bib_clipped", "bib_obscured"].map((scope) => ({ dimension: /** @type {Dimension} */ ("bibs"), scope })),
  ...["keep", "uncertain"].map((scope) => ({ dimension: /** @type {Dimension} */ ("faces"), scope })),
];
