/** The editor of links: which face belongs to which bib. Bibs and faces stay as they are. */
import { isDrawn } from "./model/geometry.js";
import { boxesAt, cycled } from "./model/hit.js";
import { allLinked, dismissedLink, has, nearest, openSuggestions, toggledLink } from "./model/pairs.js";
import { suspectShapes, suspectsOf } from "./model/suspects.js";
import { linkCommands } from "./link_keys.js";
import { linksAdapter } from "./parts/adapters.js";
import { find } from "./parts/dom.js";
import { LinkForm } from "./parts/link_form.js";
import { PhotoEditor } from "./parts/photo_editor.js";
import { onControl } from "./parts/view_keys.js";

export class LinkEditor extends PhotoEditor {
  /** @param {any} config */
  constructor(config) {
    super(config, linksAdapter);
    /** @type {number | null} */
    this.bib = null;
    /** @type {number | null} */
    this.face = null;
    this.form = new LinkForm(config, this.#actions());
    this.stage.root.addEventListener("pointerdown", (event) => this.#clicked(event));
    this.begin(linkCommands(this));
  }

  get doc() {
    return /** @type {import("./model/pairs.js").Links} */ (this.session.doc);
  }

  get bibs() {
    return this.session.photo.bibs.boxes;
  }

  get faces() {
    return this.session.photo.faces.boxes;
  }

  /** Positions of the bibs that somebody can wear, from left to right. @returns {number[]} */
  get wearable() {
    return places(this.bibs, "not_bib");
  }

  /** @returns {number[]} */
  get wearers() {
    return places(this.faces, "exclude");
  }

  get suggestions() {
    const rank = (/** @type {number[]} */ [bib]) => this.wearable.indexOf(bib);
    return openSuggestions(this.session.photo.suggested_links, this.doc)
      .filter(([bib, face]) => this.wearable.includes(bib) && this.wearers.includes(face))
      .sort((a, b) => rank(a) - rank(b));
  }

  #actions() {
    return {
      selectBib: (/** @type {number} */ bib) => this.select(bib),
      selectFace: (/** @type {number} */ face) => this.#aim(face),
      link: (/** @type {number} */ face) => this.toggle(face),
      accept: () => this.accept(),
      reject: () => this.reject(),
      acceptAll: () => this.acceptAll(),
      remove: () => this.unlink(),
      none: () => this.none(),
      done: () => this.done(),
    };
  }

  /** @param {boolean} same */
  arrive(same) {
    if (same && this.bib !== null && this.wearable.includes(this.bib)) return;
    this.bib = this.suggestions[0]?.[0] ?? this.wearable[0] ?? null;
    this.#aimAtSuggestion();
  }

  show() {
    const { bibs, faces, doc, suggestions } = this;
    this.lines.show(bibs, faces, doc.links ?? [], suggestions, this.bib);
    this.shapes.show([
      ...this.wearable.map((at) => ({
        id: `bib-${at}`,
        box: bibs[at],
        kind: "bibs",
        below: true,
        text: bibs[at].number ?? "–",
        selected: at === this.bib,
      })),
      ...this.wearers.map((at) => ({
        id: `face-${at}`,
        box: faces[at],
        kind: `faces${at === this.face ? " aimed" : ""}`,
        text: this.#faceName(at),
      })),
      ...suspectShapes(suspectsOf(this.session.photo, "links")),
    ]);
    this.form.show({
      photo: this.session.photo,
      bibs: this.wearable,
      faces: this.wearers,
      doc,
      suggestions,
      bib: this.bib,
      face: this.face,
    });
    find("#stage-label").textContent = this.#spoken();
  }

  /** Faces are numbered from left to right; the number is the key that links it. @param {number} face */
  #faceName(face) {
    return [this.wearers.indexOf(face) + 1, this.faces[face].identity].filter(Boolean).join(" ");
  }

