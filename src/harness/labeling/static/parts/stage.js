/**
 * The photo and the one SVG over it. The photo lies in the window as a `View` says; wheel and drag change the view.
 * Shapes are drawn in pixels of the photo and moved with it; labels and handles are in pixels of the window.
 *
 * @typedef {import("../model/view.js").View} View
 * @typedef {import("../model/geometry.js").Point} Point
 * @typedef {import("../model/geometry.js").Size} Size
 */
import { fitted, panned, shown, toPhoto, zoomed, zoomedTo } from "../model/view.js";
import { everyFrame, find, svg } from "./dom.js";

/** The long side of the picture that is shown until more pixels are needed. */
const SCREEN = 2048;

export class Stage {
  /** @param {HTMLElement} root @param {{viewed: () => void, failed: () => void}} listener */
  constructor(root, listener) {
    this.root = root;
    this.listener = listener;
    this.image = /** @type {HTMLImageElement} */ (find("img", root));
    this.overlay = find("svg", root);
    this.shapes = svg("g", { class: "shapes" });
    this.labels = svg("g", { class: "labels" });
    this.handles = svg("g", { class: "handles" });
    this.overlay.append(this.shapes, this.labels, this.handles);
    /** @type {Size} */
    this.size = { width: 1, height: 1 };
    /** @type {View} */
    this.view = { scale: 1, x: 0, y: 0 };
    /** @type {Size} */
    this.window = { width: 1, height: 1 };
    this.left = this.top = 0;
    this.fits = true;
    this.spaceHeld = false;
    /** The fingers on the photo. @type {Map<number, Point>} */
    this.touches = new Map();
    /** Whether one finger moves the photo; else it draws. */
    this.fingerPans = false;
    /** A second finger has come: whatever the first one does is taken back. @type {() => void} */
    this.pinched = () => {};
    this.draw = everyFrame(() => this.#draw());
    this.#measure();
    new ResizeObserver(() => this.#resized()).observe(root);
    this.#listen();
  }

  /** @param {any} photo @param {boolean} keepView */
  show(photo, keepView = false) {
    this.size = { width: photo.width, height: photo.height };
    const source = photo.source ?? `/photos/${photo.sha256}/`;
    const { root } = this;
    if (this.source !== source) {
      this.source = source;
      this.sharp = false;
      root.classList.add("loading"); // never the picture of one photo under the boxes of another
      this.image.src = source + "screen";
    }
    if (!keepView) this.fit();
    else this.draw();
  }

  /** Where a pointer is, in pixels of the window. @param {MouseEvent} event @returns {Point} */
  at(event) {
    return { x: event.clientX - this.left, y: event.clientY - this.top };
  }

  /** @param {MouseEvent} event */
  inPhoto(event) {
    return toPhoto(this.view, this.at(event), this.size);
  }

  /** @param {View} view */
  setView(view) {
    this.view = view;
    this.fits = false;
    this.draw();
  }

  fit() {
    this.view = fitted(this.window, this.size);
    this.fits = true;
    this.draw();
  }

  /** @param {import("../model/geometry.js").Box} box */
  zoomTo(box) {
    this.setView(zoomedTo(box, this.window, this.size));
  }

  /** @param {number} factor @param {Point} [at] */
  zoom(factor, at = { x: this.window.width / 2, y: this.window.height / 2 }) {
    this.setView(zoomed(this.view, at, factor, this.window, this.size));
  }

  /** One pixel of the photo for one of the window. */
  actual() {
    this.zoom(1 / this.view.scale);
  }

  /** @param {import("../model/geometry.js").Box} box */
  reveal(box) {
    const view = shown(this.view, box, this.window, this.size);
    if (view !== this.view) this.setView(view);
  }

  #measure() {
    const { left, top, width, height } = this.root.getBoundingClientRect();
    this.left = left;
    this.top = top;
    this.window = { width, height };
  }

  #resized() {
    this.#measure();
    if (this.fits) this.fit();
    else this.draw();
  }

