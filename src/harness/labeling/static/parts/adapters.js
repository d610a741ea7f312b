/** How each dimension is read from a photo and written back. */
import { adopted, bodyOf, labelsOf, sameLabels } from "../model/labels.js";
import { ghostsOf, openGhosts } from "../model/ghosts.js";
import { adoptedPersons, bodyOfPersons, personsOf, samePersons } from "../model/persons.js";
import { bodyOfLinks, followed, linksOf, sameLinks } from "../model/pairs.js";
import { write } from "./api.js";

/** @param {import("../model/labels.js").Dimension} dimension @param {string} api @returns {import("./session.js").Adapter} */
export const labelsAdapter = (dimension, api) => ({
  read: (photo) => labelsOf(photo, dimension),
  same: sameLabels,
  describe: (doc) => describeLabels(doc, dimension),
  leftOpen: (doc, photo) => openLabels(doc, photo, dimension),
  adopt: (mine, _, theirs) => ({ ...adopted(mine, theirs, dimension), mine }),
  async save(sha256, doc, base) {
    let photo = await write("PUT", `${api}${sha256}/${dimension}`, bodyOf(doc, base), base.revision);
    if (doc.split !== base.split)
      photo = await write("PUT", `${api}${sha256}/split`, { split: doc.split }, photo.revision);
    const ids = doc.boxes.map((/** @type {any} */ box) => box.id);
    return { photo, base: { revision: photo.revision, ids, split: photo.split } };
  },
});

/** @type {import("./session.js").Adapter} */
export const linksAdapter = {
  read: linksOf,
  same: sameLinks,
  describe: ({ links, labeled }) => (links ? `${links.length} links, ${labeled ? "done" : "not done"}` : "nobody looked"),
  leftOpen: ({ links, labeled }) => (links && !labeled ? "nobody has said that the links are done" : ""),
  adopt: (mine, before, theirs) => ({
    ...linksOf(theirs),
    mine: { ...mine, links: followed(mine.links, before, theirs), dismissed: [] },
  }),
  async save(sha256, doc, base) {
    const photo = await write("PUT", `/api/photos/${sha256}/links`, bodyOfLinks(doc), base.revision);
    return { photo, base: { revision: photo.revision } };
  },
};

/** @type {import("./session.js").Adapter} */
export const personsAdapter = {
  read: personsOf,
  same: samePersons,
  describe: (doc) => `${describeLabels(doc.bibs, "bibs")}; ${describeLabels(doc.faces, "faces")}`,
  leftOpen: (doc, photo) =>
    [openLabels(doc.bibs, photo, "bibs"), openLabels(doc.faces, photo, "faces")].filter(Boolean).join("; "),
  adopt: (mine, _, theirs) => ({ ...adoptedPersons(mine, theirs), mine }),
  async save(sha256, doc, base) {
    let photo = await write("PUT", `/api/photos/${sha256}/persons`, bodyOfPersons(doc, base), base.revision);
    if (doc.split !== base.split)
      photo = await write("PUT", `/api/photos/${sha256}/split`, { split: doc.split }, photo.revision);
    const ids = (/** @type {any} */ labels) => labels.boxes.map((/** @type {any} */ box) => box.id);
    const saved = (/** @type {"bibs" | "faces"} */ name) => ({ revision: photo.revision, ids: ids(doc[name]), split: photo.split });
    return { photo, base: { revision: photo.revision, split: photo.split, bibs: saved("bibs"), faces: saved("faces") } };
  },
};

/**
 * What is open in labels that somebody has begun.
 * @param {import("../model/labels.js").Labels} doc
 * @param {any} photo
 * @param {import("../model/labels.js").Dimension} dimension
 */
export function openLabels(doc, photo, dimension) {
  if (doc.labeled || !(doc.boxes.length || doc.tags.length)) return "";
  const left = openGhosts(ghostsOf(photo, dimension), doc).length;
  const unanswered = left ? `${left} suggested ${dimension} without an answer, and ` : "";
  return `${unanswered}nobody has said that the ${dimension} are done`;
}

/** @param {import("../model/labels.js").Labels} doc @param {string} things */
function describeLabels(doc, things) {
  const names = doc.boxes.flatMap((box) => box.number ?? box.identity ?? []);
  const some = names.length > 6 ? [...names.slice(0, 6), "…"] : names;
  const counted = doc.boxes.length === 1 ? `1 ${things.slice(0, -1)}` : `${doc.boxes.length} ${things}`;
  return `${counted}${names.length ? ` (${some.join(", ")})` : ""}, ${doc.labeled ? "done" : "not done"}`;
}
