/**
 * A listbox that follows the keyboard wherever it is: the selected row is the active one, and is scrolled into sight.
 *
 * @typedef {{id: string, number: string, title: string, detail: string, kind: string}} Row
 */
import { cycled } from "../model/hit.js";
import { element, setAttributes } from "./dom.js";

export class Listbox {
  /** @param {HTMLElement} root @param {(id: string) => void} select @param {(id: string) => void} [open] */
  constructor(root, select, open = () => {}) {
    this.root = root;
    this.select = select;
    /** @type {Map<string, HTMLElement>} */
    this.options = new Map();
    /** @type {Row[]} */
    this.rows = [];
    /** @type {string | null} */
    this.selected = null;
    root.addEventListener("keydown", (event) => this.#key(event));
    root.addEventListener("click", (event) => {
      const option = /** @type {Element} */ (event.target).closest("[data-id]");
      if (option instanceof HTMLElement) select(option.dataset.id ?? "");
    });
    root.addEventListener("dblclick", (event) => {
      const option = /** @type {Element} */ (event.target).closest("[data-id]");
      if (option instanceof HTMLElement) open(option.dataset.id ?? "");
    });
  }

  /** @param {Row[]} rows @param {string | null} selected @param {string} empty what to say when there is nothing */
  show(rows, selected, empty) {
    const before = new Map(this.rows.map((row) => [row.id, row]));
    const options = rows.map((row) => {
      const known = this.options.get(row.id);
      return known && same(before.get(row.id), row) ? known : this.#option(row);
    });
    this.options = new Map(rows.map((row, at) => [row.id, options[at]]));
    this.rows = rows;
    const shown = rows.length
      ? options
      : [element("div", { class: "empty", role: "option", "aria-disabled": "true" }, empty)];
    if (shown.length !== this.root.children.length || shown.some((option, at) => option !== this.root.children[at]))
      this.root.replaceChildren(...shown);
    this.#mark(selected);
  }

  /** @param {string | null} selected */
  #mark(selected) {
    const moved = selected !== this.selected;
    this.selected = selected;
    for (const [id, option] of this.options) option.setAttribute("aria-selected", String(id === selected));
    const option = selected === null ? undefined : this.options.get(selected);
    setAttributes(this.root, { "aria-activedescendant": option?.id ?? null });
    if (moved) option?.scrollIntoView({ block: "nearest" });
  }

  /** @param {Row} row */
  #option(row) {
    return element(
      "div",
      { role: "option", id: `row-${row.id}`, "data-id": row.id, class: row.kind },
      element("span", { class: "number" }, row.number),
      element("span", { class: "title" }, row.title),
      element("span", { class: "detail" }, row.detail),
    );
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const ids = this.rows.map((row) => row.id);
    const plain = !event.ctrlKey && !event.altKey && !event.metaKey && !event.shiftKey;
    const to = {
      ArrowDown: () => (this.selected === ids.at(-1) ? null : cycled(ids, this.selected, 1)),
      ArrowUp: () => (this.selected === ids[0] ? null : cycled(ids, this.selected, -1)),
      Home: () => ids[0],
      End: () => ids.at(-1),
    }[event.key];
    if (!to || !plain) return;
    event.preventDefault();
    const id = to();
    if (id) this.select(id);
  }
}

/** @param {Row | undefined} a @param {Row} b */
const same = (a, b) => a?.number === b.number && a.title === b.title && a.detail === b.detail && a.kind === b.kind;
