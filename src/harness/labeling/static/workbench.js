/** The identity workbench: groups of faces, and what every key, button and drag says about them. */
import { cycled } from "./model/hit.js";
import { detailOf, seen, titleOf, without } from "./model/people.js";
import { Away, Refused, get, write } from "./parts/api.js";
import { Combobox } from "./parts/combobox.js";
import { element, find } from "./parts/dom.js";
import { command, fillHelp, listen } from "./parts/keys.js";
import { Names } from "./parts/names.js";
import { GroupList } from "./parts/group_list.js";

/** How long to wait before groups that are being made are asked for again, in milliseconds. */
const AGAIN = 600;
const SECONDS_SAID = 8;
/** So many people have a digit, and so many milliseconds later the others are asked for. */
const KEYED = 9;
const BEFORE_MORE = 150;

/**
 * @typedef {import("./model/people.js").Group} Group
 * @typedef {import("./model/people.js").Face} Face
 */
class Workbench {
  /** @param {any} config */
  constructor(config) {
    this.config = config;
    /** @type {Group[]} */
    this.groups = [];
    /** @type {string | null} */
    this.current = null;
    this.cursor = 0;
    /** @type {Set<string>} */
    this.selected = new Set();
    /** Faces on their way to another group, and those that they leave. @type {{faces: Face[], rest: Face[], from: string} | null} */
    this.carried = null;
    /** @type {string[]} */
    this.undos = [];
    /** @type {string[]} */
    this.redos = [];
    /** Actions are sent one after the other, in the order of the keys. */
    this.sending = Promise.resolve();
    this.waiting = 0;
    this.total = 0;
    this.names = new Names();
    this.list = new GroupList(find("#groups"), find("#lines"), {
      pick: (id, face) => this.pick(id, face),
      drop: (face, id) => this.dropped(face, id),
      nearEnd: () => void this.more(),
    });
    this.text = new Combobox(find("#text"), find("#offers"), {
      offers: (typed) => this.names.offers(typed),
      commit: (text) => text && this.nameAs(text),
      leave: () => this.list.focus(),
    });
    this.#wire();
    void this.refresh();
  }

  get group() {
    return this.groups.find(({ id }) => id === this.current) ?? null;
  }

  /** The selected faces of the group, or all of them. */
  get targets() {
    const { group } = this;
    const chosen = group?.faces.filter(({ face }) => this.selected.has(face)) ?? [];
    return chosen.length ? chosen : (group?.faces ?? []);
  }

  get rest() {
    const targets = new Set(this.targets);
    return this.group?.faces.filter((face) => !targets.has(face)) ?? [];
  }

