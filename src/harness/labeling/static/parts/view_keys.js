/** The keys that move the photo in the window, the same in every editor. */

/** @param {import("./stage.js").Stage} stage @param {() => void} zoomToBox @returns {import("./keys.js").Command[]} */
export const viewCommands = (stage, zoomToBox) => [
  { group: "View", keys: ["f"], label: "whole photo", run: () => stage.fit() },
  { group: "View", keys: ["z"], label: "zoom to the box", run: zoomToBox },
  { group: "View", keys: ["+", "="], label: "larger; also the wheel, at the cursor", run: () => stage.zoom(1.25) },
  { group: "View", keys: ["-"], label: "smaller", run: () => stage.zoom(0.8) },
  { group: "View", keys: ["0"], label: "pixel by pixel", run: () => stage.actual() },
  {
    group: "View",
    keys: ["Space"],
    label: "hold and drag to move the photo; also the middle button",
    run: (event) => {
      if (onControl(event)) return false;
      stage.holdSpace(true);
      return true;
    },
  },
];

/** Whether a key belongs to the control that has the focus. @param {Event} event */
export const onControl = (event) =>
  event.target instanceof Element && event.target.closest("button, a, input, summary") !== null;
