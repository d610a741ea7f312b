/**
 * A list of groups of faces that is as quick with thousands of them: only the lines in the window, and a few beyond it,
 * are on the page.
 *
 * @typedef {import("../model/people.js").Group} Group
 * @typedef {import("../model/people.js").Line} Line
 * @typedef {{current: string | null, cursor: number, selected: Map<string, unknown>, carried: string | null}} Shown
 */
import { CELL, detailOf, guessOf, lineAt, linesOf, linesWith, titleOf } from "../model/people.js";
import { element, everyFrame } from "./dom.js";

/** Pixels beyond the window that are ready, and how close to the end more groups are asked for. */
const BEYOND = 400;
const NEAR_END = 2500;
const KIND = "application/x-harness-face";

export class GroupList {
  /**
   * @param {HTMLElement} root
   * @param {HTMLElement} inner
   * @param {{pick: (id: string, face: string | null, along: boolean) => void, drop: (face: string, id: string) => void,
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
    this.shown = { current: null, cursor: 0, selected: new Map(), carried: null };
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
    this.shown = { ...shown, selected: new Map(shown.selected) };
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
    if (offset !== null) this.root.scrollTop = (this.#own()[0]?.top ?? 0) - offset;
    this.#redraw();
  }

  /** The lines of the current group. */
  #own() {
    const at = this.groups.findIndex(({ id }) => id === this.shown.current);
    return at < 0 ? [] : linesWith(this.lines, at);
  }

  /** How far below the upper edge the current group is, where it is in the window. @returns {number | null} */
  #offset() {
    const first = this.made.values().next().value;
    const head = first && this.inner.querySelector(".current")?.closest(".line");
    const offset = head ? parseFloat(/** @type {HTMLElement} */ (head).dataset.top ?? "0") - this.root.scrollTop : null;
    return offset !== null && offset >= 0 && offset < this.root.clientHeight ? offset : null;
  }

  /** Bring the current face, or the head of its group, into the window. */
  reveal() {
    const own = this.#own();
    const row = own.find(({ from, to }) => from <= this.shown.cursor && this.shown.cursor < to) ?? own[0];
    if (!row) return;
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
    const groups = this.groups.slice(line.group, line.group + line.groups);
    const [group] = groups;
    const shared = line.kind === "alone" || groups.length > 1;
    const current = !shared && group.id === this.shown.current;
    const made = element("div", {
      class: `line ${line.kind}${current ? " current" : ""}`,
      "data-group": shared ? null : group.id,
      "data-top": line.top,
    });
    made.style.transform = `translateY(${line.top}px)`;
    made.style.top = "0";
    if (line.kind === "alone") made.append(...groups.map((each) => this.#alone(each)));
    else if (line.kind === "faces") made.append(...group.faces.slice(line.from, line.to).map((face, at) => this.#crop(face, current && line.from + at === this.shown.cursor)));
    else if (shared) made.append(element("strong", {}, "Seen once"), element("span", { class: "quiet" }, `${groups.length} faces, none of which looks like another one`));
    else made.append(...this.#head(group));
    return made;
  }

  /** A group of one face. @param {Group} group */
  #alone(group) {
    const current = group.id === this.shown.current;
    const made = element("div", { class: `one${current ? " current" : ""}${group.id === this.shown.carried ? " carried" : ""}`, "data-group": group.id });
    made.append(this.#crop(group.faces[0], current), element("span", { class: "guess" }, guessOf(group)));
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

  /** @param {MouseEvent} event */
  #click(event) {
    const target = /** @type {Element} */ (event.target);
    const group = /** @type {HTMLElement | null} */ (target.closest("[data-group]"));
    const crop = /** @type {HTMLElement | null} */ (target.closest(".crop"));
    if (group?.dataset.group) this.actions.pick(group.dataset.group, crop?.dataset.face ?? null, event.ctrlKey || event.metaKey);
  }

  /** @param {DragEvent} event */
  #drag(event) {
    const crop = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest(".crop"));
    if (crop?.dataset.face) event.dataTransfer?.setData(KIND, crop.dataset.face);
  }

  /** @param {DragEvent} event */
  #over(event) {
    const line = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-group]"));
    if (!line || !event.dataTransfer?.types.includes(KIND)) return;
    line.classList.toggle("drop", event.type === "dragover");
    if (event.type === "dragover") event.preventDefault();
    if (event.type !== "drop") return;
    event.preventDefault();
    this.actions.drop(event.dataTransfer.getData(KIND), line.dataset.group ?? "");
  }
}
