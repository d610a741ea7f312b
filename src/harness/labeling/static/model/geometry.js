/**
 * Boxes in shares of the upright photo (0 to 1), and what an edit does to them.
 *
 * An edit changes the edges that it names and no other: the far edge of a resized box keeps its exact value, at any
 * zoom. That holds to the last bit because new edges lie on a binary grid, where differences are exact.
 *
 * @typedef {{x: number, y: number, w: number, h: number}} Box
 * @typedef {{x: number, y: number}} Point
 * @typedef {{width: number, height: number}} Size
 * @typedef {"nw" | "n" | "ne" | "e" | "se" | "s" | "sw" | "w"} Handle
 */

/** @type {Handle[]} */
export const HANDLES = ["nw", "n", "ne", "e", "se", "s", "sw", "w"];

/** The smallest side of a box, in pixels of the photo. */
export const MIN_PIXELS = 2;

const GRID = 2 ** 32;

/** @param {number} value */
const snap = (value) => Math.round(value * GRID) / GRID;

/** @param {number} value @param {number} low @param {number} high */
export const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** @param {Box} box */
export const area = (box) => box.w * box.h;

/** Whether somebody drew the box; labels of old files may have none. @param {Box} box */
export const isDrawn = (box) => box.w > 0 && box.h > 0;

/** @param {Box} box @param {Point} point */
export const contains = (box, point) =>
  point.x >= box.x && point.x <= box.x + box.w && point.y >= box.y && point.y <= box.y + box.h;

/** @param {Box} a @param {Box} b */
export const sameBox = (a, b) => a.x === b.x && a.y === b.y && a.w === b.w && a.h === b.h;

/** Intersection over union. @param {Box} a @param {Box} b */
export function overlap(a, b) {
  const width = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y);
  if (width <= 0 || height <= 0) return 0;
  return (width * height) / (area(a) + area(b) - width * height);
}

/**
 * The box between two corners, in any order, kept in the photo.
 * @param {Point} from
 * @param {Point} to
 * @returns {Box}
 */
export function spanned(from, to) {
  const [left, right] = span(from.x, to.x);
  const [top, bottom] = span(from.y, to.y);
  return { x: left, y: top, w: right - left, h: bottom - top };
}

/** @param {number} a @param {number} b @returns {[number, number]} */
const span = (a, b) => [clamp(snap(Math.min(a, b)), 0, 1), clamp(snap(Math.max(a, b)), 0, 1)];

/**
 * The box with the edges of a handle moved by `by`.
 * @template {Box} B
 * @param {B} box @param {Handle} handle @param {Point} by @param {Size} photo
 * @returns {B}
 */
export function resized(box, handle, by, photo) {
  const next = { ...box };
  const minWidth = MIN_PIXELS / photo.width;
  const minHeight = MIN_PIXELS / photo.height;
  if (handle.includes("w")) [next.x, next.w] = movedStart(box.x, box.w, by.x, minWidth);
  if (handle.includes("e")) next.w = movedEnd(box.x, box.w, by.x, minWidth);
  if (handle.includes("n")) [next.y, next.h] = movedStart(box.y, box.h, by.y, minHeight);
  if (handle.includes("s")) next.h = movedEnd(box.y, box.h, by.y, minHeight);
  return next;
}

/** @param {number} start @param {number} length @param {number} by @param {number} min @returns {[number, number]} */
function movedStart(start, length, by, min) {
  const end = start + length;
  const furthest = Math.max(0, Math.floor((end - min) * GRID) / GRID);
  const moved = clamp(snap(start + by), 0, furthest);
  return [moved, end - moved];
}

/** @param {number} start @param {number} length @param {number} by @param {number} min */
const movedEnd = (start, length, by, min) => clamp(snap(start + length + by), Math.min(1, start + min), 1) - start;

/**
 * The box moved as a whole, kept in the photo; its size stays as it is.
 * @template {Box} B
 * @param {B} box @param {Point} by
 * @returns {B}
 */
export const moved = (box, by) => ({
  ...box,
  x: clamp(by.x ? snap(box.x + by.x) : box.x, 0, 1 - box.w),
  y: clamp(by.y ? snap(box.y + by.y) : box.y, 0, 1 - box.h),
});

/** @type {Record<string, Point>} */
const ARROWS = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

/**
 * The direction of an arrow key in shares of the photo.
 * @param {string} key
 * @param {number} pixels
 * @param {Size} photo
 */
export const step = (key, pixels, photo) => ({
  x: (ARROWS[key].x * pixels) / photo.width,
  y: (ARROWS[key].y * pixels) / photo.height,
});

/**
 * The edge that an arrow key moves: right and bottom, or with `far` left and top.
 * @param {string} key
 * @param {boolean} far
 * @returns {Handle}
 */
export const edgeOf = (key, far) => (ARROWS[key].x ? (far ? "w" : "e") : far ? "n" : "s");
