/** One pass over a photo, person by person: face, bib, number, link and name are confirmed together. */
import { isDrawn } from "./model/geometry.js";
import { withChange } from "./model/labels.js";
import {
  SCOPES,
  acceptedPerson,
  allDone,
  allGhosts,
  linkedPersons,
  nobody,
  people,
  proposedName,
  rejectedPerson,
  removedPerson,
  renumbered,
  withDrawn,
} from "./model/persons.js";
import { suspectShapes, suspectsOf } from "./model/suspects.js";
import { personsAdapter } from "./parts/adapters.js";
import { find } from "./parts/dom.js";
import { Drawing } from "./parts/drawing.js";
import { PersonForm, captionOf } from "./parts/person_form.js";
import { PhotoEditor } from "./parts/photo_editor.js";
import { onControl } from "./parts/view_keys.js";
import { personCommands } from "./persons_keys.js";

const ALL_ANSWERED = "Everybody is answered: D says that the photo is done.";

/** @typedef {import("./model/persons.js").Person} Person */

export class PersonsEditor extends PhotoEditor {
  /** @param {any} config */
  constructor(config) {
    super(config, personsAdapter);
    /** @type {Set<string>} */
    this.apart = new Set();
    this.ghosts = allGhosts(config.photo);
    /** The box that is selected by the pointer, and has handles. @type {string | null} */
    this.box = null;
    /** @type {"bibs" | "faces"} */
    this.draws = "bibs";
    this.drawing = new Drawing(this.stage, this.shapes, this.#target());
    this.form = new PersonForm(config, this);
    this.begin(personCommands(this));
  }

  get doc() {
    return /** @type {import("./model/persons.js").Doc} */ (this.session.doc);
  }

  get known() {
    return { ...this.form?.names.byNumber, ...this.session.photo.names_by_number };
  }

  get people() {
    const ghosts = this.ghostsShown ? this.ghosts : { bibs: [], faces: [], links: [] };
    return people(this.doc, ghosts, this.apart);
  }

  /** @returns {Person | null} */
  get person() {
    return this.people.find(({ id }) => id === this.selected) ?? null;
  }

  /** @returns {import("./parts/drawing.js").Target} */
  #target() {
    const boxes = () => [...this.doc.bibs.boxes, ...this.doc.faces.boxes];
    const has = (/** @type {Person} */ person, /** @type {string | null} */ id) =>
      person.bib?.id === id || person.face?.id === id;
    return {
      boxes,
      ghosts: () => this.people.filter((p) => p.suggested).flatMap((p) => [p.bib, p.face].filter(Boolean)),
      selected: () => this.box,
      select: (id) => {
        this.box = id;
        this.select(this.people.find((person) => has(person, id))?.id ?? null);
      },
      place: (id, { x, y, w, h }) => this.#change(id, { x, y, w, h }),
      drawn: (box) => this.#drawn(box),
      accept: (id) => {
        this.selected = this.people.find((person) => has(person, id))?.id ?? null;
        this.accept();
      },
      editable: () => !this.config.read_only,
      showing: () => {},
    };
  }

