/** How each dimension is read from a photo and written back. */
import { adopted, bodyOf, labelsOf, sameLabels } from "../model/labels.js";
import { followed, linksOf, sameLinks } from "../model/pairs.js";
import { write } from "./api.js";

/** @param {import("../model/labels.js").Dimension} dimension @returns {import("./session.js").Adapter} */
export const labelsAdapter = (dimension) => ({
  read: (photo) => labelsOf(photo, dimension),
  same: sameLabels,
  adopt: (mine, _, theirs) => ({ ...adopted(mine, theirs, dimension), mine }),
  async save(sha256, doc, base) {
    let photo = await write("PUT", `/api/photos/${sha256}/${dimension}`, bodyOf(doc, base), base.revision);
    if (doc.split !== base.split)
      photo = await write("PUT", `/api/photos/${sha256}/split`, { split: doc.split }, photo.revision);
    const ids = doc.boxes.map((/** @type {any} */ box) => box.id);
    return { photo, base: { revision: photo.revision, ids, split: photo.split } };
  },
});

/** @type {import("./session.js").Adapter} */
export const linksAdapter = {
  read: linksOf,
  same: sameLinks,
  adopt: (mine, before, theirs) => ({
    ...linksOf(theirs),
    mine: { ...mine, links: followed(mine.links, before, theirs), dismissed: [] },
  }),
  async save(sha256, doc, base) {
    const photo = await write("PUT", `/api/photos/${sha256}/links`, { links: doc.links }, base.revision);
    return { photo, base: { revision: photo.revision } };
  },
};
