/**
 * One visit to the editor: the photo that is open, its document with undo and redo, what is saved of it, and the way
 * to other photos. Knows nothing of how a document looks.
 *
 * @typedef {object} Adapter how a kind of document is read, compared and saved
 * @property {(photo: any) => {doc: any, base: any}} read
 * @property {(mine: any, before: any, theirs: any) => {doc: any, base: any, mine: any}} adopt theirs, and mine over it
 * @property {(a: any, b: any) => boolean} same
 * @property {(doc: any) => string} describe
 * @property {(doc: any, photo: any) => string} leftOpen what is begun and not done, in words
 * @property {(sha256: string, doc: any, base: any) => Promise<{base: any, photo: any}>} save
 * @typedef {{opened: () => void, edited: () => void, saved: () => void, queued: () => void,
 *   said: (message: string, kind?: "info" | "problem") => void}} Listener
 */
import { Autosave } from "../model/autosave.js";
import { Drafts } from "../model/drafts.js";
import { History } from "../model/history.js";
import { atHand, seenFrom } from "../model/line.js";
import { Away, answered, get, write } from "./api.js";
import { find } from "./dom.js";
import { desk, labeler } from "./labeler.js";
import { Loaded, age } from "./loaded.js";

/** A move that takes longer than this is told. */
const SLOW = 400;

export class Session {
  /** @param {any} config @param {Adapter} adapter @param {Listener} listener */
  constructor(config, adapter, listener) {
    this.config = config;
    this.adapter = adapter;
    this.listener = listener;
    this.photo = config.photo;
    /** @type {History<any>} */
    this.history = new History(null);
    this.base = this.savedDoc = null;
    /** @type {import("../model/line.js").Queue} */
    this.queue = { ...config.queue, at: config.photo.sha256 };
    this.query = config.query;
    this.loaded = new Loaded(config.api, config.photo);
    /** When each photo was shown first. @type {Map<string, number>} */
    this.shownAt = new Map();
    /** The move to another photo that is under way. @type {Promise<void> | null} */
    this.moving = null;
    /** The question about the queue that was asked last. @type {Promise<any> | null} */
    this.asking = null;
    /** @type {Map<string, History<any>>} */
    this.histories = new Map();
    this.drafts = new Drafts(localStorage, `${find(".editor").dataset.set}/${config.blind ? "audit/" : ""}${config.dimension}`);
    this.autosave = new Autosave({
      send: (photo, doc, base) => this.#send(photo, doc, base),
      keep: this.drafts,
      changed: () => this.listener.saved(),
    });
  }

  get doc() {
    return this.history.state;
  }

  get conflict() {
    const entry = this.autosave.entry(this.photo.sha256);
    return entry?.state === "conflict" ? entry : null;
  }

  /** Show the photo that the page came with, and send what an earlier visit could not. */
  start() {
    addEventListener("beforeunload", (event) => this.autosave.unsaved && event.preventDefault());
    addEventListener("online", () => void this.autosave.flush());
    addEventListener("popstate", () => void this.open(location.pathname.split("/").pop() ?? "", false));
    document.addEventListener("visibilitychange", () => document.hidden && void this.autosave.flush());
    if (!this.config.read_only) addEventListener("pagehide", () => this.#leaveDesk());
    const goOn = location.hash === "#continue";
    this.#show(this.config.photo);
    this.loaded.fetchAhead(atHand(this.queue));
    void this.refreshQueue()
      .then(() => (goOn && this.queue.held_by !== null ? this.step("next_incomplete") : undefined))
      .catch(() => this.listener.saved());
    for (const sha256 of this.drafts.photos()) {
      const draft = this.drafts.get(sha256);
      if (draft && sha256 !== this.photo.sha256) this.autosave.edit(sha256, draft.doc, draft.base);
    }
  }

  /** Whoever leaves gives back what was handed out. */
  #leaveDesk() {
    const headers = { "Content-Type": "application/json" };
    const body = JSON.stringify({ desk: desk() });
    void fetch("/api/queue/leave", { method: "POST", headers, body, keepalive: true }).catch(() => {});
  }

  /** @param {any} doc @param {string} [kind] */
  edit(doc, kind) {
    if (this.config.phone) return this.listener.said("On a phone labels are shown, and not changed.", "problem");
    if (this.config.read_only) return this.listener.said("This set is frozen: nothing can be changed.", "problem");
    this.history.push(doc, kind);
    this.#changed();
  }

