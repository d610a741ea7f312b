/**
 * Boxes that the last runs see and the labels do not have, and those that an agent doubts. They are there to be looked at; a label is the only answer.
 *
 * @typedef {import("./geometry.js").Box} Box
 * @typedef {Box & {dimension: string, number: string | null, runs: number, witnesses: number, reason: string}} Suspect
 */

/** Those that a page is about: its own dimension, and for links both. @param {any} photo @param {string} dimension */
export const suspectsOf = (photo, dimension) =>
  /** @type {Suspect[]} */ (photo.suspects).filter((suspect) => [suspect.dimension, "links"].includes(dimension));

/** All of them in a line. @param {readonly Suspect[]} suspects */
export const inWords = (suspects) => suspects.map((suspect) => `${name(suspect)} ${suspect.reason}`).join(" · ");

/** @param {Suspect} suspect */
const name = ({ dimension, number }) => [dimension === "bibs" ? "Bib" : "Face", number].filter(Boolean).join(" ") + "?";

/** @param {readonly Suspect[]} suspects @returns {import("../parts/shapes.js").Shape[]} */
export const suspectShapes = (suspects) =>
  suspects.map((box, at) => ({
    id: `suspect-${at}`,
    box,
    kind: "suspected",
    below: true,
    text: `${name(box)} ${box.witnesses ? `${box.runs} of ${box.witnesses} runs` : "doubted"}`,
  }));
