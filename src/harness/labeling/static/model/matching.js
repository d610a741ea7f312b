/** Which box of one list is which of another, when both began as the same list. */
import { isDrawn, overlap, sameBox } from "./geometry.js";

const SAME = 0.5;

/**
 * For each old box the position of the new one that lies most over it, or -1.
 * @param {readonly any[]} old @param {readonly any[]} now @returns {number[]}
 */
export function matched(old, now) {
  const found = old.map(() => -1);
  const taken = new Set();
  const pairs = old.flatMap((a, at) => now.map((b, to) => ({ at, to, same: likeness(a, b) })));
  for (const { at, to, same } of pairs.sort((a, b) => b.same - a.same)) {
    if (same < SAME || found[at] >= 0 || taken.has(to)) continue;
    found[at] = to;
    taken.add(to);
  }
  return found;
}

/** Boxes that were never drawn are told by what is written on them. @param {any} a @param {any} b */
function likeness(a, b) {
  if (isDrawn(a) && isDrawn(b)) return sameBox(a, b) ? 2 : overlap(a, b);
  return !isDrawn(a) && !isDrawn(b) && a.number === b.number && a.identity === b.identity ? 1 : 0;
}
