/** A row of toggle buttons: one stop for Tab, arrows within, Space or Enter switches. */
import { cycled } from "../model/hit.js";
import { element } from "./dom.js";

export class Toggles {
  /**
   * @param {HTMLElement} root
   * @param {readonly string[]} names
   * @param {(name: string) => void} toggle
   * @param {(name: string) => string} words
   */
  constructor(root, names, toggle, words) {
    this.root = root;
    this.words = words;
    this.toggle = toggle;
    /** @type {Map<string, HTMLButtonElement>} */
    this.buttons = new Map();
    root.addEventListener("keydown", (event) => this.#key(event));
    this.#add(names);
  }

  /** @param {readonly string[]} names */
  #add(names) {
    for (const name of names.filter((n) => !this.buttons.has(n))) {
      const button = /** @type {HTMLButtonElement} */ (
        element(
          "button",
          { type: "button", class: "toggle", "aria-pressed": "false", tabindex: this.buttons.size ? -1 : 0 },
          this.words(name),
        )
      );
      button.addEventListener("click", () => this.toggle(name));
      this.buttons.set(name, button);
      this.root.append(button);
    }
  }

  /** @param {readonly string[]} on @param {boolean} enabled */
  show(on, enabled) {
    this.#add(on);
    for (const [name, button] of this.buttons) {
      button.setAttribute("aria-pressed", String(on.includes(name)));
      button.disabled = !enabled;
    }
  }

  focus() {
    /** @type {HTMLElement | null} */ (this.root.querySelector("button[tabindex='0']"))?.focus();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const by =
      event.key === "ArrowRight" || event.key === "ArrowDown"
        ? 1
        : event.key === "ArrowLeft" || event.key === "ArrowUp"
          ? -1
          : 0;
    if (!by || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    const buttons = [...this.buttons.values()];
    const next = cycled(buttons, /** @type {any} */ (document.activeElement), by);
    for (const button of buttons) button.tabIndex = button === next ? 0 : -1;
    next?.focus();
  }
}
