/** The editor of bibs and of faces: what every key, button and gesture does to the labels of a photo. */
import { edgeOf, isDrawn, moved, resized, step } from "./model/geometry.js";
import { accepted, allAccepted, ghostsOf, openGhosts, rejected } from "./model/ghosts.js";
import { suspectShapes, suspectsOf } from "./model/suspects.js";
import { boxOf, none, realBoxes, toggled, withBox, withChange, without } from "./model/labels.js";
import { toPhoto } from "./model/view.js";
import { labelsAdapter } from "./parts/adapters.js";
import { boxCommands } from "./box_keys.js";
import { boxShapes, spoken, theirShapes } from "./parts/box_captions.js";
import { BoxForm } from "./parts/box_form.js";
import { Drawing } from "./parts/drawing.js";
import { find } from "./parts/dom.js";
import { KnownPeople } from "./parts/known_people.js";
import { PhotoEditor } from "./parts/photo_editor.js";
import { onControl } from "./parts/view_keys.js";

export class BoxEditor extends PhotoEditor {
  /** @param {any} config */
  constructor(config) {
    super(config, labelsAdapter(config.dimension, config.api));
    /** @type {import("./model/labels.js").Dimension} */
    this.dimension = config.dimension;
    /** @type {import("./model/autosave.js").Entry | null} */
    this.conflict = null;
    /** @type {import("./model/ghosts.js").Ghost[]} */
    this.allGhosts = [];
    this.drawing = new Drawing(this.stage, this.shapes, this.#target());
    this.form = new BoxForm(config, this.#actions());
    this.known = this.dimension === "faces" && !config.blind ? new KnownPeople((name) => this.nameAs(name)) : null;
    this.begin(boxCommands(this));
  }

  get doc() {
    return /** @type {import("./model/labels.js").Labels} */ (this.session.doc);
  }

  get box() {
    return boxOf(this.doc, this.selected);
  }

  get ghosts() {
    return openGhosts(this.allGhosts, this.doc);
  }

  /** @returns {import("./parts/drawing.js").Target} */
  #target() {
    return {
      boxes: () => this.doc.boxes,
      ghosts: () => (this.ghostsShown ? this.ghosts : []),
      selected: () => this.selected,
      select: (id) => this.select(id),
      place: (id, { x, y, w, h }) => this.session.edit(withChange(this.doc, id, { x, y, w, h })),
      drawn: (box) => this.#drawn(box),
      accept: (id) => this.answer(id, accepted),
      editable: () => !this.config.read_only,
      showing: (box) => this.#showPlace(box),
    };
  }

  #actions() {
    const change = (/** @type {any} */ fields) =>
      this.box && this.session.edit(withChange(this.doc, this.box.id, fields));
    return {
      select: (/** @type {string} */ id) => this.select(id, true),
      open: () => this.#type(),
      say: (/** @type {string} */ text, /** @type {any} */ kind) => this.shell.say(text, kind),
      setScope: (/** @type {string} */ scope) => this.setScope(scope),
      setText: (/** @type {string | null} */ text) => change({ [this.form.rules.field]: text }),
      makeName: (/** @type {() => Promise<string>} */ make) => {
        const { selected } = this;
        if (selected) void this.session.editNamed(make, (identity) => withChange(this.doc, selected, { identity }));
      },
      leaveText: () => this.stage.root.focus({ preventScroll: true }),
      toggleBoxTag: (/** @type {string} */ tag) => change({ tags: toggled(this.box?.tags ?? [], tag) }),
      togglePhotoTag: (/** @type {string} */ tag) =>
        this.session.edit({ ...this.doc, tags: toggled(this.doc.tags, tag) }),
      setSplit: (/** @type {string} */ split) => this.session.edit({ ...this.doc, split }),
      toggleLabeled: () => this.session.edit({ ...this.doc, labeled: !this.doc.labeled }),
      accept: () => this.answer(this.selected, accepted),
      reject: () => this.answer(this.selected, rejected),
      acceptAll: () => this.acceptAll(),
      remove: () => this.remove(),
      none: () => this.none(),
      done: () => this.done(),
    };
  }