  undo() {
    if (this.history.undo()) this.#changed();
    else this.listener.said("Nothing to undo.");
  }

  redo() {
    if (this.history.redo()) this.#changed();
    else this.listener.said("Nothing to redo.");
  }

  #changed() {
    const { sha256 } = this.photo;
    if (this.autosave.entry(sha256) || !this.adapter.same(this.doc, this.savedDoc))
      this.autosave.edit(sha256, this.doc, this.base);
    this.listener.edited();
  }

  /**
   * Go to another photo, once what was edited here is saved.
   * @param {string | null} sha256
   * @param {boolean} [push] false for the browser's own back and forward
   */
  open(sha256, push = true) {
    return this.#move(() => this.#go(sha256, push));
  }

  /**
   * Go along the queue. What comes next is asked when it is this move's turn, so that no press is lost.
   * @param {"next" | "previous" | "next_incomplete"} way
   */
  step(way) {
    return this.#move(async () => {
      if (!this.queue[way]) await this.refreshQueue().catch(() => {}); // away: told below
      const to = this.queue[way];
      if (to && to !== this.photo.sha256) await this.#go(to, true);
      else this.listener.said(this.#end(way));
    });
  }

  /**
   * An edit with a name that the server makes first; keys that are pressed meanwhile wait for it.
   * @param {() => Promise<string>} make
   * @param {(name: string) => any} edited the document with the name
   */
  editNamed(make, edited) {
    const { sha256 } = this.photo;
    return this.#move(async () => {
      try {
        const name = await make();
        if (sha256 === this.photo.sha256) this.edit(edited(name));
      } catch (error) {
        this.listener.said(`No new name: ${error instanceof Error ? error.message : error}.`, "problem");
      }
    }, "Asking for a new name …");
  }

  /** Why a way leads nowhere. @param {string} way */
  #end(way) {
    if (this.autosave.state === "away") return "The server does not answer; only photos that were loaded can be opened.";
    if (way === "next") return "This is the last photo of the queue.";
    if (way === "previous") return "This is the first photo of the queue.";
    const left = this.queue.total - this.queue.done;
    if (left <= 0) return "Every photo in this queue is done.";
    return left === 1 && !this.doc.labeled ? "This is the only photo left." : "The photos that are left are open elsewhere.";
  }

  /**
   * One move after the other, each once the saves that are under way have been answered; keys that are pressed meanwhile
   * wait for it. Saves that the server does not answer are kept, and do not hold anybody up.
   * @param {() => Promise<void>} work
   * @param {string} [told] what is said where it takes long
   */
  #move(work, told = "Saving before the next photo opens …") {
    const before = this.moving;
    const slow = setTimeout(() => this.listener.said(told), SLOW);
    const turn = (async () => {
      await before;
      await this.autosave.settled();
      await work();
    })().finally(() => {
      clearTimeout(slow);
      if (this.moving === turn) this.moving = null;
    });
    this.moving = turn;
    return turn;
  }

  /** @param {string | null} sha256 @param {boolean} push */
  async #go(sha256, push) {
    if (!sha256 || sha256 === this.photo.sha256) return;
    try {
      const known = this.loaded.photos.has(sha256);
      const photo = await this.loaded.open(sha256);
      const left = this.#leftOpen();
      if (push) history.pushState(null, "", this.address(sha256));
      this.queue = seenFrom(this.queue, sha256, this.doc.labeled);
      this.#show(photo);
      if (left) this.listener.said(left);
      if (known) void this.#renew(sha256);
      void this.refreshQueue().catch(() => this.listener.saved());
    } catch (error) {
      this.listener.said(
        error instanceof Away ? "The server does not answer; this photo was not loaded before." : String(error),
        "problem",
      );
    }
  }

  /** What is open in the photo that is left, in words. */
  #leftOpen() {
    const open = this.config.read_only ? "" : this.adapter.leftOpen(this.doc, this.photo);
    return open && `${this.photo.name} is left open: ${open}.`;
  }

  /** A photo that was loaded a while ago may have been changed by somebody else since. @param {string} sha256 */
  async #renew(sha256) {
    try {
      const photo = await this.loaded.renewed(sha256);
      if (age(photo) < age(this.photo)) return;
      const untouched = !this.autosave.entry(sha256) && this.adapter.same(this.doc, this.savedDoc);
      if (this.photo.sha256 === sha256 && untouched && !sameButRevision(photo, this.photo)) this.#show(photo);
    } catch (error) {
      if (!(error instanceof Away)) this.listener.said(String(error), "problem");
    }
  }

  /** @param {string} sha256 */
  address(sha256) {
    return this.config.pages[this.config.dimension] + sha256 + this.query;
  }

  /** @param {any} photo */
  #show(photo) {
    this.photo = photo;
    const { sha256 } = photo;
    const entry = this.autosave.entry(sha256);
    const draft = entry ?? this.drafts.get(sha256);
    const read = this.adapter.read(photo);
    const known = this.histories.get(sha256);
    if (known && this.adapter.same(known.state, entry?.doc ?? read.doc)) this.history = known;
    else this.history = new History(read.doc);
    this.base = entry?.base ?? this.adapter.adopt(this.doc, photo, photo).base;
    this.savedDoc = read.doc;
    this.histories.set(sha256, this.history);
    if (draft && !this.adapter.same(draft.doc, this.doc)) this.history.push(draft.doc);
    this.listener.opened();
    if (!this.shownAt.has(sha256)) this.shownAt.set(sha256, performance.now());
    if (draft && !entry) {
      this.autosave.edit(sha256, draft.doc, draft.base);
      this.listener.said("Work that was not saved on an earlier visit is back.");
    }
  }

  /** Where this photo is in the queue now, and what comes after it. An answer that came too late is passed over. */
  async refreshQueue() {
    const { dimension, read_only: readOnly, blind } = this.config;
    const at = this.photo.sha256;
    const parameters = new URLSearchParams(this.query);
    parameters.set("dimension", dimension);
    parameters.set("at", at);
    const address = `${this.config.queue_api}?${parameters}`;
    const asked = readOnly || blind ? get(address) : write("POST", address, { desk: desk(), by: labeler() });
    this.asking = asked;
    const queue = await asked;
    if (this.asking !== asked || at !== this.photo.sha256) return;
    this.queue = { ...queue, at };
    this.listener.queued();
    this.loaded.fetchAhead(atHand(this.queue));
  }

  /** Narrow the queue. @param {Record<string, string | null>} filters */
  async filter(filters) {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(filters)) if (value) parameters.set(name, value);
    this.query = parameters.size ? `?${parameters}` : "";
    history.replaceState(null, "", this.address(this.photo.sha256));
    await this.refreshQueue();
  }

  /** @param {string} photo @param {any} doc @param {any} base */
  async #send(photo, doc, base) {
    /** @type {any} */
    let now = null;
    const answer = await answered(async () => {
      const saved = await this.adapter.save(photo, doc, base);
      now = saved.photo;
      return saved.base;
    });
    if (answer.kind === "saved") this.loaded.keep(now);
    if (answer.kind === "saved" && photo === this.photo.sha256) {
      this.base = answer.base;
      this.photo = now;
      this.savedDoc = doc;
    }
    if (answer.kind === "saved") queueMicrotask(() => void this.refreshQueue().catch(() => this.listener.saved()));
    return answer;
  }

  /**
   * Decide a conflict. The version that is not taken is one step away in undo and redo.
   * @param {"mine" | "theirs"} choice
   */
  decide(choice) {
    const entry = this.conflict;
    if (!entry) return;
    const { sha256 } = this.photo;
    const { doc: theirs, base, mine } = this.adapter.adopt(entry.doc, this.photo, entry.theirs);
    this.base = base;
    this.photo = entry.theirs;
    this.savedDoc = theirs;
    if (choice === "mine") {
      this.history.push(theirs);
      this.history.push(mine);
      this.autosave.overwrite(sha256, mine, base);
    } else {
      this.history.push(mine);
      this.history.push(theirs);
      this.autosave.forget(sha256);
    }
    this.listener.opened();
  }
}

/** @param {any} a @param {any} b */
const sameButRevision = (a, b) =>
  JSON.stringify({ ...a, revision: "" }) === JSON.stringify({ ...b, revision: "" });
