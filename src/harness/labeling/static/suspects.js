/** Cross-checks, one at a time: two pictures, and one key for each answer. */
import { get, write } from "./parts/api.js";
import { element, find, say } from "./parts/dom.js";
import { command, listen } from "./parts/keys.js";
import { Outbox } from "./parts/outbox.js";

const KEYS = { left: "1", right: "2", both: "b", merge: "m", rename: "r" };
const AGAIN = 800;

class Suspects {
  /** @param {any} config */
  constructor(config) {
    this.config = config;
    /** @type {any[]} */
    this.suspects = [];
    this.total = 0;
    this.at = 0;
    /** @type {string[]} */
    this.undos = [];
    this.outbox = new Outbox({ say: (text, kind) => this.say(text, kind), idle: () => void this.refresh() });
    const on = (/** @type {string} */ id, /** @type {() => void} */ run) => find(id).addEventListener("click", run);
    on("#open-left", () => this.open(0));
    on("#open-right", () => this.open(1));
    on("#skip", () => this.go(1));
    on("#undo", () => this.undo());
    find("#check-text").addEventListener("keydown", (event) => {
      if (/** @type {KeyboardEvent} */ (event).key === "Enter" && this.#typed()) this.answer("rename");
      if (/** @type {KeyboardEvent} */ (event).key === "Escape") /** @type {HTMLElement} */ (event.target).blur();
    });
    listen(
      [
        ...Object.entries(KEYS).map(([answer, key]) => command("Answer", key, answer, () => this.chosen(answer))),
        command("Go", "ArrowRight", "next", () => this.go(1)),
        command("Go", "ArrowLeft", "previous", () => this.go(-1)),
        command("Go", "o", "open the left photo", () => this.open(0)),
        command("Go", "p", "open the right photo", () => this.open(1)),
        command("Go", "Control+z u", "undo", () => this.undo()),
      ],
      () => true,
    );
    void this.refresh();
  }

  get suspect() {
    return this.suspects[this.at] ?? null;
  }

  /** Ask for what has no answer, unless an answer is on its way. Whatever is on show stays, where it is still open. */
  async refresh() {
    clearTimeout(this.again);
    try {
      const { suspects, total, fresh, state } = await get("/api/people/suspects");
      if (this.outbox.waiting) return;
      const shown = this.suspect?.check;
      const at = suspects.findIndex((/** @type {any} */ { check }) => check === shown);
      this.suspects = suspects;
      this.total = total;
      this.at = at < 0 ? Math.min(this.at, Math.max(0, suspects.length - 1)) : at;
      this.waitsFor = state === "preparing" ? "Faces are being compared; more may come." : "";
      this.#show();
      document.body.dataset.ready = "true";
      document.body.dataset.fresh = String(fresh);
      if (!fresh && state !== "failed") this.again = setTimeout(() => void this.refresh(), AGAIN);
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error), "problem");
      this.again = setTimeout(() => void this.refresh(), 3000);
    }
  }

  #show() {
    const { suspect } = this;
    find("#title").textContent = suspect ? `${this.at + 1} of ${this.total} suspects` : "No suspects";
    find("#card").hidden = !suspect;
    find("#empty").textContent = this.waitsFor || (suspect ? "" : "No label contradicts another one, or all of them have an answer.");
    find("#undo").toggleAttribute("disabled", !this.undos.length);
    if (!suspect) return;
    find("#words").textContent = suspect.words;
    find("#sides").replaceChildren(...suspect.sides.map((/** @type {any} */ side) => this.#side(side)));
    find("#answers").replaceChildren(
      ...Object.entries(suspect.answers).map(([answer, means]) => {
        const key = KEYS[/** @type {keyof KEYS} */ (answer)];
        const button = element("button", { type: "button", "data-answer": answer, disabled: this.config.read_only }, `${means} `, element("kbd", {}, key.toUpperCase()));
        button.addEventListener("click", () => this.chosen(answer));
        return button;
      }),
    );
    find("#another").hidden = !("rename" in suspect.answers);
    find("#open-right").toggleAttribute("disabled", !suspect.sides[1].face);
  }

  /** @param {any} side */
  #side({ name, face }) {
    if (!name) return element("div", { class: "side" });
    const pictures = face
      ? [
          element("img", { src: face.crop, alt: `A face of ${name}`, width: 144, height: 144 }),
          ...(face.bib ? [element("img", { src: face.bib, alt: "The linked bib", width: 96, height: 96 })] : []),
        ]
      : [];
    return element(
      "div",
      { class: "side" },
      element("div", { class: "pictures" }, ...pictures),
      element("strong", {}, name),
      element("span", { class: "muted" }, face ? [face.number ? `number ${face.number}` : "", face.file].filter(Boolean).join(" · ") : "said of a photo"),
    );
  }

  /** @param {number} by */
  go(by) {
    if (this.suspects.length) this.at = (this.at + by + this.suspects.length) % this.suspects.length;
    this.#show();
  }

  /** @param {number} side */
  open(side) {
    const photo = this.suspect?.sides[side].face?.photo ?? this.suspect?.photos[0];
    if (photo) void this.outbox.leave(this.config.editor + photo);
  }

  /** @param {string} answer */
  chosen(answer) {
    if (!this.suspect || !(answer in this.suspect.answers)) return this.say("That is no answer to this one.");
    if (answer === "rename" && !this.#typed()) return find("#check-text").focus();
    return this.answer(answer);
  }

  #typed() {
    return /** @type {HTMLInputElement} */ (find("#check-text")).value.trim();
  }

  /** The next one comes up at once, so that the next key is about that. @param {string} answer */
  answer(answer) {
    const { suspect } = this;
    if (!suspect) return;
    const body = { check: suspect.check, answer, ...(answer === "rename" ? { name: this.#typed() } : {}) };
    this.suspects = this.suspects.filter((each) => each !== suspect);
    this.total -= 1;
    this.at = Math.min(this.at, Math.max(0, this.suspects.length - 1));
    const text = /** @type {HTMLInputElement} */ (find("#check-text"));
    text.value = "";
    text.blur();
    this.#show();
    this.outbox.send(async () => {
      this.undos.push((await write("POST", "/api/people/suspects", body)).undo);
      this.say(`${suspect.answers[answer]}. Ctrl+Z takes it back.`);
    });
  }

  undo() {
    this.outbox.send(async () => {
      const token = this.undos.at(-1);
      if (!token) return this.say("Nothing is left to undo.");
      await write("POST", "/api/people/undo", { undo: token });
      this.undos.pop();
      return this.say("Undone.");
    });
  }

  /** @param {string} text @param {"info" | "problem"} [kind] */
  say(text, kind = "info") {
    say(text, kind);
  }
}

new Suspects(JSON.parse(find("#config").textContent ?? ""));
