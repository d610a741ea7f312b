/** Small screens: what one finger does, and a phone, where labels are looked at and not changed. */
import { find } from "./dom.js";

/** Whether this is a phone: too small to draw on with a finger. A window that is zoomed in is none. */
export const isPhone = () => matchMedia("(max-width: 600px) and (pointer: coarse)").matches;

/** The button that says what one finger does. @param {import("./stage.js").Stage} stage */
export function fingerMode(stage) {
  const button = find("#finger");
  const show = () => {
    button.setAttribute("aria-pressed", String(stage.fingerPans));
    button.textContent = stage.fingerPans ? "One finger moves the photo" : "One finger draws";
  };
  button.addEventListener("click", () => {
    stage.fingerPans = !stage.fingerPans;
    show();
  });
  show();
}
