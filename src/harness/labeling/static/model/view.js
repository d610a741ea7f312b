/**
 * How the photo lies in the window: `scale` pixels of the window for one of the photo, its corner at `x`, `y`.
 *
 * @typedef {import("./geometry.js").Box} Box
 * @typedef {import("./geometry.js").Point} Point
 * @typedef {import("./geometry.js").Size} Size
 * @typedef {{scale: number, x: number, y: number}} View
 */
import { clamp } from "./geometry.js";

const LARGEST = 16;
const MARGIN = 12;
/** How much of the photo stays in the window, whatever is done to it. */
const KEPT = 80;

/** The whole photo, as large as it goes. @param {Size} window @param {Size} photo @returns {View} */
export function fitted(window, photo) {
  const scale = fitScale(window, photo);
  return {
    scale,
    x: (window.width - photo.width * scale) / 2,
    y: (window.height - photo.height * scale) / 2,
  };
}

/** @param {Size} window @param {Size} photo */
function fitScale(window, photo) {
  const width = Math.max(1, window.width - 2 * MARGIN);
  const height = Math.max(1, window.height - 2 * MARGIN);
  return Math.min(width / photo.width, height / photo.height, 4);
}

/**
 * Larger or smaller by `factor`; what is under `at` stays there.
 * @param {View} view
 * @param {Point} at
 * @param {number} factor
 * @param {Size} window
 * @param {Size} photo
 * @returns {View}
 */
export function zoomed(view, at, factor, window, photo) {
  const fit = fitScale(window, photo);
  const scale = clamp(view.scale * factor, Math.min(fit, 1) / 2, Math.max(LARGEST, fit));
  const ratio = scale / view.scale;
  return held({ scale, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio }, window, photo);
}

/** @param {View} view @param {Point} by @param {Size} window @param {Size} photo @returns {View} */
export const panned = (view, by, window, photo) =>
  held({ scale: view.scale, x: view.x + by.x, y: view.y + by.y }, window, photo);

/**
 * A box in the middle, three times its size around it.
 * @param {Box} box
 * @param {Size} window
 * @param {Size} photo
 * @returns {View}
 */
export function zoomedTo(box, window, photo) {
  const scale = clamp(
    Math.min(window.width / (box.w * photo.width), window.height / (box.h * photo.height)) / 3,
    Math.min(fitScale(window, photo), 1),
    LARGEST,
  );
  return {
    scale,
    x: window.width / 2 - (box.x + box.w / 2) * photo.width * scale,
    y: window.height / 2 - (box.y + box.h / 2) * photo.height * scale,
  };
}

/**
 * Moved as little as needed to bring a box into the window.
 * @param {View} view
 * @param {Box} box
 * @param {Size} window
 * @param {Size} photo
 * @returns {View}
 */
export function shown(view, box, window, photo) {
  const from = toWindow(view, box, photo);
  const to = toWindow(view, { x: box.x + box.w, y: box.y + box.h }, photo);
  const by = { x: into(from.x, to.x, window.width), y: into(from.y, to.y, window.height) };
  return by.x || by.y ? { ...view, x: view.x + by.x, y: view.y + by.y } : view;
}

/** @param {number} low @param {number} high @param {number} room */
function into(low, high, room) {
  if (high - low > room - 2 * MARGIN) return low < room && high > 0 ? 0 : room / 2 - (low + high) / 2;
  if (low < MARGIN) return MARGIN - low;
  return high > room - MARGIN ? room - MARGIN - high : 0;
}

/**
 * A place in the window as a share of the photo.
 * @param {View} view
 * @param {Point} point
 * @param {Size} photo
 * @returns {Point}
 */
export const toPhoto = (view, point, photo) => ({
  x: (point.x - view.x) / view.scale / photo.width,
  y: (point.y - view.y) / view.scale / photo.height,
});

/** @param {View} view @param {Point} point @param {Size} photo @returns {Point} */
export const toWindow = (view, point, photo) => ({
  x: point.x * photo.width * view.scale + view.x,
  y: point.y * photo.height * view.scale + view.y,
});

/** @param {View} view @param {Size} window @param {Size} photo @returns {View} */
const held = (view, window, photo) => ({
  scale: view.scale,
  x: clamp(view.x, KEPT - photo.width * view.scale, window.width - KEPT),
  y: clamp(view.y, KEPT - photo.height * view.scale, window.height - KEPT),
});
