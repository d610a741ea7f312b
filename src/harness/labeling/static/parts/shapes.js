/**
 * Boxes as SVG: a shape in the photo's pixels, and a label in the window's. Only what has changed is touched: a drag
 * updates one shape, whatever else is on the photo.
 *
 * @typedef {import("../model/geometry.js").Box} Box
 * @typedef {{id: string, box: Box, kind: string, text: string, selected?: boolean, below?: boolean}} Shape
 *   `below`: the label stands under the box, where it hides nothing above it
 */
import { isDrawn } from "../model/geometry.js";
import { handlePoints } from "../model/hit.js";
import { toWindow } from "../model/view.js";
import { setAttributes, svg } from "./dom.js";

const CHARACTER = 6.7;
const LABEL_HEIGHT = 16;
const HANDLE = 9;
/** A side shorter than this has no room for a handle in its middle. */
const ROOMY = 34;

export class Shapes {
  /** @param {import("./stage.js").Stage} stage */
  constructor(stage) {
    this.stage = stage;
    /** @type {Map<string, {shape: Shape, group: SVGElement, label: SVGElement}>} */
    this.drawn = new Map();
    this.grips = new Map();
    /** @type {Box | null} */
    this.gripped = null;
  }

  /** Show exactly these; larger ones first, so that the smallest is on top. @param {Shape[]} shapes */
  show(shapes) {
    const wanted = shapes.filter((shape) => isDrawn(shape.box));
    const ids = new Set(wanted.map((shape) => shape.id));
    for (const [id, { group, label }] of this.drawn) {
      if (ids.has(id)) continue;
      group.remove();
      label.remove();
      this.drawn.delete(id);
    }
    for (const shape of wanted) this.#put(shape);
    this.#stack(wanted);
  }

  /** @param {Shape[]} shapes */
  #stack(shapes) {
    const rank = (/** @type {Shape} */ shape) => (shape.selected ? -1 : shape.box.w * shape.box.h);
    const ordered = [...shapes].sort((a, b) => rank(b) - rank(a)).map(({ id }) => id);
    if (ordered.join() === this.order) return;
    this.order = ordered.join();
    for (const layer of /** @type {const} */ (["group", "label"]))
      (layer === "group" ? this.stage.shapes : this.stage.labels).append(
        ...ordered.map((id) => /** @type {any} */ (this.drawn.get(id))[layer]),
      );
  }

  /** @param {Shape} shape */
  #put(shape) {
    const known = this.drawn.get(shape.id);
    const { shape: before, group, label } = known ?? this.#make(shape);
    if (!known || before.kind !== shape.kind || before.selected !== shape.selected) {
      group.setAttribute("class", `shape ${shape.kind}${shape.selected ? " selected" : ""}`);
      label.setAttribute("class", `label ${shape.kind}${shape.selected ? " selected" : ""}`);
    }
    if (!known || before.text !== shape.text) write(label, shape.text);
    if (!known || before.box !== shape.box) place(group, shape.box, this.stage.size);
    this.drawn.set(shape.id, { shape, group, label });
    if (!known || before.box !== shape.box) this.#placeLabel(shape.id);
  }

  /** @param {Shape} shape */
  #make(shape) {
    const group = svg("g", { "data-id": shape.id }, svg("rect", { class: "halo" }), svg("rect", { class: "edge" }));
    const label = svg("g", {}, svg("rect", { height: LABEL_HEIGHT, rx: 2 }), svg("text", { x: 4, y: 12 }));
    return { shape, group, label };
  }

  /** One box while it is dragged. @param {string} id @param {Box} box */
  move(id, box) {
    const known = this.drawn.get(id);
    if (!known) return;
    known.shape = { ...known.shape, box };
    place(known.group, box, this.stage.size);
    this.#placeLabel(id);
    if (known.shape.selected) this.grip(box);
  }

  /** @param {string} id */
  #placeLabel(id) {
    const { shape, label } = /** @type {any} */ (this.drawn.get(id));
    const { view, size } = this.stage;
    const corner = toWindow(view, shape.box, size);
    if (shape.below) {
      const bottom = corner.y + shape.box.h * size.height * view.scale;
      label.setAttribute("transform", `translate(${corner.x - 1} ${bottom + 2})`);
      return;
    }
    const above = corner.y >= LABEL_HEIGHT + 2;
    label.setAttribute("transform", `translate(${corner.x - 1} ${above ? corner.y - LABEL_HEIGHT - 2 : corner.y + 2})`);
  }

  /** Handles on a box, or on none. @param {Box | null} box */
  grip(box) {
    this.gripped = box && isDrawn(box) ? box : null;
    this.stage.handles.classList.toggle("none", !this.gripped);
    if (!box || !this.gripped) return;
    const { view, size } = this.stage;
    const wide = box.w * size.width * view.scale >= ROOMY;
    const high = box.h * size.height * view.scale >= ROOMY;
    const side = wide && high ? HANDLE : HANDLE - 3;
    for (const [handle, point] of Object.entries(handlePoints(this.gripped))) {
      const at = toWindow(view, point, size);
      const fits = handle.length === 2 || (/[ns]/.test(handle) ? wide : high);
      setAttributes(this.#grip(handle), {
        x: at.x - side / 2,
        y: at.y - side / 2,
        width: side,
        height: side,
        visibility: fits ? "visible" : "hidden",
      });
    }
  }

  /** @param {string} handle @returns {SVGElement} */
  #grip(handle) {
    if (!this.grips.has(handle)) {
      this.grips.set(handle, svg("rect", { class: `handle ${handle}` }));
      this.stage.handles.append(this.grips.get(handle));
    }
    return this.grips.get(handle);
  }

  /** The view has changed: put what is in pixels of the window where it belongs. */
  follow() {
    for (const id of this.drawn.keys()) this.#placeLabel(id);
    this.grip(this.gripped);
  }
}

/** @param {SVGElement} group @param {Box} box @param {import("../model/geometry.js").Size} size */
function place(group, box, size) {
  const attributes = {
    x: box.x * size.width,
    y: box.y * size.height,
    width: box.w * size.width,
    height: box.h * size.height,
  };
  for (const rect of group.children) setAttributes(rect, attributes);
}

/** @param {SVGElement} label @param {string} text */
function write(label, text) {
  const [back, words] = label.children;
  words.textContent = text;
  back.setAttribute("width", String(text.length * CHARACTER + 8));
  label.classList.toggle("none", !text);
  label.setAttribute("visibility", text ? "visible" : "hidden");
}
