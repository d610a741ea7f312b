/**
 * What every editor has around its photo: queue and filters, progress, the state of saving, the banner of a conflict,
 * messages, help. All of it is in the page from the start, so nothing jumps.
 */
import { inWords, suspectsOf } from "../model/suspects.js";
import { element, find, say } from "./dom.js";
import { command, fillHelp, listen } from "./keys.js";
import { askWho } from "./labeler.js";

/** What each state of saving is called, and what it means. */
const SAVING = {
  saved: ["Saved", "Everything is on the server"],
  waiting: ["Saving …", "Sent in a moment"],
  saving: ["Saving …", "On the way to the server"],
  away: ["Not saved", "The server does not answer. Your work is kept here and sent when it is back."],
  conflict: ["Not saved", "This photo was changed elsewhere; decide which version stays."],
  refused: ["Not saved", "The server refused the last save."],
};

export class Shell {
  /** @param {import("./session.js").Session} session */
  constructor(session) {
    this.session = session;
    this.saving = find("#saving");
    this.banner = find("#banner");
    this.readOnly = session.config.read_only;
    this.#wire();
  }

  /** @param {import("./keys.js").Command[]} commands @param {() => boolean} enabled */
  keys(commands, enabled = () => true) {
    const dialog = /** @type {HTMLDialogElement} */ (document.querySelector("#help"));
    const { session } = this;
    const all = [
      ...commands,
      command("Photos", "PageDown ]", "next photo", () => void session.step("next")),
      command("Photos", "PageUp [", "previous photo", () => void session.step("previous")),
      command("Photos", "i", "next photo that is not done", () => void session.step("next_incomplete")),
      command("Photos", "/", "choose which photos are in the queue", () => find("#filter-show").focus()),
      command("Edit", "Control+z", "undo", () => session.undo()),
      command("Edit", "Control+Shift+z Control+y", "redo", () => session.redo()),
      command("Edit", "?", "show these keys", () => dialog.showModal()),
    ];
    fillHelp(all);
    listen(all, () => !document.querySelector("dialog[open]") && enabled(), {
      moving: () => session.moving,
      seenAt: (time) => (session.shownAt.get(session.photo.sha256) ?? Infinity) <= time,
      tooEarly: () => this.tooEarly(),
    });
  }

  #wire() {
    const { session } = this;
    const dialog = /** @type {HTMLDialogElement} */ (find("#help"));
    askWho();
    find("#show-help").addEventListener("click", () => dialog.showModal());
    find("#previous").addEventListener("click", () => void session.step("previous"));
    find("#next").addEventListener("click", () => void session.step("next"));
    find("#next-incomplete").addEventListener("click", () => void session.step("next_incomplete"));
    find("#take-theirs").addEventListener("click", () => session.decide("theirs"));
    find("#keep-mine").addEventListener("click", () => session.decide("mine"));
    find("#try-again").addEventListener("click", () => void session.autosave.flush());
    for (const select of document.querySelectorAll("#filters select"))
      select.addEventListener("change", () => void this.#filter());
    find("#filters").addEventListener("submit", (event) => event.preventDefault());
    find("#filters").addEventListener("keydown", (event) => {
      if (event.key === "Escape" || event.key === "Enter") find("#stage").focus();
    });
    document.addEventListener("click", (event) => void this.#leave(event));
  }

  /**
   * Follow a link only when the work is saved; what cannot be saved makes the browser ask.
   * @param {MouseEvent} event
   */
  async #leave(event) {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || link.target || event.ctrlKey || event.metaKey) return;
    if (!this.session.autosave.unsaved) return;
    event.preventDefault();
    const slow = setTimeout(() => this.say("Saving before the page changes …"), 400);
    await this.session.autosave.flush();
    clearTimeout(slow);
    location.assign(link.href);
  }

