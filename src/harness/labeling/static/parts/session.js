/**
 * One visit to the editor: the photo that is open, its document with undo and redo, what is saved of it, and the way
 * to other photos. Knows nothing of how a document looks.
 *
 * @typedef {object} Adapter how a kind of document is read, compared and saved
 * @property {(photo: any) => {doc: any, base: any}} read
 * @property {(mine: any, before: any, theirs: any) => {doc: any, base: any, mine: any}} adopt theirs, and mine over it
 * @property {(a: any, b: any) => boolean} same
 * @property {(doc: any) => string} describe
 * @property {(sha256: string, doc: any, base: any) => Promise<{base: any, photo: any}>} save
 * @typedef {{opened: () => void, edited: () => void, saved: () => void, queued: () => void,
 *   said: (message: string, kind?: "info" | "problem") => void}} Listener
 */
import { Autosave } from "../model/autosave.js";
import { Drafts } from "../model/drafts.js";
import { History } from "../model/history.js";
import { Away, answered, get } from "./api.js";
import { find } from "./dom.js";

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
    this.queue = config.queue;
    this.query = config.query;
    /** @type {Map<string, History<any>>} */
    this.histories = new Map();
    this.drafts = new Drafts(localStorage, `${find(".editor").dataset.set}/${config.dimension}`);
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
    this.#show(this.config.photo);
    this.#fetchAhead();
    for (const sha256 of this.drafts.photos()) {
      const draft = this.drafts.get(sha256);
      if (draft && sha256 !== this.photo.sha256) this.autosave.edit(sha256, draft.doc, draft.base);
    }
  }

  /** @param {any} doc @param {string} [kind] */
  edit(doc, kind) {
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
   * Go to another photo.
   * @param {string | null} sha256
   * @param {boolean} [push] false for the browser's own back and forward
   */
  async open(sha256, push = true) {
    if (!sha256 || sha256 === this.photo.sha256) return;
    void this.autosave.flush();
    try {
      const wanted = (this.wanted = sha256);
      const photo = await get(`/api/photos/${sha256}`);
      if (this.wanted !== wanted) return;
      if (push) history.pushState(null, "", this.address(sha256));
      this.#show(photo);
      await this.refreshQueue();
    } catch (error) {
      this.listener.said(
        error instanceof Away ? "The server does not answer; the next photo cannot be opened." : String(error),
        "problem",
      );
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
    if (draft && !entry) {
      this.autosave.edit(sha256, draft.doc, draft.base);
      this.listener.said("Work that was not saved on an earlier visit is back.");
    }
  }

  /** Where this photo is in the queue now, and what comes after it. */
  async refreshQueue() {
    const { dimension } = this.config;
    const parameters = new URLSearchParams(this.query);
    parameters.set("dimension", dimension);
    parameters.set("at", this.photo.sha256);
    this.queue = await get(`/api/queue?${parameters}`);
    this.listener.queued();
    this.#fetchAhead();
  }

  /** Have the browser keep the pictures that are likely to be looked at next. */
  #fetchAhead() {
    for (const sha256 of new Set([this.queue.next, this.queue.next_incomplete]))
      if (sha256) new Image().src = `/photos/${sha256}/screen`;
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
