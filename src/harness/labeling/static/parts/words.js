/** What things are called on the page. */

/** @type {Record<string, string>} */
const SCOPES = {
  bib: "bib",
  bib_clipped: "clipped",
  bib_obscured: "obscured",
  not_bib: "not a bib",
  keep: "face",
  uncertain: "uncertain",
  exclude: "not a face",
};

/** What a scope means, for the title of its button. @type {Record<string, string>} */
export const MEANING = {
  bib: "the whole bib, fully readable: scored",
  bib_clipped: "top or bottom cut off, the full number still readable: scored",
  bib_obscured: "the full number cannot be read: not scored",
  not_bib: "a suggestion that is no bib: not scored",
  keep: "anybody's face, participant or not: scored",
  uncertain: "cut off or too poor to expect it to be found: not scored",
  exclude: "a suggestion that is no face: not scored",
};

/** @param {string} scope */
export const scopeWord = (scope) => SCOPES[scope] ?? scope;

/** @param {string} tag */
export const tagWord = (tag) => tag.replaceAll("_", " ");

/** @param {number | null} score */
export const scoreWord = (score) => (score === null || score === undefined ? "" : score.toFixed(2));
