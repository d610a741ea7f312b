/**
 * What is under the pointer. Of boxes that overlap the smallest is on top, so that none can hide another.
 *
 * @typedef {import("./geometry.js").Box} Box
 * @typedef {import("./geometry.js").Point} Point
 * @typedef {import("./geometry.js").Handle} Handle
 */
import { HANDLES, area, contains, isDrawn } from "./geometry.js";

const REACH = 7;

/**
 * The boxes at a point, smallest first.
 * @template {Box} B
 * @param {readonly B[]} boxes
 * @param {Point} point
 * @returns {B[]}
 */
export const boxesAt = (boxes, point) =>
  boxes.filter((box) => isDrawn(box) && contains(box, point)).sort((a, b) => area(a) - area(b));

/** Where the handles of a box are. @param {Box} box @returns {Record<Handle, Point>} */
export function handlePoints(box) {
  const x = { w: box.x, e: box.x + box.w, "": box.x + box.w / 2 };
  const y = { n: box.y, s: box.y + box.h, "": box.y + box.h / 2 };
  const points = /** @type {Record<Handle, Point>} */ ({});
  for (const handle of HANDLES) {
    const across = handle.includes("w") ? "w" : handle.includes("e") ? "e" : "";
    const down = handle.includes("n") ? "n" : handle.includes("s") ? "s" : "";
    points[handle] = { x: x[across], y: y[down] };
  }
  return points;
}

/**
 * The handle within reach of a point, all in pixels of the window; corners before edges. On a small box the reach
 * shrinks, so that its middle can still be taken to move it.
 * @param {Box} box @param {Point} point @returns {Handle | null}
 */
export function handleAt(box, point) {
  const reach = { x: Math.min(REACH, Math.max(3, box.w / 4)), y: Math.min(REACH, Math.max(3, box.h / 4)) };
  const points = handlePoints(box);
  const near = HANDLES.filter(
    (handle) => Math.abs(points[handle].x - point.x) <= reach.x && Math.abs(points[handle].y - point.y) <= reach.y,
  );
  return near.find((handle) => handle.length === 2) ?? near[0] ?? null;
}

/**
 * The one after `current`, round and round.
 * @template T
 * @param {readonly T[]} items
 * @param {T | null} current
 * @param {1 | -1} by
 * @returns {T | null}
 */
export function cycled(items, current, by) {
  if (!items.length) return null;
  const at = current === null ? -1 : items.indexOf(current);
  if (at < 0) return by > 0 ? items[0] : items[items.length - 1];
  return items[(at + by + items.length) % items.length];
}