  async #filter() {
    const value = (/** @type {string} */ name) => /** @type {HTMLSelectElement} */ (find(`#filter-${name}`)).value;
    const show = value("show");
    const kept = Object.fromEntries(new URLSearchParams(this.session.query));
    const chosen = { show: show === "all" ? null : show, split: value("split"), tag: value("tag") };
    await this.session.filter({ ...kept, ...chosen });
    const { queue } = this.session;
    if (queue.position === null && queue.first) await this.session.open(queue.next ?? queue.first);
    this.say(queue.total ? `${queue.total} photos in the queue.` : "No photo fits these filters.");
  }

  /** Nobody calls a photo done that they have not seen. */
  tooEarly() {
    this.say("The next photo is being opened; say it again when you see it.");
  }

  /** On to the next photo that is not done, once this one is saved; while the server is away, of those at hand. */
  async saveAndGoOn() {
    const { session } = this;
    const { sha256 } = session.photo;
    if (this.readOnly || session.moving) return;
    await session.step("next_incomplete");
    const state = session.autosave.entry(sha256)?.state;
    if (state === "away") this.say("Kept here, and sent when the server is back.", "problem");
  }

  /** @param {string} text @param {"info" | "problem"} [kind] */
  say(text, kind = "info") {
    say(text, kind);
  }

  showSaving() {
    const { autosave, photo } = this.session;
    const { state } = autosave;
    const here = autosave.entry(photo.sha256);
    const [word, meaning] = this.readOnly ? ["Read only", this.session.config.phone ? "On a phone labels are shown, and not changed" : "A frozen set cannot be changed"] : SAVING[state];
    this.saving.dataset.state = this.readOnly ? "saved" : state;
    find(".word", this.saving).textContent = word;
    this.saving.title = (state === "refused" && here?.message) || meaning;
    find("#try-again").hidden = state !== "away";
    find("#away").hidden = state !== "away";
    find("#refused").hidden = here?.state !== "refused";
    find("#refused").textContent = here?.state === "refused" ? `Not saved: ${here.message}` : "";
    this.banner.hidden = here?.state !== "conflict";
    if (here?.state === "conflict") this.#difference(here);
    const stuck = [...autosave.entries.values()].filter((e) => e.state === "conflict" || e.state === "refused");
    this.#elsewhere(stuck.filter((entry) => entry !== here));
  }

  /** @param {import("../model/autosave.js").Entry} entry */
  #difference({ doc, theirs }) {
    const { describe, read } = this.session.adapter;
    find("#banner-difference").textContent = `Theirs: ${describe(read(theirs).doc)}. Mine: ${describe(doc)}.`;
  }

  /** Photos that are not open and wait for a decision. @param {import("../model/autosave.js").Entry[]} entries */
  #elsewhere(entries) {
    const place = find("#elsewhere");
    place.hidden = !entries.length;
    if (!entries.length) return place.replaceChildren();
    const open = element("button", { type: "button" }, "Open it");
    open.addEventListener("click", () => void this.session.open(entries[0].photo));
    return place.replaceChildren("Your work on another photo is not saved. ", open);
  }

  showQueue() {
    const { queue, photo, config } = this.session;
    find("#photo-name").textContent = photo.name;
    find("#photo-name").title = `${photo.name}, ${photo.width} × ${photo.height}`;
    find("#position").textContent = `${queue.position ?? "–"} / ${queue.total}`;
    find("#done-count").textContent = `${queue.done} of ${queue.total} done`;
    const progress = /** @type {HTMLProgressElement} */ (find("#progress"));
    progress.max = Math.max(1, queue.total);
    progress.value = queue.done;
    find("#previous").toggleAttribute("disabled", !queue.previous);
    find("#next").toggleAttribute("disabled", !queue.next);
    document.title = `${photo.name} · ${config.dimension}`;
    const { completeness } = photo;
    for (const name of ["bibs", "faces", "links"].filter((each) => each in config.pages)) {
      const mark = find(`#state-${name}`);
      mark.dataset.done = String(completeness[name]);
      find(".mark", mark).textContent = completeness[name] ? "✓" : "○";
      mark.querySelector("a")?.setAttribute("href", config.pages[name] + photo.sha256);
    }
    const suspects = suspectsOf(photo, config.dimension);
    find("#suspect").hidden = !suspects.length;
    find("#suspect").textContent = `▲ ${inWords(suspects)}`;
    find("#suspect").title = `Label suspect: ${inWords(suspects)}`;
  }
}
