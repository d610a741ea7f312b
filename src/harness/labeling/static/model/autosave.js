/**
 * Edits on their way to the server. Each photo has one entry while it has work that the server does not have; an
 * entry is sent soon after its last edit, one request at a time, and again until the server answers. What is not
 * saved is kept in the browser's storage too, so that a closed or crashed tab loses nothing.
 *
 * @typedef {"saved" | "saving" | "waiting" | "away" | "conflict" | "refused"} SaveState
 * @typedef {{kind: "saved", base: unknown} | {kind: "conflict", theirs: any}
 *   | {kind: "refused", message: string} | {kind: "away"}} Answer
 * @typedef {{photo: string, doc: any, base: any, state: SaveState, message: string, theirs: any, tries: number,
 *   sent: any, request: Promise<void> | null, timer: any}} Entry
 * @typedef {{send: (photo: string, doc: any, base: any) => Promise<Answer>, keep: import("./drafts.js").Drafts,
 *   changed: (entry: Entry) => void, delay?: number}} Options
 */

const DELAY = 350;
const LONGEST_WAIT = 3000;

export class Autosave {
  /** @param {Options} options */
  constructor({ send, keep, changed, delay = DELAY }) {
    this.send = send;
    this.keep = keep;
    this.changed = changed;
    this.delay = delay;
    /** @type {Map<string, Entry>} */
    this.entries = new Map();
  }

  /** A photo's work that is not saved yet. @param {string} photo */
  entry(photo) {
    return this.entries.get(photo);
  }

  get unsaved() {
    return this.entries.size;
  }

  /** The state to show: the worst of all photos. @returns {SaveState} */
  get state() {
    const states = new Set([...this.entries.values()].map((entry) => entry.state));
    const order = /** @type {SaveState[]} */ (["conflict", "refused", "away", "saving", "waiting"]);
    return order.find((state) => states.has(state)) ?? "saved";
  }

  /** A photo was edited. @param {string} photo @param {any} doc @param {any} base what the server had */
  edit(photo, doc, base) {
    const entry = this.entries.get(photo) ?? this.#enter(photo, base);
    entry.doc = doc;
    this.keep.put(photo, { doc, base: entry.base });
    if (entry.state === "conflict") return this.changed(entry);
    if (!entry.sent && entry.state !== "away") {
      entry.state = "waiting";
      this.#later(entry, this.delay);
    }
    this.changed(entry);
  }

  /** @param {string} photo @param {any} base @returns {Entry} */
  #enter(photo, base) {
    /** @type {Entry} */
    const entry = {
      photo,
      doc: null,
      base,
      state: "waiting",
      message: "",
      theirs: null,
      tries: 0,
      sent: null,
      request: null,
      timer: 0,
    };
    this.entries.set(photo, entry);
    return entry;
  }

  /** Send what waits, without waiting. Resolves when every request has been answered. */
  async flush() {
    await Promise.all([...this.entries.values()].filter((e) => e.state !== "conflict").map((e) => this.#settle(e)));
  }

  /**
   * The same, but for photos whose saves get no answer: those are sent again by themselves.
   */
  async settled() {
    const stuck = ["conflict", "refused", "away"];
    await Promise.all([...this.entries.values()].filter((e) => !stuck.includes(e.state)).map((e) => this.#settle(e)));
  }

  /** Wait for the request that is under way, and send what was edited since it left. @param {Entry} entry */
  async #settle(entry) {
    do {
      await this.#send(entry);
    } while (this.entries.get(entry.photo) === entry && entry.state === "waiting");
  }

  /**
   * A conflict is decided: `doc` is to be saved over what the server has.
   * @param {string} photo
   * @param {any} doc
   * @param {any} base
   */
  overwrite(photo, doc, base) {
    this.forget(photo);
    this.edit(photo, doc, base);
  }

  /** The server's version stands. @param {string} photo */
  forget(photo) {
    const entry = this.entries.get(photo);
    if (entry) clearTimeout(entry.timer);
    this.entries.delete(photo);
    this.keep.drop(photo);
    if (entry) this.changed({ ...entry, state: "saved" });
  }

  /**
   * A draft of an earlier visit disagrees with the server.
   * @param {string} photo
   * @param {any} doc
   * @param {any} theirs
   */
  disagree(photo, doc, theirs) {
    const entry = this.entries.get(photo) ?? this.#enter(photo, null);
    Object.assign(entry, { doc, theirs, state: "conflict" });
    this.changed(entry);
  }

  /** @param {Entry} entry @param {number} delay */
  #later(entry, delay) {
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => void this.#send(entry), delay);
  }

  /** Send an entry, unless it is on its way; resolves when the server has answered. @param {Entry} entry */
  async #send(entry) {
    if (this.entries.get(entry.photo) !== entry) return;
    entry.request ??= this.#request(entry).finally(() => {
      entry.request = null;
    });
    await entry.request;
  }

  /** @param {Entry} entry */
  async #request(entry) {
    clearTimeout(entry.timer);
    entry.sent = entry.doc;
    if (entry.state !== "away") entry.state = "saving";
    this.changed(entry);
    const answer = await this.send(entry.photo, entry.doc, entry.base);
    const sent = entry.sent;
    entry.sent = null;
    if (this.entries.get(entry.photo) === entry) this.#answered(entry, sent, answer);
  }

  /** @param {Entry} entry @param {any} sent @param {Answer} answer */
  #answered(entry, sent, answer) {
    if (answer.kind === "saved") {
      entry.base = answer.base;
      entry.tries = 0;
      if (entry.doc === sent) {
        this.entries.delete(entry.photo);
        this.keep.drop(entry.photo);
        entry.state = "saved";
      } else {
        this.keep.put(entry.photo, { doc: entry.doc, base: entry.base });
        entry.state = "waiting";
        this.#later(entry, this.delay);
      }
    } else if (answer.kind === "away") {
      entry.state = "away";
      entry.tries += 1;
      this.#later(entry, Math.min(LONGEST_WAIT, 500 * 2 ** Math.min(entry.tries, 5)));
    } else if (answer.kind === "conflict") {
      entry.state = "conflict";
      entry.theirs = answer.theirs;
    } else {
      entry.state = "refused";
      entry.message = answer.message;
    }
    this.changed(entry);
  }
}
