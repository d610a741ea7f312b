/** The identity workbench: groups of faces, and what every key, button and drag says about them. */
import { cycled } from "./model/hit.js";
import { byName, faceOf, holding, seen, without } from "./model/people.js";
import { get } from "./parts/api.js";
import { Changes } from "./parts/changes.js";
import { Combobox } from "./parts/combobox.js";
import { find, say } from "./parts/dom.js";
import { GroupList } from "./parts/group_list.js";
import { GroupPanel } from "./parts/group_panel.js";
import { fillHelp, listen } from "./parts/keys.js";
import { Names } from "./parts/names.js";
import { showWork } from "./parts/work_bar.js";
import { workbenchButtons, workbenchCommands } from "./workbench_keys.js";

const AGAIN = 600; // how long to wait before groups that are being made are asked for again

/**
 * @typedef {import("./model/people.js").Group} Group
 * @typedef {import("./model/people.js").Face} Face
 */
export class Workbench {
  /** @param {any} config */
  constructor(config) {
    this.config = config;
    /** @type {Group[]} */
    this.groups = [];
    /** @type {string | null} */
    this.current = null;
    this.cursor = 0;
    /** @type {Map<string, Face>} */
    this.selected = new Map();
    /** Faces on their way to another group, and those that they leave. @type {{faces: Face[], rest: Face[], from: string} | null} */
    this.carried = null;
    this.total = 0;
    /** Whether the name field opens by itself where nobody is proposed. */
    this.typing = false;
    this.help = /** @type {HTMLDialogElement} */ (find("#help"));
    this.changes = new Changes({ say: (text, kind) => this.say(text, kind), idle: () => void this.refresh() });
    this.names = new Names({ unusedFirst: true });
    this.panel = new GroupPanel(this, config.read_only);
    this.list = new GroupList(find("#groups"), find("#lines"), {
      pick: (id, face, along) => (face && along ? this.takeAlong(faceOf(this.groups, face)) : this.pick(id, face)),
      drop: (face, id) => this.dropped(face, id),
      nearEnd: () => void this.more(),
    });
    this.text = new Combobox(find("#text"), find("#offers"), {
      offers: (typed) => this.names.offers(typed),
      commit: (text) => this.#typed(text),
      make: () => this.act("anonymous"),
      leave: (taken) => (taken ? this.#goOn() : this.list.focus()),
      key: (event) => this.#onEmpty(event),
      onlyByEnter: true,
    });
    const commands = workbenchCommands(this);
    fillHelp(commands.filter(({ shown }) => shown !== ""));
    listen(commands, () => !this.help.open);
    for (const [id, run] of Object.entries(workbenchButtons(this))) find(`#${id}`).addEventListener("click", run);
    void this.refresh();
  }

  get group() {
    return this.groups.find(({ id }) => id === this.current) ?? null;
  }

  /** The selected faces, also of other groups, or all of the current group. */
  get targets() {
    return this.selected.size ? [...this.selected.values()] : (this.group?.faces ?? []);
  }

  get rest() {
    const { targets } = this;
    return this.group?.faces.filter((face) => !targets.includes(face)) ?? [];
  }

  /** Whether somebody is in the middle of something that is about the groups as they are on the page. */
  get #inHand() {
    return this.selected.size > 0 || this.carried !== null || this.text.input.value !== "";
  }

