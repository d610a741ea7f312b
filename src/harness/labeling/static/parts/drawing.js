/**
 * What the pointer does to boxes: draw, move, resize, choose. Each gesture changes one shape until it ends; then it is
 * one edit. Escape takes a gesture back.
 *
 * @typedef {import("../model/geometry.js").Box} Box
 * @typedef {import("../model/geometry.js").Point} Point
 * @typedef {Box & {id: string}} Placed
 * @typedef {object} Steps of one gesture; `far` says that the pointer has moved enough not to be a click
 * @property {(event: PointerEvent) => void} move
 * @property {(event: PointerEvent, far: boolean) => void} end
 * @property {() => void} undo
 * @typedef {object} Target what the gestures act on
 * @property {() => readonly Placed[]} boxes
 * @property {() => readonly Placed[]} ghosts
 * @property {() => string | null} selected
 * @property {(id: string | null) => void} select
 * @property {(id: string, box: Box) => void} place
 * @property {(box: Box) => void} drawn
 * @property {(id: string) => void} accept
 * @property {() => boolean} editable
 * @property {(box: Box | null) => void} showing the place of a box while it changes
 */
import { moved, resized, spanned } from "../model/geometry.js";
import { boxesAt, cycled, handleAt } from "../model/hit.js";
import { toWindow } from "../model/view.js";
import { everyFrame, svg } from "./dom.js";

/** A pointer that moved less than this has clicked. */
const CLICK = 4;

export class Drawing {
  /** @param {import("./stage.js").Stage} stage @param {import("./shapes.js").Shapes} shapes @param {Target} target */
  constructor(stage, shapes, target) {
    this.stage = stage;
    this.shapes = shapes;
    this.target = target;
    this.rubber = svg("rect", { class: "rubber none" });
    stage.shapes.after(this.rubber);
    /** @type {(() => void) | null} */
    this.cancel = null;
    stage.pinched = () => this.cancel?.();
    stage.root.addEventListener("pointerdown", (event) => this.#down(event));
    stage.root.addEventListener(
      "pointermove",
      everyFrame((event) => this.#hover(event)),
    );
    stage.root.addEventListener("dblclick", (event) => this.#doubled(event));
  }

  /** @param {PointerEvent} event */
  #down(event) {
    if (event.button !== 0 || this.stage.spaceHeld) return;
    event.preventDefault();
    this.stage.root.focus({ preventScroll: true });
    const handle = event.shiftKey || !this.target.editable() ? null : this.#handle(event);
    const selected = this.#selected();
    if (handle && selected) return this.#drag(event, selected, (by) => resized(selected, handle, by, this.stage.size));
    const hits = event.shiftKey ? [] : boxesAt(this.target.boxes(), this.stage.inPhoto(event));
    if (!hits.length) return this.#draw(event);
    const hit = hits.find((box) => box.id === selected?.id) ?? hits[0];
    const again = hit.id === selected?.id ? cycled(hits, hit, 1) : hit;
    if (hit.id !== selected?.id) this.target.select(hit.id);
    if (this.target.editable())
      this.#drag(
        event,
        hit,
        (by) => moved(hit, by),
        () => this.target.select(again?.id ?? null),
      );
  }

  /** @param {MouseEvent} event */
  #handle(event) {
    const box = this.#selected();
    if (!box) return null;
    const { view, size } = this.stage;
    const corner = toWindow(view, box, size);
    const inWindow = { ...corner, w: box.w * size.width * view.scale, h: box.h * size.height * view.scale };
    return handleAt(inWindow, this.stage.at(event));
  }

  #selected() {
    return this.target.boxes().find((box) => box.id === this.target.selected()) ?? null;
  }

  /**
   * @param {PointerEvent} down
   * @param {Box & {id: string}} box
   * @param {(by: Point) => Box} change
   * @param {() => void} [clicked]
   */
  #drag(down, box, change, clicked = () => {}) {
    const start = this.stage.inPhoto(down);
    /** @param {PointerEvent} event */
    const changed = (event) => {
      const now = this.stage.inPhoto(event);
      return change({ x: now.x - start.x, y: now.y - start.y });
    };
    this.#gesture(down, {
      move: (event) => {
        const to = changed(event);
        this.shapes.move(box.id, to);
        this.target.showing(to);
      },
      end: (event, far) => (far ? this.target.place(box.id, changed(event)) : clicked()),
      undo: () => {
        this.shapes.move(box.id, box);
        this.target.showing(box);
      },
    });
  }

  /** @param {PointerEvent} down */
  #draw(down) {
    const start = this.stage.inPhoto(down);
    this.#gesture(down, {
      move: (event) => this.#stretch(spanned(start, this.stage.inPhoto(event))),
      end: (event, far) => {
        this.#stretch(null);
        const box = spanned(start, this.stage.inPhoto(event));
        const { width, height } = this.stage.size;
        if (far && this.target.editable() && box.w * width >= 2 && box.h * height >= 2) this.target.drawn(box);
        else if (!far) this.target.select(boxesAt(this.target.ghosts(), start)[0]?.id ?? null);
      },
      undo: () => this.#stretch(null),
    });
  }

  /** @param {Box | null} box */
  #stretch(box) {
    this.rubber.classList.toggle("none", !box);
    if (!box) return;
    const { view, size } = this.stage;
    const from = toWindow(view, box, size);
    const to = toWindow(view, { x: box.x + box.w, y: box.y + box.h }, size);
    this.rubber.setAttribute("x", String(from.x));
    this.rubber.setAttribute("y", String(from.y));
    this.rubber.setAttribute("width", String(to.x - from.x));
    this.rubber.setAttribute("height", String(to.y - from.y));
    this.target.showing(box);
  }

  /**
   * @param {PointerEvent} down
   * @param {Steps} steps
   */
  #gesture(down, steps) {
    const { root } = this.stage;
    let far = false;
    let over = false;
    const frame = everyFrame((/** @type {PointerEvent} */ event) => !over && steps.move(event));
    const move = (/** @type {PointerEvent} */ event) => {
      far ||= Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) >= CLICK;
      if (far) frame(event);
    };
    const stop = () => {
      over = true;
      this.cancel = null;
      root.removeEventListener("pointermove", move);
      root.removeEventListener("pointerup", up);
      root.removeEventListener("pointercancel", back);
    };
    const up = (/** @type {PointerEvent} */ event) => {
      stop();
      steps.end(event, far);
    };
    const back = () => {
      stop();
      steps.undo();
    };
    this.cancel = back;
    root.setPointerCapture(down.pointerId);
    root.addEventListener("pointermove", move);
    root.addEventListener("pointerup", up);
    root.addEventListener("pointercancel", back);
  }

  /** @param {PointerEvent} event */
  #hover(event) {
    if (this.cancel || event.buttons) return;
    const handle = event.shiftKey || !this.target.editable() ? null : this.#handle(event);
    const over = !event.shiftKey && boxesAt(this.target.boxes(), this.stage.inPhoto(event)).length > 0;
    this.stage.root.dataset.cursor = handle ?? (over ? "move" : "draw");
  }

  /** @param {MouseEvent} event */
  #doubled(event) {
    const ghost = boxesAt(this.target.ghosts(), this.stage.inPhoto(event))[0];
    if (ghost && !boxesAt(this.target.boxes(), this.stage.inPhoto(event)).length) this.target.accept(ghost.id);
  }
}