  /** @param {boolean} same */
  arrive(same) {
    this.allGhosts = ghostsOf(this.session.photo, this.dimension);
    if (!same) this.selected = this.#asked() ?? (this.doc.labeled ? null : (this.ghosts[0]?.id ?? null));
    if (location.hash && this.box && isDrawn(this.box)) this.stage.zoomTo(this.box);
  }

  /** The box that the address asks for, as in `#box=2`; it is asked for once. @returns {string | null} */
  #asked() {
    const at = /^#box=(\d+)$/.exec(this.shownBefore ? "" : location.hash)?.[1];
    this.shownBefore = true;
    return at === undefined ? null : (this.doc.boxes[Number(at)]?.id ?? null);
  }

  saved() {
    this.shell.showSaving();
    if (this.conflict !== this.session.conflict) this.show();
  }

  /** A save may have settled a suspect. */
  queued() {
    this.shell.showQueue();
    if (this.shown?.suspects.length !== this.session.photo.suspects.length) this.show();
  }

  show() {
    const { ghosts, doc, dimension } = this;
    if (!boxOf(doc, this.selected) && !ghosts.some((ghost) => ghost.id === this.selected)) this.selected = null;
    const visible = this.ghostsShown ? ghosts : [];
    this.conflict = this.session.conflict;
    this.shapes.show([
      ...boxShapes(doc, visible, this.selected, dimension),
      ...theirShapes(doc, this.conflict?.theirs[dimension].boxes ?? []),
      ...suspectShapes(suspectsOf((this.shown = this.session.photo), dimension)),
    ]);
    const { box } = this;
    this.shapes.grip(this.config.read_only ? null : box);
    this.form.show({ doc, ghosts, selected: this.selected, provenance: this.session.photo.ghosts.provenance });
    const place = box ?? ghosts.find((ghost) => ghost.id === this.selected) ?? null;
    this.#showPlace(place);
    this.known?.show(this.session.photo.sha256, place);
    find("#stage-label").textContent = spoken(this.session.photo, doc, ghosts.length, box, dimension);
  }

  /** @param {import("./model/geometry.js").Box | null} box */
  #showPlace(box) {
    const { width, height } = this.stage.size;
    find("#place").textContent =
      box && isDrawn(box)
        ? `${pixels(box.x * width, box.y * height, ", ")} · ${pixels(box.w * width, box.h * height, " × ")} px`
        : "";
  }

  /** @param {string | null} id @param {boolean} [reveal] bring it into the window */
  select(id, reveal = false) {
    this.selected = id;
    this.show();
    const box = this.box ?? this.ghosts.find((ghost) => ghost.id === id);
    if (reveal && box && isDrawn(box)) this.stage.reveal(box);
  }

  /** @param {import("./model/geometry.js").Box} place */
  #drawn(place) {
    const { box } = this;
    if (box && !isDrawn(box)) return this.session.edit(withChange(this.doc, box.id, place));
    const { doc, id } = withBox(this.doc, place, this.dimension);
    this.selected = id;
    this.session.edit(doc);
  }

  newBox() {
    const { width, height } = this.stage.window;
    const centre = toPhoto(this.stage.view, { x: width / 2, y: height / 2 }, this.stage.size);
    const side = 90 / this.stage.view.scale;
    const w = Math.min(0.5, side / this.stage.size.width);
    const h = Math.min(0.5, side / this.stage.size.height);
    this.#drawn(moved({ x: 0, y: 0, w, h }, { x: centre.x - w / 2, y: centre.y - h / 2 }));
  }

  /** @param {KeyboardEvent} event */
  arrow(event) {
    const { box } = this;
    if (!box || !isDrawn(box)) return false;
    const by = step(event.key, event.shiftKey ? 10 : 1, this.stage.size);
    const control = event.ctrlKey || event.metaKey;
    const edge = edgeOf(event.key, event.altKey);
    const place = control || event.altKey ? resized(box, edge, by, this.stage.size) : moved(box, by);
    this.session.edit(withChange(this.doc, box.id, place), `arrow ${box.id} ${control || event.altKey ? edge : ""}`);
    this.stage.reveal(place);
    return true;
  }

  /** @param {KeyboardEvent} event */
  enter(event) {
    if (onControl(event)) return false;
    if (this.box) this.#type();
    else if (this.selected) this.shell.say("Accept the suggestion first (A).");
    else this.shell.say("Select a box first (Tab).");
    return true;
  }

  #type() {
    if (this.box && !this.config.read_only) this.form.text.focus();
  }

  tags() {
    if (this.box && this.config.box_tags.length) this.form.boxTags.focus();
    else this.form.photoTags.focus();
  }

  /** @param {KeyboardEvent} event */
  tab(event) {
    const ids = [...this.doc.boxes, ...(this.ghostsShown ? this.ghosts : [])].map(({ id }) => id);
    return this.through(event, ids, this.selected, (id) => this.select(id, true));
  }

  zoomToBox() {
    this.zoomTo(this.box ?? this.ghosts.find((ghost) => ghost.id === this.selected), "Select a box first (Tab).");
  }

  /** @param {string} scope */
  setScope(scope) {
    if (this.box) this.session.edit(withChange(this.doc, this.box.id, { scope }));
    else this.shell.say("Select a box first (Tab).");
  }

  remove() {
    const { box, doc } = this;
    if (!box) return this.shell.say("Select a box first (Tab).");
    const at = doc.boxes.indexOf(box);
    const next = without(doc, box.id);
    if (this.config.read_only) return this.session.edit(doc);
    this.selected = next.boxes[Math.min(at, next.boxes.length - 1)]?.id ?? null;
    this.session.edit(next);
    return this.shell.say("Deleted. Ctrl+Z brings it back.");
  }

  /** @param {string | null} id @param {typeof accepted} answer */
  answer(id, answer) {
    const { ghosts } = this;
    if (!ghosts.length) return this.shell.say("No suggestion is left to answer.");
    const at = ghosts.findIndex((ghost) => ghost.id === id);
    if (at < 0) return this.select(ghosts[0].id, true);
    if (this.config.read_only) return this.session.edit(this.doc);
    const { doc, id: made } = answer(this.doc, ghosts[at], this.dimension);
    const rest = openGhosts(this.allGhosts, doc);
    const after = ghosts.slice(at + 1).find((ghost) => rest.includes(ghost)) ?? rest[0];
    this.selected = after ? after.id : made;
    this.session.edit(doc);
    if (after) this.stage.reveal(after);
    return this.sayLeft(rest.length);
  }

  /** Say whose the selected face is; a suggestion is accepted with it. @param {string | null} name */
  nameAs(name) {
    const ghost = this.ghosts.find(({ id }) => id === this.selected);
    if (!name) return this.shell.say("Nobody is offered under this key.");
    if (!this.box && !ghost) return this.shell.say("Select a box first (Tab).");
    if (this.config.read_only) return this.session.edit(this.doc);
    const { doc, id } = this.box ? { doc: this.doc, id: this.box.id } : accepted(this.doc, /** @type {any} */ (ghost), this.dimension);
    this.selected = id;
    this.form.names?.used(name);
    this.session.edit(withChange(doc, id, { identity: name }));
    return this.shell.say(`This is ${name}.`);
  }

  acceptAll() {
    const { ghosts } = this;
    if (!ghosts.length) return this.shell.say("No suggestion is left to answer.");
    this.session.edit(allAccepted(this.doc, ghosts, this.dimension));
    return this.shell.say(`${ghosts.length} accepted.`);
  }

  none() {
    const real = realBoxes(this.doc, this.dimension).length;
    return this.nothing(real, "boxes", () => none(this.doc, this.dimension));
  }
}

/** @param {number} a @param {number} b @param {string} between */
const pixels = (a, b, between) => `${Math.round(a)}${between}${Math.round(b)}`;
