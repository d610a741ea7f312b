/**
 * A list of groups of faces that is as quick with thousands of them: only the lines in the window, and a few beyond it,
 * are on the page.
 *
 * @typedef {import("../model/people.js").Group} Group
 * @typedef {import("../model/people.js").Line} Line
 * @typedef {{current: string | null, cursor: number, selected: Set<string>, carried: string | null}} Shown
 */
import { CELL, detailOf, lineAt, linesOf, titleOf } from "../model/people.js";
import { element, everyFrame } from "./dom.js";

/** Pixels beyond the window that are ready, and how close to the end more groups are asked for. */
const BEYOND = 400;
const NEAR_END = 2500;
const KIND = "application/x-harness-face";

export class GroupList {
  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} inner
   * @param {{pick: (id: string, face: string | null) => void, drop: (face: string, id: string) => void,
   *   nearEnd: () => void}} actions
   */
  constructor(root, inner, actions) {
    this.root = root;
    this.inner = inner;
    this.actions = actions;
    /** @type {Group[]} */
    this.groups = [];
    /** @type {Line[]} */
    this.lines = [];
    /** @type {Map<number, HTMLElement>} */
    this.made = new Map();
    /** @type {Shown} */
    this.shown = { current: null, cursor: 0, selected: new Set(), carried: null };
    const draw = everyFrame(() => this.#draw());
    root.addEventListener("scroll", draw, { passive: true });
    new ResizeObserver(() => this.#layout()).observe(root);
    root.addEventListener("click", (event) => this.#click(event));
    root.addEventListener("dragstart", (event) => this.#drag(event));
    for (const kind of ["dragover", "dragleave", "drop"])
      root.addEventListener(kind, (event) => this.#over(/** @type {DragEvent} */ (event)));
  }

  focus() {
    this.root.focus({ preventScroll: true });
  }

  /** @param {Group[]} groups @param {Shown} shown */
  show(groups, shown) {
    const same = groups === this.groups;
    this.shown = { ...shown, selected: new Set(shown.selected) };
    this.groups = groups;
    if (same) this.#redraw();
    else this.#layout();
  }

  #layout() {
    const columns = Math.max(1, Math.floor((this.root.clientWidth - 32) / CELL));
    const offset = this.#offset();
    this.lines = linesOf(this.groups, columns);
    const last = this.lines.at(-1);
    this.inner.style.height = `${last ? last.top + last.height + 40 : 0}px`;
    if (offset !== null) this.root.scrollTop = this.#top() - offset;
    this.#redraw();
  }

  /** Where the current group begins. */
  #top() {
    const at = this.groups.findIndex(({ id }) => id === this.shown.current);
    return this.lines.find(({ group, to }) => group === at && !to)?.top ?? 0;
  }

  /** How far below the upper edge the current group is, where it is in the window. @returns {number | null} */
  #offset() {
    const first = this.made.values().next().value;
    const head = first && this.inner.querySelector(".line.head.current");
    const offset = head ? parseFloat(/** @type {HTMLElement} */ (head).dataset.top ?? "0") - this.root.scrollTop : null;
    return offset !== null && offset >= 0 && offset < this.root.clientHeight ? offset : null;
  }

  /** Bring the current face, or the head of its group, into the window. */
  reveal() {
    const at = this.groups.findIndex(({ id }) => id === this.shown.current);
    const own = this.lines.filter(({ group }) => group === at);
    const row = own.find(({ from, to }) => from <= this.shown.cursor && this.shown.cursor < to) ?? own[0];
    if (!own[0] || !row) return;
    const { scrollTop, clientHeight } = this.root;
    const top = row === own[1] ? own[0].top : row.top;
    if (top < scrollTop) this.root.scrollTop = top;
    else if (row.top + row.height > scrollTop + clientHeight) this.root.scrollTop = row.top + row.height - clientHeight;
    this.#draw();
  }

  #redraw() {
    this.made.clear();
    this.inner.replaceChildren();
    this.#draw();
  }

  #draw() {
    const { scrollTop, clientHeight } = this.root;
    const from = lineAt(this.lines, scrollTop - BEYOND);
    const to = Math.min(this.lines.length, lineAt(this.lines, scrollTop + clientHeight + BEYOND) + 1);
    for (const [at, line] of this.made) {
      if (at >= from && at < to) continue;
      line.remove();
      this.made.delete(at);
    }
    for (let at = from; at < to; at += 1) {
      if (this.made.has(at)) continue;
      const made = this.#line(this.lines[at]);
      this.made.set(at, made);
      this.inner.append(made);
    }
    const last = this.lines.at(-1);
    if (last && scrollTop + clientHeight > last.top - NEAR_END) this.actions.nearEnd();
  }

  /** @param {Line} line */
  #line(line) {
    const group = this.groups[line.group];
    const current = group.id === this.shown.current;
    const made = element("div", {
      class: `line ${line.to ? "faces" : "head"}${current ? " current" : ""}`,
      "data-group": group.id,
      "data-top": line.top,
    });
    made.style.transform = `translateY(${line.top}px)`;
    made.style.top = "0";
    if (line.to) made.append(...group.faces.slice(line.from, line.to).map((face, at) => this.#crop(face, current && line.from + at === this.shown.cursor)));
    else made.append(...this.#head(group));
    return made;
  }

  /** @param {Group} group */
  #head(group) {
    const carried = group.id === this.shown.carried ? [element("span", { class: "carried" }, "taken up")] : [];
    return [element("strong", {}, titleOf(group)), element("span", { class: "quiet" }, detailOf(group)), ...carried];
  }

  /** @param {import("../model/people.js").Face} face @param {boolean} cursor */
  #crop(face, cursor) {
    return element(
      "button",
      {
        type: "button",
        class: `crop${cursor ? " cursor" : ""}`,
        tabindex: -1,
        draggable: "true",
        "aria-pressed": String(this.shown.selected.has(face.face)),
        "aria-label": `Face in ${face.file}${face.number ? `, number ${face.number}` : ""}`,
        title: face.file,
        "data-face": face.face,
      },
      element("img", { src: face.crop, alt: "", decoding: "async", width: 92, height: 92, draggable: "false" }),
      ...(face.number ? [element("span", { class: "number" }, face.number)] : []),
    );
  }

  /** @param {Event} event */
  #click(event) {
    const target = /** @type {Element} */ (event.target);
    const line = /** @type {HTMLElement | null} */ (target.closest(".line"));
    const crop = /** @type {HTMLElement | null} */ (target.closest(".crop"));
    if (line?.dataset.group) this.actions.pick(line.dataset.group, crop?.dataset.face ?? null);
  }

  /** @param {DragEvent} event */
  #drag(event) {
    const crop = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest(".crop"));
    if (crop?.dataset.face) event.dataTransfer?.setData(KIND, crop.dataset.face);
  }

  /** @param {DragEvent} event */
  #over(event) {
    const line = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest(".line"));
    if (!line || !event.dataTransfer?.types.includes(KIND)) return;
    line.classList.toggle("drop", event.type === "dragover");
    if (event.type === "dragover") event.preventDefault();
    if (event.type !== "drop") return;
    event.preventDefault();
    this.actions.drop(event.dataTransfer.getData(KIND), line.dataset.group ?? "");
  }
}