  /** Ask for the groups as they are now, unless an answer is on its way, or the groups are just being looked at. */
  async refresh() {
    clearTimeout(this.again);
    if (this.changes.waiting) return;
    try {
      const answer = this.#inHand ? null : await get("/api/people/groups");
      if (this.changes.waiting) return;
      if (answer && !this.#inHand) this.#took(answer);
      else this.again = setTimeout(() => void this.refresh(), AGAIN);
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error), "problem");
      this.again = setTimeout(() => void this.refresh(), 3000);
    }
  }

  /** @param {any} answer */
  #took(answer) {
    const at = Math.max(0, this.groups.findIndex(({ id }) => id === this.current));
    const before = this.group;
    this.groups = answer.groups;
    this.total = answer.total;
    this.state = answer.state;
    this.left = answer.left;
    if (!this.group) this.current = (holding(this.groups, before) ?? this.groups[Math.min(at, this.groups.length - 1)])?.id ?? null;
    this.#show();
    document.body.dataset.fresh = String(answer.fresh);
    document.body.dataset.ready = "true";
    if (!answer.fresh && answer.state.phase !== "failed") this.again = setTimeout(() => void this.refresh(), AGAIN);
  }

  /** The next groups, where not all were sent. */
  async more() {
    if (this.groups.length >= this.total || this.loading || this.changes.waiting) return;
    this.loading = true;
    try {
      const { groups } = await get(`/api/people/groups?start=${this.groups.length}`);
      const known = new Set(this.groups.map(({ id }) => id));
      this.groups = [...this.groups, ...groups.filter((/** @type {Group} */ { id }) => !known.has(id))];
      this.#show();
    } finally {
      this.loading = false;
    }
  }

  #show() {
    const { group, state } = this;
    this.list.show(this.groups, { current: this.current, cursor: this.cursor, selected: this.selected, carried: this.carried?.from ?? null });
    showWork({ groups: this.groups.length, total: this.total, left: this.left, state });
    this.panel.show(group, {
      selected: this.selected,
      rest: this.rest.length,
      carrying: this.carried !== null,
      undoable: this.changes.undos.length > 0,
      typing: this.typing,
    });
    this.text.set("", Boolean(group) && !this.config.read_only);
  }

  /** @param {string} text @param {"info" | "problem"} [kind] */
  say(text, kind = "info") {
    say(text, kind);
  }

  /** @param {number} by */
  go(by) {
    this.current = cycled(this.groups.map(({ id }) => id), this.current, by);
    this.cursor = 0;
    this.selected.clear();
    this.#show();
    this.list.reveal();
  }

  /** @param {number} by */
  step(by) {
    const count = this.group?.faces.length ?? 0;
    if (!count) return;
    if (count === 1) return this.go(by);
    this.cursor = (this.cursor + by + count) % count;
    this.#show();
    this.list.reveal();
    const face = this.group?.faces[this.cursor];
    if (face) this.say(`${face.file}${face.number ? `, number ${face.number}` : ""}`);
  }

  /** A face or a group was clicked. @param {string} id @param {string | null} face */
  pick(id, face) {
    if (id !== this.current) this.selected.clear();
    this.current = id;
    if (face && this.group && this.group.faces.length > 1) {
      this.cursor = Math.max(0, this.group.faces.findIndex((each) => each.face === face));
      this.#flip(this.group.faces[this.cursor]);
    }
    this.#show();
    this.#goOn();
  }

  /** What is said next is said of a face of another group, too, or no more. @param {Face | undefined} face */
  takeAlong(face) {
    if (!face || this.config.read_only) return;
    if (!this.selected.size) this.selected = byName(this.group?.faces ?? []);
    this.#flip(face);
    this.#show();
    this.say(`${this.selected.size} faces are selected.`);
    this.#goOn();
  }

  /** @param {Face} face */
  #flip(face) {
    if (!this.selected.delete(face.face)) this.selected.set(face.face, face);
  }

  /** @param {KeyboardEvent} event */
  toggle(event) {
    const face = this.group?.faces[this.cursor];
    if (!face || elsewhere(event)) return false;
    this.#flip(face);
    this.#show();
    return true;
  }

  toggleAll() {
    const faces = this.group?.faces ?? [];
    this.selected = byName(faces.every(({ face }) => this.selected.has(face)) ? [] : faces);
    this.#show();
  }

  escape() {
    this.carried = null;
    this.selected.clear();
    this.#show();
    this.list.focus();
  }

  /** @param {KeyboardEvent} [event] */
  accept(event) {
    if (event && elsewhere(event)) return false;
    if (this.group?.proposal) this.nameAs(this.group.proposal);
    else this.text.focus();
    return true;
  }

  /** Type one name after the other, or not any more. */
  toggleTyping() {
    this.typing = !this.typing;
    this.#show();
    this.say(this.typing ? "The name field opens where nobody is proposed (Escape leaves it, T ends this)." : "The name field opens with N alone.");
    this.#goOn();
  }

  /** To the name field, where names are typed one after the other, or to the groups. */
  #goOn() {
    if (this.typing && this.group && (this.selected.size || !this.group.proposal)) this.text.focus();
    else this.list.focus();
  }

  /** @param {string} text */
  #typed(text) {
    if (text) this.nameAs(text);
    else if (this.group?.proposal) this.nameAs(this.group.proposal);
  }

  /** In an empty name field a digit is a person's key, unless names or numbers may begin with one. @param {KeyboardEvent} event */
  #onEmpty(event) {
    if (this.text.input.value || !/^[1-9]$/.test(event.key) || this.names.withDigits) return false;
    this.list.focus();
    this.nearest(Number(event.key) - 1);
    return true;
  }

  /** @param {string} name */
  nameAs(name) {
    this.names.used(name);
    this.act("name", { name });
  }

  /** @param {number} at */
  nearest(at) {
    const near = this.group?.nearest[at];
    if (near) this.nameAs(near.name);
    else this.say("Nobody is shown under this digit.");
  }

  split() {
    if (!this.rest.length) return this.say("Select the faces that are somebody else first (Space, or click).");
    return this.act("split", { rest: seen(this.rest) }, true);
  }

  same() {
    if (this.targets.length < 2) return this.say("One face alone is nobody else's.");
    return this.act("same", {}, true);
  }

  notPerson() {
    const { group } = this;
    if (group?.person) return this.act("not_person", { name: group.person }, true);
    return this.split();
  }

  carry() {
    const { group, carried } = this;
    if (!group) return;
    if (!carried) {
      this.carried = { faces: this.targets, rest: this.rest, from: group.id };
      this.say(`${this.targets.length} taken up; go to the group where they belong, and press M again (Escape: nowhere).`);
      this.#show();
    } else if (carried.from === group.id) this.escape();
    else {
      this.carried = null;
      this.#move(carried.faces, carried.rest, group);
    }
  }

  /** A face was dragged onto a group. @param {string} face @param {string} id */
  dropped(face, id) {
    const from = this.groups.find(({ faces }) => faces.some((each) => each.face === face));
    const to = this.groups.find((group) => group.id === id);
    if (!from || !to || from === to) return;
    const all = this.selected.has(face) ? this.selected : new Set([face]);
    const moved = from.faces.filter((each) => all.has(each.face));
    this.#move(moved, from.faces.filter((each) => !moved.includes(each)), to);
  }

  /** @param {Face[]} faces @param {Face[]} rest @param {Group} to */
  #move(faces, rest, to) {
    this.selected.clear();
    this.#send({ do: "move", faces: seen(faces), rest: seen(rest), to: seen(to.faces) }, new Set());
    this.say(`${faces.length} moved.`);
  }

  open() {
    const face = this.group?.faces[this.cursor] ?? this.group?.faces[0];
    if (face) void this.changes.outbox.leave(this.config.editor + face.photo);
  }

  /**
   * Say something about the targets. They leave the page at once, unless they are only regrouped.
   * @param {string} what @param {any} [more] @param {boolean} [stays]
   */
  act(what, more = {}, stays = false) {
    const { targets } = this;
    if (!targets.length) return this.say("There is no group to say anything about.");
    if (this.config.read_only) return this.say("This set is frozen: it can be looked at only.", "problem");
    const gone = new Set(stays ? [] : targets.map(({ face }) => face));
    return this.#send({ do: what, faces: seen(targets), ...more }, gone);
  }

  /** @param {any} body @param {Set<string>} gone */
  #send(body, gone) {
    const at = this.groups.findIndex(({ id }) => id === this.current);
    this.total -= this.groups.length;
    this.groups = without(this.groups, gone);
    this.total += this.groups.length;
    this.left -= gone.size;
    if (!this.group) this.current = this.groups[Math.min(at, this.groups.length - 1)]?.id ?? null;
    this.selected.clear();
    this.cursor = 0;
    this.#show();
    this.list.reveal();
    this.changes.send(body, (name) => {
      if (name) this.say(`${Object.keys(body.faces).length} named ${name}.`);
      if (body.do === "name" || body.do === "anonymous") void this.names.refresh();
    });
    if (this.typing) this.#goOn();
  }
}

/** Whether a key belongs to a link, or to a button that is no face. @param {KeyboardEvent} event */
const elsewhere = ({ target }) => target instanceof Element && target.closest("a, button:not(.crop)") !== null;

new Workbench(JSON.parse(find("#config").textContent ?? ""));
find("#groups").focus({ preventScroll: true });