  /** @param {number} bib */
  #bibName(bib) {
    return this.bibs[bib].number ?? "without a number";
  }

  #spoken() {
    const { photo } = this.session;
    const count = this.doc.links?.length ?? 0;
    const bib = this.bib === null ? "" : ` Selected: bib ${this.#bibName(this.bib)}.`;
    return `Photo ${photo.name}: ${this.wearable.length} bibs, ${this.wearers.length} faces, ${count} links.${bib}`;
  }

  /** @param {number} bib */
  select(bib) {
    this.bib = bib;
    this.#aimAtSuggestion();
    this.show();
    if (isDrawn(this.bibs[bib])) this.stage.reveal(this.bibs[bib]);
  }

  /** The face to think of first: the linked one, the suggested one, or none. */
  #aimAtSuggestion() {
    const of = (/** @type {readonly number[][]} */ pairs) => pairs.find(([bib]) => bib === this.bib)?.[1];
    this.face = of(this.doc.links ?? []) ?? of(this.suggestions) ?? null;
  }

  /** @param {number} face */
  #aim(face) {
    this.face = face;
    this.show();
  }

  /** @param {PointerEvent} event */
  #clicked(event) {
    if (event.button !== 0 || this.stage.spaceHeld) return;
    event.preventDefault();
    this.stage.root.focus({ preventScroll: true });
    const boxes = [
      ...this.wearers.map((at) => ({ ...this.faces[at], face: at })),
      ...this.wearable.map((at) => ({ ...this.bibs[at], bib: at })),
    ];
    const [hit] = /** @type {any[]} */ (boxesAt(boxes, this.stage.inPhoto(event)));
    if (hit?.bib !== undefined) this.select(hit.bib);
    else if (hit) this.toggle(hit.face);
  }

  /** Link the selected bib with a face, or take that link away. @param {number} face */
  toggle(face) {
    if (this.bib === null) return this.shell.say("Select a bib first (Tab, or click it).");
    /** @type {[number, number]} */
    const pair = [this.bib, face];
    const linked = has(this.doc.links ?? [], pair);
    this.face = face;
    this.session.edit(toggledLink(this.doc, pair));
    return this.shell.say(
      `Bib ${this.#bibName(this.bib)}, face ${this.#faceName(face)}: ${linked ? "not linked any more" : "linked"}.`,
    );
  }

  unlink() {
    const links = this.doc.links ?? [];
    const rest = links.filter(([bib]) => bib !== this.bib);
    if (rest.length === links.length) return this.shell.say("This bib has no link.");
    return this.session.edit({ ...this.doc, links: rest });
  }

  accept() {
    this.#answer((pair) => toggledLink(this.doc, pair));
  }

  reject() {
    this.#answer((pair) => dismissedLink(this.doc, pair));
  }

  /** @param {(pair: [number, number]) => import("./model/pairs.js").Links} answer */
  #answer(answer) {
    const { suggestions } = this;
    if (!suggestions.length) return this.shell.say("No suggestion is left to answer.");
    const pair = suggestions.find(([bib]) => bib === this.bib);
    if (!pair) return this.select(suggestions[0][0]);
    this.session.edit(answer(pair));
    const rest = this.suggestions;
    if (rest.length && !this.config.read_only)
      this.select(rest[Math.min(suggestions.indexOf(pair), rest.length - 1)][0]);
    return this.sayLeft(rest.length);
  }

  acceptAll() {
    const { suggestions } = this;
    if (!suggestions.length) return this.shell.say("No suggestion is left to answer.");
    this.session.edit({ ...this.doc, links: [...(this.doc.links ?? []), ...suggestions] });
    return this.shell.say(`${suggestions.length} accepted.`);
  }

  async none() {
    if (this.doc.links?.length)
      return this.shell.say(
        `There are ${this.doc.links.length} links here; take them away first, or say done (D).`,
        "problem",
      );
    return this.done();
  }

  finished() {
    return allLinked(this.doc);
  }

  /** @param {KeyboardEvent} event */
  tab(event) {
    return this.through(event, this.wearable, this.bib, (bib) => this.select(bib));
  }

  /** @param {KeyboardEvent} event */
  digit(event) {
    const face = this.wearers[Number(event.key) - 1];
    if (face === undefined) this.shell.say(`There is no face ${event.key}.`);
    else this.toggle(face);
  }

  /** @param {KeyboardEvent} event */
  nextFace(event) {
    if (this.bib === null) return;
    const order = nearest(this.bibs[this.bib], this.faces).filter((at) => this.wearers.includes(at));
    const face = cycled(order, this.face, event.key === "ArrowRight" ? 1 : -1);
    if (face !== null) this.#aim(face);
  }

  /** @param {KeyboardEvent} event */
  enter(event) {
    if (onControl(event)) return false;
    if (this.face === null) this.shell.say("Choose a face first (← →, or its number).");
    else this.toggle(this.face);
    return true;
  }

  zoomToBib() {
    if (this.bib !== null) this.zoomTo(this.bibs[this.bib], "This bib was never drawn.");
  }

  letGo() {
    if (this.face === null) return false;
    this.face = null;
    this.show();
    return true;
  }
}

/**
 * Positions of the boxes that are what they seem, from left to right.
 * @param {any[]} boxes
 * @param {string} not
 * @returns {number[]}
 */
const places = (boxes, not) =>
  boxes
    .map((_, at) => at)
    .filter((at) => boxes[at].scope !== not)
    .sort((a, b) => boxes[a].x - boxes[b].x || a - b);
