/**
 * A text field with type-ahead over known names, as a combobox with a listbox of its own. Whatever is typed may be
 * taken; one that has `make` is created by the server when it is chosen. One that is `first` is marked at once, and is
 * what Enter takes: then a text that is left unfinished, without Enter, says nothing. One with a `key` is taken by it.
 *
 * @typedef {{text: string, hint: string, make?: () => Promise<string>, listed?: boolean, first?: boolean, key?: string}} Offer
 */
import { cycled } from "../model/hit.js";
import { element, setAttributes } from "./dom.js";

export class Combobox {
  /**
   * @param {HTMLInputElement} input
   * @param {HTMLElement} list
   * @param {{offers: (typed: string) => Offer[], commit: (text: string) => void,
   *   make?: (made: () => Promise<string>) => void, leave: (taken: boolean) => void,
   *   key?: (event: KeyboardEvent) => boolean, onlyByEnter?: boolean}} options `make` takes a name that has to be created
   *   first; `key` is asked first, and says whether it took the key; with `onlyByEnter` a text that is left behind says
   *   nothing
   */
  constructor(input, list, options) {
    this.input = input;
    this.list = list;
    this.options = options;
    /** @type {Offer[]} */
    this.offers = [];
    /** @type {Offer | null} */
    this.active = null;
    this.value = "";
    input.addEventListener("input", () => this.#open());
    input.addEventListener("click", () => this.#open());
    input.addEventListener("keydown", (event) => this.#key(event));
    input.addEventListener("blur", () => this.#blur());
    list.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      const option = /** @type {Element} */ (event.target).closest("[role=option]");
      const at = option ? [...list.children].indexOf(option) : -1;
      if (at >= 0) this.#take(this.offers[at]);
    });
  }

  /** @param {string} value @param {boolean} enabled */
  set(value, enabled) {
    if (document.activeElement !== this.input || value !== this.value) this.input.value = value;
    this.value = value;
    this.input.disabled = !enabled;
  }

  focus() {
    this.input.focus();
    this.input.select();
    this.#open();
  }

  #open() {
    this.offers = this.options.offers(this.input.value.trim());
    this.active = null;
    this.list.replaceChildren(
      ...this.offers.map((offer, at) =>
        element(
          "div",
          { role: "option", id: `${this.list.id}-${at}`, "aria-selected": "false" },
          element("span", {}, offer.text),
          element("small", {}, offer.hint),
          ...(offer.key ? [element("kbd", {}, offer.key)] : []),
        ),
      ),
    );
    this.#expanded(this.offers.length > 0);
    const [first] = this.offers;
    if (first?.first) this.#activate(first);
  }

  /** @param {boolean} open */
  #expanded(open) {
    this.list.hidden = !open;
    setAttributes(this.input, { "aria-expanded": String(open), "aria-activedescendant": null });
  }

  /** @param {Offer | null} offer */
  #activate(offer) {
    this.active = offer;
    [...this.list.children].forEach((option, at) => {
      const chosen = this.offers[at] === offer;
      option.setAttribute("aria-selected", String(chosen));
      if (!chosen) return;
      this.input.setAttribute("aria-activedescendant", option.id);
      option.scrollIntoView({ block: "nearest" });
    });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const plain = !this.list.hidden && !event.ctrlKey && !event.metaKey && !event.altKey;
    const keyed = plain ? this.offers.find(({ key }) => key === event.key) : undefined;
    if (this.options.key?.(event)) event.preventDefault();
    else if (keyed) {
      event.preventDefault();
      this.#take(keyed);
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (this.list.hidden) this.#open();
      this.#activate(cycled(this.offers, this.active, event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.#take(this.active ?? { text: this.input.value.trim(), hint: "" });
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.input.value = this.value;
      this.options.leave(false);
    }
  }

  /** @param {Offer} offer */
  #take({ text, make }) {
    this.#expanded(false);
    this.input.value = text;
    this.value = text;
    if (make) this.options.make?.(make);
    else this.options.commit(text);
    this.options.leave(true);
  }

  #blur() {
    this.#expanded(false);
    const text = this.input.value.trim();
    if (text === this.value || this.input.disabled) return;
    if (this.options.onlyByEnter || (this.active?.first && this.active.text !== text)) {
      this.input.value = this.value;
      return;
    }
    this.value = text;
    this.options.commit(text);
  }
}