  #draw() {
    const { scale, x, y } = this.view;
    const { style } = this.image;
    style.width = `${this.size.width}px`;
    style.height = `${this.size.height}px`;
    style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    this.shapes.setAttribute("transform", `translate(${x} ${y}) scale(${scale})`);
    this.#sharpen();
    this.listener.viewed();
  }

  /** Fetch all pixels once the view needs more than the screen picture has. */
  #sharpen() {
    const long = Math.max(this.size.width, this.size.height);
    if (this.sharp || long <= SCREEN || this.view.scale * devicePixelRatio * long < SCREEN * 1.1) return;
    this.sharp = true;
    const { source } = this;
    const full = new Image();
    full.src = source + "full";
    full.decode().then(
      () => this.source === source && (this.image.src = full.src),
      () => this.source === source && (this.sharp = false),
    );
  }

  #listen() {
    this.image.addEventListener("load", () => this.root.classList.remove("loading"));
    this.image.addEventListener("error", () => this.listener.failed());
    this.root.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.root.addEventListener("pointerdown", (event) => this.#touched(event));
    for (const end of ["pointerup", "pointercancel"])
      this.root.addEventListener(end, (event) => this.touches.delete(/** @type {PointerEvent} */ (event).pointerId));
    this.root.addEventListener("pointerdown", (event) => {
      if (event.button === 1 || (event.button === 0 && this.spaceHeld)) this.#pan(event);
    });
    this.root.addEventListener("auxclick", (event) => event.preventDefault());
    addEventListener("keyup", (event) => event.code === "Space" && this.holdSpace(false));
    addEventListener("blur", () => this.holdSpace(false));
  }

  /**
   * One finger draws, or moves the photo where that was chosen; two fingers pinch and move, and take back what the first
   * one had begun.
   * @param {PointerEvent} event
   */
  #touched(event) {
    if (event.pointerType !== "touch") return;
    this.touches.set(event.pointerId, this.at(event));
    if (this.touches.size === 1 && this.fingerPans) this.#pan(event);
    if (this.touches.size !== 2) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.pinched();
    this.#pinch();
  }

  #pinch() {
    const start = this.view;
    const [from, to] = [...this.touches.values()];
    const apart = Math.max(1, Math.hypot(from.x - to.x, from.y - to.y));
    const middle = { x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 };
    const move = (/** @type {PointerEvent} */ event) => {
      if (!this.touches.has(event.pointerId)) return;
      this.touches.set(event.pointerId, this.at(event));
      const [a, b] = [...this.touches.values()];
      if (!b) return stop();
      const factor = Math.hypot(a.x - b.x, a.y - b.y) / apart;
      const by = { x: (a.x + b.x) / 2 - middle.x, y: (a.y + b.y) / 2 - middle.y };
      this.setView(panned(zoomed(start, middle, factor, this.window, this.size), by, this.window, this.size));
    };
    const stop = () => this.root.removeEventListener("pointermove", move);
    this.root.addEventListener("pointermove", move);
    this.root.addEventListener("pointerup", stop, { once: true });
    this.root.addEventListener("pointercancel", stop, { once: true });
  }

  /** @param {boolean} held */
  holdSpace(held) {
    this.spaceHeld = held;
    this.root.classList.toggle("pans", held);
  }

  /** @param {WheelEvent} event */
  #wheel(event) {
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 30 : event.deltaY;
    const factor = Math.exp(-pixels * (event.ctrlKey ? 0.01 : 0.0016));
    this.zoom(Math.min(2.5, Math.max(0.4, factor)), this.at(event));
  }

  /** @param {PointerEvent} down */
  #pan(down) {
    down.preventDefault();
    down.stopImmediatePropagation();
    const { root } = this;
    const start = this.view;
    root.setPointerCapture(down.pointerId);
    root.classList.add("panning");
    const move = (/** @type {PointerEvent} */ event) =>
      this.touches.size < 2 &&
      this.setView(
        panned(start, { x: event.clientX - down.clientX, y: event.clientY - down.clientY }, this.window, this.size),
      );
    const end = () => {
      root.classList.remove("panning");
      root.removeEventListener("pointermove", move);
    };
    root.addEventListener("pointermove", move);
    root.addEventListener("lostpointercapture", end, { once: true });
  }
}
