/**
 * Which known names fit what is typed, and in which order.
 *
 * @typedef {{name: string, faces: number, number: string | null, listed: boolean}} Known
 */

/** Without case and accents. @param {string} text */
const plain = (text) =>
  text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase();

/**
 * Whether what is typed can be cut into the beginnings of words that follow each other, as `adlo` and `al` for Ada
 * Lovelace.
 * @param {string[]} words @param {string} typed @returns {boolean}
 */
const begins = (words, typed) => {
  if (!typed) return true;
  if (!words.length) return false;
  for (let length = Math.min(words[0].length, typed.length); length > 0; length -= 1)
    if (words[0].startsWith(typed.slice(0, length)) && begins(words.slice(1), typed.slice(length))) return true;
  return false;
};

/**
 * How well a name fits: 0 typed in full, as a name or a number; 1 the name begins so; 2 its words do; 3 its number does;
 * 4 it has the text somewhere; null not at all.
 * @param {Known} known @param {string} typed @returns {number | null}
 */
export function fit({ name, number }, typed) {
  const [own, wanted] = [plain(name), plain(typed)];
  if (own === wanted || (number && plain(number) === wanted)) return 0;
  if (own.startsWith(wanted)) return 1;
  const words = own.split(/[\s_.-]+/).filter(Boolean);
  if (words.some((_, at) => begins(words.slice(at), wanted.replaceAll(" ", "")))) return 2;
  if (number && plain(number).startsWith(wanted)) return 3;
  return own.includes(wanted) ? 4 : null;
}

/**
 * The names that fit, best first; of those that fit equally well the ones on most faces, or with `unusedFirst` those of
 * the start list that nobody has yet.
 * @param {Known[]} names @param {string} typed @param {{unusedFirst: boolean}} options @returns {Known[]}
 */
export function fitting(names, typed, { unusedFirst }) {
  const open = (/** @type {Known} */ { faces, listed }) => (unusedFirst && listed && !faces ? 0 : 1);
  return names
    .map((known) => ({ known, rank: fit(known, typed) }))
    .filter(({ rank }) => rank !== null)
    .sort(
      (a, b) =>
        Number(a.rank) - Number(b.rank) ||
        open(a.known) - open(b.known) ||
        b.known.faces - a.known.faces ||
        (a.known.name < b.known.name ? -1 : 1),
    )
    .map(({ known }) => known);
}
