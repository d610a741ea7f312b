/** The keys that move the photo in the window, the same in every editor. */
import { command } from "./keys.js";

/** @param {import("./stage.js").Stage} stage @param {() => void} zoomToBox @returns {import("./keys.js").Command[]} */
export const viewCommands = (stage, zoomToBox) => [
  command("View", "f", "whole photo", () => stage.fit()),
  command("View", "z", "zoom to the box", zoomToBox),
  command("View", "+ =", "larger; also the wheel, at the cursor", () => stage.zoom(1.25), "+"),
  command("View", "-", "smaller", () => stage.zoom(0.8)),
  command("View", "0", "pixel by pixel", () => stage.actual()),
  command("View", "Space", "hold and drag to move the photo; also the middle button", (event) => {
    if (onControl(event)) return false;
    stage.holdSpace(true);
    return true;
  }),
];

/** Whether a key belongs to the control that has the focus. @param {Event} event */
export const onControl = (event) =>
  event.target instanceof Element && event.target.closest("button, a, input, summary") !== null;