  #wire() {
    const on = (/** @type {string} */ id, /** @type {() => void} */ run) => find(id).addEventListener("click", run);
    const dialog = /** @type {HTMLDialogElement} */ (find("#help"));
    const commands = [
      command("Groups", "ArrowDown j", "next group", () => this.go(1)),
      command("Groups", "ArrowUp k", "previous group", () => this.go(-1)),
      command("Groups", "ArrowRight", "next face of the group", () => this.step(1)),
      command("Groups", "ArrowLeft", "previous face of the group", () => this.step(-1)),
      command("Groups", "Space", "select the face, or not", (event) => this.toggle(event)),
      command("Groups", "a", "select all faces of the group, or none", () => this.toggleAll()),
      command("Name", "Enter", "accept the proposed name, or type one", (event) => this.accept(event)),
      command("Name", "n", "type a name", () => this.text.focus()),
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) =>
        command("Name", String(n), "the person shown under this digit", () => this.nearest(n - 1), n === 1 ? "1 … 9" : undefined),
      ),
      command("Name", "b", "bystander: the next anonymous_N", () => this.act("anonymous")),
      command("Name", "l", "leave alone: needs no name", () => this.act("leave")),
      command("Say", "s", "split off the selected faces: somebody else", () => this.split()),
      command("Say", "m", "move: take up, and put down on another group", () => this.carry()),
      command("Say", "x", "not this person", () => this.notPerson()),
      command("Say", "=", "same person, whoever it is", () => this.same()),
      command("Say", "Delete", "not a face", () => this.act("not_faces")),
      command("Edit", "Control+z u", "undo", () => this.undo()),
      command("Edit", "Control+Shift+z Control+y", "redo", () => this.redo()),
      command("Edit", "Escape", "select nothing, put nothing down", () => this.escape()),
      command("Edit", "o", "open the photo in the editor", () => this.open()),
      command("Edit", "?", "show these keys", () => dialog.showModal()),
    ];
    fillHelp(commands.filter(({ keys }) => !/^[2-9]$/.test(keys[0])));
    listen(commands, () => !dialog.open);
    on("#accept", () => this.accept());
    on("#bystander", () => this.act("anonymous"));
    on("#leave", () => this.act("leave"));
    on("#split", () => this.split());
    on("#carry", () => this.carry());
    on("#not-person", () => this.notPerson());
    on("#same", () => this.same());
    on("#not-face", () => this.act("not_faces"));
    on("#open", () => this.open());
    on("#undo", () => this.undo());
    on("#show-help", () => dialog.showModal());
  }

  /** Ask for the groups as they are now, unless an answer is on its way. */
  async refresh() {
    clearTimeout(this.again);
    if (this.waiting) return;
    try {
      const answer = await get("/api/people/groups");
      if (this.waiting) return;
      this.#took(answer);
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error), "problem");
      this.again = setTimeout(() => void this.refresh(), 3000);
    }
  }

  /** @param {any} answer */
  #took(answer) {
    const at = Math.max(0, this.groups.findIndex(({ id }) => id === this.current));
    this.groups = answer.groups;
    this.total = answer.total;
    this.state = answer.state;
    this.left = answer.left;
    if (!this.group) this.current = this.groups[Math.min(at, this.groups.length - 1)]?.id ?? null;
    const there = new Set(this.groups.flatMap(({ faces }) => faces.map(({ face }) => face)));
    this.selected = new Set([...this.selected].filter((face) => there.has(face)));
    this.#show();
    document.body.dataset.fresh = String(answer.fresh);
    document.body.dataset.ready = "true";
    if (!answer.fresh && answer.state.phase !== "failed") this.again = setTimeout(() => void this.refresh(), AGAIN);
  }

  /** The next groups, where not all were sent. */
  async more() {
    if (this.groups.length >= this.total || this.loading || this.waiting) return;
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
    const empty = find("#empty");
    empty.hidden = this.groups.length > 0;
    if (state?.phase === "preparing")
      empty.textContent = `The faces are being compared, which is done once: ${state.done} of ${state.total} photos.`;
    else if (state?.phase === "failed") empty.textContent = `The faces cannot be compared: ${state.message}`;
    else empty.textContent = state?.faces ? "Every face has a name or was left alone." : "There are no faces yet: harness prepare suggests them.";
    find("#left").textContent = this.groups.length ? `${this.left} faces left in ${this.total} groups` : "";
    const named = /** @type {HTMLProgressElement} */ (find("#named"));
    [named.max, named.value] = [Math.max(1, state?.faces ?? 1), state?.named ?? 0];
    find("#named-count").textContent = state ? `${state.named} of ${state.faces} named` : "";
    this.#showGroup(group);
  }

  /** @param {Group | null} group */
  #showGroup(group) {
    const chosen = this.targets.length;
    find("#group-title").textContent = group ? titleOf(group) : "No group";
    find("#group-detail").textContent = group ? detailOf(group) + (this.rest.length ? ` · ${chosen} selected` : "") : "";
    find("#bibs").replaceChildren(
      ...(group?.faces ?? [])
        .filter(({ bib }) => bib)
        .slice(0, 4)
        .map((face) => element("li", {}, element("img", { src: /** @type {string} */ (face.bib), alt: "", loading: "lazy" }), face.number ?? "?")),
    );
    const accept = find("#accept");
    accept.replaceChildren(
      element("span", {}, group?.proposal ? `Accept as ${group.proposal}` : "Type a name"),
      element("kbd", {}, "Enter"),
    );
    find("#near").replaceChildren(...(group?.nearest ?? []).map((near, at) => this.#near(near, at)));
    if (!group?.nearest.length) find("#near").replaceChildren(element("p", { class: "quiet" }, "Nobody known yet."));
    this.#showMore(group);
    const able = Boolean(group) && !this.config.read_only;
    for (const id of ["accept", "bystander", "leave", "split", "carry", "not-person", "same", "not-face"])
      find(`#${id}`).toggleAttribute("disabled", !able);
    find("#split").toggleAttribute("disabled", !able || !this.rest.length);
    find("#not-person").toggleAttribute("disabled", !able || !(group?.person || this.rest.length));
    find("#undo").toggleAttribute("disabled", !this.undos.length);
    this.text.set("", able);
    find("#carry").firstChild?.replaceWith(this.carried ? "Put here " : "Move ");
  }

  /** @param {import("./model/people.js").Near} near @param {number} at */
  #near(near, at) {
    const key = at < KEYED ? [element("kbd", {}, String(at + 1)), " "] : [];
    const button = element(
      "button",
      { type: "button", title: near.name, "aria-label": `${near.name}, similarity ${near.score}${at < KEYED ? `, key ${at + 1}` : ""}` },
      element("img", { src: near.crop, alt: "", loading: "lazy" }),
      element("span", { class: "name" }, near.name),
      element("span", { class: "score" }, ...key, near.score.toFixed(2)),
    );
    button.addEventListener("click", () => this.nameAs(near.name));
    return button;
  }

  /** The people beyond the keys, a moment after the group has come up. @param {Group | null} group */
  #showMore(group) {
    const asked = group && group.nearest.length >= KEYED ? `${group.id} ${group.nearest.map(({ name }) => name).join()}` : "";
    if (asked === this.asked) return;
    this.asked = asked;
    clearTimeout(this.asking);
    find("#more").replaceChildren();
    if (!group || !asked) return;
    this.asking = setTimeout(async () => {
      try {
        const { nearest } = await get(`/api/people/more?group=${encodeURIComponent(group.id)}`);
        if (asked !== this.asked) return;
        const beyond = nearest.slice(KEYED);
        find("#more").replaceChildren(...beyond.map((/** @type {any} */ near, /** @type {number} */ at) => this.#near(near, at + KEYED)));
      } catch (error) {
        console.warn("no more people to offer:", error);
      }
    }, BEFORE_MORE);
  }

  /** @param {string} text @param {"" | "problem"} [kind] */
  say(text, kind = "") {
    const message = find("#message");
    message.textContent = text;
    message.className = kind;
    clearTimeout(this.silence);
    if (!kind) this.silence = setTimeout(() => (message.textContent = ""), SECONDS_SAID * 1000);
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
    if (face) {
      this.cursor = Math.max(0, this.group?.faces.findIndex((each) => each.face === face) ?? 0);
      if (!this.selected.delete(face)) this.selected.add(face);
    }
    this.#show();
    this.list.focus();
  }

  /** @param {KeyboardEvent} event */
  toggle(event) {
    if (event.target instanceof HTMLButtonElement && !event.target.classList.contains("crop")) return false;
    const face = this.group?.faces[this.cursor]?.face;
    if (!face) return false;
    if (!this.selected.delete(face)) this.selected.add(face);
    this.#show();
    return true;
  }

  toggleAll() {
    const faces = this.group?.faces ?? [];
    this.selected = new Set(faces.every(({ face }) => this.selected.has(face)) ? [] : faces.map(({ face }) => face));
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
    if (event && event.target instanceof HTMLButtonElement && !event.target.classList.contains("crop")) return false;
    if (event && event.target instanceof HTMLAnchorElement) return false;
    if (this.group?.proposal) this.nameAs(this.group.proposal);
    else this.text.focus();
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
    this.#move(moved, from.faces.filter((each) => !all.has(each.face)), to);
  }

  /** @param {Face[]} faces @param {Face[]} rest @param {Group} to */
  #move(faces, rest, to) {
    this.selected.clear();
    this.#send({ do: "move", faces: seen(faces), rest: seen(rest), to: seen(to.faces) }, new Set());
    this.say(`${faces.length} moved.`);
  }

  open() {
    const face = this.group?.faces[this.cursor] ?? this.group?.faces[0];
    if (face) location.assign(this.config.editor + face.photo);
  }

  /**
   * Say something about the targets. They leave the page at once, unless they are only regrouped.
   * @param {string} what @param {any} [more] @param {boolean} [stays]
   */
  act(what, more = {}, stays = false) {
    const { group, targets } = this;
    if (!group || !targets.length) return this.say("There is no group to say anything about.");
    if (this.config.read_only) return this.say("This set is frozen: it can be looked at only.", "problem");
    const gone = new Set(stays ? [] : targets.map(({ face }) => face));
    return this.#send({ do: what, faces: seen(targets), ...more }, gone);
  }

  /** @param {any} body @param {Set<string>} gone */
  #send(body, gone) {
    const at = this.groups.findIndex(({ id }) => id === this.current);
    this.groups = without(this.groups, gone);
    this.left -= gone.size;
    if (gone.size) this.total -= this.groups.some(({ id }) => id === this.current) ? 0 : 1;
    if (!this.group) this.current = this.groups[Math.min(at, this.groups.length - 1)]?.id ?? null;
    this.selected.clear();
    this.cursor = 0;
    this.#show();
    this.list.reveal();
    this.#queue(async () => {
      const { undo, name } = await write("POST", "/api/people/changes", body);
      this.undos.push(undo);
      this.redos = [];
      if (name) this.say(`${Object.keys(body.faces).length} named ${name}.`);
      if (body.do === "name" || body.do === "anonymous") void this.names.refresh();
    });
  }

  /** @param {() => Promise<void>} work */
  #queue(work) {
    this.waiting += 1;
    document.body.dataset.fresh = "false";
    this.#saving("saving", "Saving …");
    this.sending = this.sending.then(async () => {
      try {
        await work();
        this.#saving("saved", "Saved");
      } catch (error) {
        if (!(error instanceof Refused || error instanceof Away)) throw error;
        this.#saving("refused", "Not saved");
        this.say(error.message, "problem");
      } finally {
        this.waiting -= 1;
        if (!this.waiting) void this.refresh();
      }
    });
  }

  /** @param {string} state @param {string} word */
  #saving(state, word) {
    find("#saving").dataset.state = state;
    find("#saving .word").textContent = word;
  }

  undo() {
    this.#back(this.undos, this.redos, "Undone.");
  }

  redo() {
    this.#back(this.redos, this.undos, "Done again.");
  }

  /** Runs after what is on its way, so that it takes back the very last step. @param {string[]} from @param {string[]} to @param {string} told */
  #back(from, to, told) {
    this.#queue(async () => {
      const token = from.pop();
      if (!token) return this.say("Nothing is left to undo.");
      const { undo } = await write("POST", "/api/people/undo", { undo: token });
      to.push(undo);
      return this.say(told);
    });
  }
}

new Workbench(JSON.parse(find("#config").textContent ?? ""));
find("#groups").focus({ preventScroll: true });
