/** What the editors of a photo have in common: how they begin, open a photo, go through it, and call it done. */
import { isDrawn } from "../model/geometry.js";
import { cycled } from "../model/hit.js";
import { find } from "./dom.js";
import { LinkLines } from "./link_lines.js";
import { Session } from "./session.js";
import { Shapes } from "./shapes.js";
import { Shell } from "./shell.js";
import { fingerMode } from "./small.js";
import { Stage } from "./stage.js";

/**
 * An editor says how it shows its document (`show`), what it selects on a new photo (`arrive`), what lets go of the
 * selection (`letGo`), and what its document is when all of it is done (`finished`).
 */
export class PhotoEditor {
  /** @param {any} config @param {import("./session.js").Adapter} adapter */
  constructor(config, adapter) {
    this.config = config;
    this.ghostsShown = true;
    /** What is selected: a box, or a person. @type {string | null} */
    this.selected = null;
    /** @type {import("./drawing.js").Drawing | null} */
    this.drawing = null;
    this.session = new Session(config, adapter, {
      opened: () => this.#opened(),
      edited: () => this.show(),
      saved: () => this.saved(),
      queued: () => this.queued(),
      said: (text, kind) => this.shell.say(text, kind),
    });
    this.shell = new Shell(this.session);
    this.stage = new Stage(find("#stage"), {
      viewed: () => this.#viewed(),
      failed: () => this.shell.say("The picture of this photo cannot be loaded.", "problem"),
    });
    this.lines = new LinkLines(this.stage); // below the boxes
    this.shapes = new Shapes(this.stage);
  }

  /** Take keys, and show the photo. @param {import("./keys.js").Command[]} commands */
  begin(commands) {
    this.shell.keys(commands);
    fingerMode(this.stage);
    this.session.start();
    this.stage.root.focus({ preventScroll: true });
  }

  /** @returns {any} */
  get doc() {
    return this.session.doc;
  }

  show() {}

  /** @param {boolean} _same whether it is the photo that was shown before */
  arrive(_same) {}

  /** @param {any} _id */
  select(_id) {}

  /** Whether something was selected. */
  letGo() {
    if (!this.selected) return false;
    this.select(null);
    return true;
  }

  /** How many suggestions are left after an answer to one. @param {number} left @param {string} [none] */
  sayLeft(left, none = "All suggestions are answered.") {
    this.shell.say(left ? `${left} left to answer.` : none);
  }

  /** @returns {any} */
  finished() {
    return { ...this.doc, labeled: true };
  }

  saved() {
    this.shell.showSaving();
  }

  queued() {
    this.shell.showQueue();
  }

  #opened() {
    const same = this.shownPhoto === this.session.photo.sha256;
    this.shownPhoto = this.session.photo.sha256;
    this.stage.show(this.session.photo, same);
    this.arrive(same);
    this.show();
    this.shell.showQueue();
    this.shell.showSaving();
    if (!same) this.shell.say("");
  }

  #viewed() {
    this.shapes.follow();
    find("#zoom").textContent = `${Math.round(this.stage.view.scale * 100)} %`;
  }

  /**
   * Go through what is on the photo; the key stays the browser's where the photo has not got it.
   * @template T
   * @param {KeyboardEvent} event @param {T[]} all @param {T | null} current @param {(next: T) => void} select
   */
  through(event, all, current, select) {
    if (event.target !== this.stage.root || !all.length) return false;
    select(/** @type {T} */ (cycled(all, current, event.shiftKey ? -1 : 1)));
    return true;
  }

  escape() {
    if (this.drawing?.cancel) this.drawing.cancel();
    else if (document.activeElement !== this.stage.root) this.stage.root.focus({ preventScroll: true });
    else if (!this.letGo()) find("#boxes").focus();
  }

  /** @param {any} box @param {string} otherwise */
  zoomTo(box, otherwise) {
    if (box && isDrawn(box)) this.stage.zoomTo(box);
    else this.shell.say(otherwise);
  }

  toggleGhosts() {
    this.ghostsShown = !this.ghostsShown;
    this.show();
    this.shell.say(this.ghostsShown ? "Suggestions are shown." : "Suggestions are hidden (H).");
  }

  otherSplit() {
    if (this.config.blind) return;
    this.session.edit({ ...this.doc, split: this.doc.split === "iteration" ? "holdout" : "iteration" });
  }

  async done() {
    if (this.session.moving) return this.shell.tooEarly();
    if (!this.doc.labeled) this.session.edit(this.finished());
    return this.shell.saveAndGoOn();
  }

  /** Nothing of this is in the photo, which nobody may say of what is there. @param {number} there @param {string} noun @param {() => any} empty */
  async nothing(there, noun, empty) {
    if (this.session.moving) return this.shell.tooEarly();
    if (there) return this.shell.say(`There are ${there} ${noun} here; delete them first, or say done (D).`, "problem");
    this.session.edit(empty());
    return this.shell.saveAndGoOn();
  }
}