  /** @param {string} id @param {any} fields */
  #change(id, fields) {
    const { doc } = this;
    const dimension = doc.bibs.boxes.some((box) => box.id === id) ? "bibs" : "faces";
    this.session.edit({ ...doc, [dimension]: withChange(doc[dimension], id, fields) });
  }

  /** @param {boolean} same */
  arrive(same) {
    this.ghosts = allGhosts(this.session.photo);
    if (same) return;
    this.apart = new Set();
    this.box = null;
    this.draws = "bibs";
    this.selected = (this.people.find((person) => person.suggested) ?? this.people[0])?.id ?? null;
  }

  show() {
    const everybody = this.people;
    if (!everybody.some(({ id }) => id === this.selected)) this.selected = null;
    const shape = (/** @type {Person} */ person, /** @type {any} */ box, /** @type {string} */ kind) => ({
      id: box.id,
      box,
      kind: person.suggested ? "ghost" : `${kind} ${box.scope}`,
      text: captionOf(person, box, everybody.indexOf(person), this.known),
      below: kind === "bibs",
      selected: person.id === this.selected,
    });
    this.shapes.show([
      ...everybody.flatMap((person) => [
        ...(person.face ? [shape(person, person.face, "faces")] : []),
        ...(person.bib ? [shape(person, person.bib, "bibs")] : []),
      ]),
      ...suspectShapes(suspectsOf(this.session.photo, "links")),
    ]);
    const pairs = everybody.filter(({ bib, face }) => bib && face);
    const ends = (/** @type {boolean} */ suggested) =>
      pairs.flatMap((pair, at) => (pair.suggested === suggested ? [/** @type {[number, number]} */ ([at, at])] : []));
    const chosen = pairs.findIndex(({ id }) => id === this.selected);
    this.lines.show(pairs.map(({ bib }) => bib), pairs.map(({ face }) => face), ends(false), ends(true), chosen);
    const { person } = this;
    const gripped = [person?.bib, person?.face].find((box) => box && box.id === this.box);
    this.shapes.grip(this.config.read_only || person?.suggested ? null : (gripped ?? null));
    this.form.show({ everybody, person, doc: this.doc, known: this.known, draws: this.draws });
    find("#stage-label").textContent = this.#spoken(everybody, person);
  }

  /** @param {Person[]} everybody @param {Person | null} person */
  #spoken(everybody, person) {
    const left = everybody.filter(({ suggested }) => suggested).length;
    const at = person ? ` Selected: person ${everybody.indexOf(person) + 1}.` : "";
    return `Photo ${this.session.photo.name}: ${everybody.length} people, ${left} suggested.${at}`;
  }

  /** @param {string | null} id @param {boolean} [reveal] */
  select(id, reveal = false) {
    this.selected = id;
    this.show();
    const { person } = this;
    if (reveal && person) for (const box of [person.bib, person.face]) if (box && isDrawn(box)) this.stage.reveal(box);
  }

  /** The suggested person that is selected, or the first one, selected now. */
  #suggested() {
    const { person } = this;
    if (person?.suggested) return person;
    const first = this.people.find(({ suggested }) => suggested);
    if (first) this.select(first.id, true);
    else this.shell.say("Nobody is left to answer: D says that the photo is done.");
    return null;
  }

  /** @param {Person} person @param {import("./model/persons.js").Doc} doc @param {string | null} made */
  #answered(person, doc, made) {
    const order = this.people.map(({ id }) => id);
    this.session.edit(doc);
    const left = this.people.filter(({ suggested }) => suggested);
    const after = left.find(({ id }) => order.indexOf(id) > order.indexOf(person.id)) ?? left[0];
    this.select(after?.id ?? made, true);
    this.sayLeft(left.length, ALL_ANSWERED);
  }

  accept() {
    const person = this.#suggested();
    if (!person || this.config.read_only) return;
    const { doc, id } = acceptedPerson(this.doc, person, this.known);
    this.#answered(person, doc, id);
  }

  acceptAll() {
    const left = this.people.filter(({ suggested }) => suggested);
    if (!left.length) return this.shell.say("Nobody is left to answer.");
    this.session.edit(left.reduce((doc, person) => acceptedPerson(doc, person, this.known).doc, this.doc));
    return this.shell.say(`${left.length} accepted.`);
  }

  reject() {
    const { person } = this;
    if (!person) this.#suggested();
    else if (!this.config.read_only) this.#answered(person, rejectedPerson(this.doc, person), null);
  }

  remove() {
    const { person } = this;
    if (!person || person.suggested) return this.shell.say("Select a labelled person first (Tab).");
    this.#answered(person, removedPerson(this.doc, person), null);
    return this.shell.say("Deleted. Ctrl+Z brings it back.");
  }

  /** The selected person as labels: one who is only suggested is accepted first. @returns {Person | null} */
  #labelled() {
    const { person } = this;
    if (!person || this.config.read_only) return null;
    if (!person.suggested) return person;
    const { doc, id } = acceptedPerson(this.doc, person, this.known);
    this.selected = id;
    this.session.edit(doc);
    return this.person;
  }

  /** @param {KeyboardEvent} event */
  enter(event) {
    if (onControl(event)) return false;
    if (!this.person) this.shell.say("Select somebody first (Tab).");
    else if (!this.person.bib) this.who();
    else if (this.#labelled()) this.form.number.focus();
    return true;
  }

  who() {
    if (!this.person?.face) this.shell.say("This person has no face to name: draw it (C), or link it (L).");
    else if (this.#labelled()) this.form.name.focus();
  }

  /** @param {string | null} number */
  setNumber(number) {
    const { person } = this;
    if (person?.bib) this.session.edit(renumbered(this.doc, person, number, this.known));
  }

  /** After a number was typed: on to the next person who is not answered. */
  goOn() {
    const left = this.people.filter(({ suggested }) => suggested);
    if (left.length) this.select(left[0].id, true);
    this.sayLeft(left.length, ALL_ANSWERED);
  }

  /** @param {string | null} identity */
  setName(identity) {
    if (this.person?.face) this.#change(this.person.face.id, { identity });
  }

  /** @param {() => Promise<string>} make */
  makeName(make) {
    const id = this.person?.face?.id;
    if (id) void this.session.editNamed(make, (identity) => ({ ...this.doc, faces: withChange(this.doc.faces, id, { identity }) }));
  }

  /** @param {number} at */
  setScope(at) {
    const { dimension, scope } = SCOPES[at];
    const box = this.#labelled()?.[dimension === "bibs" ? "bib" : "face"];
    if (box) this.#change(box.id, { scope });
    else this.shell.say(`Select somebody with a ${dimension.slice(0, -1)} first (Tab).`);
  }

  /** Link a face without a bib with the nearest bib without a face, or the other way round; or take a link away. */
  link() {
    const { person } = this;
    if (!person) return this.shell.say("Select somebody first (Tab).");
    if (person.bib && person.face && person.suggested) {
      this.apart.add(person.bib.id);
      this.show();
      return this.shell.say("Face and bib are two people's.");
    }
    const own = this.#labelled();
    if (!own) return undefined;
    if (own.bib && own.face) {
      const links = this.doc.links.filter(([bib]) => bib !== own.bib.id);
      return this.session.edit({ ...this.doc, links });
    }
    const wants = own.bib ? "face" : "bib";
    const free = this.people.filter((other) => other[wants] && !other[own.bib ? "bib" : "face"]);
    const nearest = free.sort((a, b) => gap(a[wants], own) - gap(b[wants], own))[0];
    if (!nearest) return this.shell.say(`There is no ${wants} without a ${own.bib ? "bib" : "face"} to link with.`);
    const other = nearest.suggested ? acceptedPerson(this.doc, nearest, this.known) : { doc: this.doc, id: nearest.id };
    const [bib, face] = own.bib ? [own.bib.id, other.id] : [other.id, own.face.id];
    this.selected = face;
    return this.session.edit(linkedPersons(other.doc, bib, face, this.known));
  }

  /** A drawn box completes the selected person where it can; a bib asks for its number at once. @param {any} place */
  #drawn(place) {
    const { draws, person } = this;
    const [own, other] = draws === "bibs" ? ["bib", "face"] : ["face", "bib"];
    const joins = person && !person.suggested && !(/** @type {any} */ (person)[own]) && /** @type {any} */ (person)[other];
    const { doc, id } = withDrawn(this.doc, place, draws);
    const pair = joins && (draws === "bibs" ? [id, joins.id] : [joins.id, id]);
    this.session.edit(pair ? linkedPersons(doc, pair[0], pair[1], this.known) : doc);
    this.box = id;
    this.select(this.people.find(({ bib, face }) => bib?.id === id || face?.id === id)?.id ?? null);
    if (draws === "bibs") this.form.number.focus();
    else this.stage.root.focus({ preventScroll: true });
  }

  /** @param {"bibs" | "faces"} dimension */
  setDraws(dimension) {
    this.draws = dimension;
    this.show();
    this.shell.say(`Drag over the photo to draw a ${dimension.slice(0, -1)}.`);
  }

  /** @param {KeyboardEvent} event */
  tab(event) {
    const ids = this.people.map(({ id }) => id);
    return this.through(event, ids, this.selected, (id) => this.select(id, true));
  }

  zoomToPerson() {
    this.zoomTo(this.person?.face ?? this.person?.bib, "Select somebody first (Tab).");
  }

  finished() {
    return allDone(this.doc);
  }

  none() {
    const real = this.people.filter(({ suggested }) => !suggested).length;
    return this.nothing(real, "people", () => nobody(this.doc));
  }

  /** What the name field offers first. */
  get proposed() {
    return proposedName(this.person?.bib?.number, this.known);
  }
}

/** How far a box is from the other box of a person. @param {any} box @param {Person} person */
function gap(box, person) {
  const own = person.bib ?? person.face;
  return Math.hypot(box.x + box.w / 2 - own.x - own.w / 2, box.y + box.h / 2 - own.y - own.h / 2);
}
