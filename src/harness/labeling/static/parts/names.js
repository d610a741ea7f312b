/**
 * The known names and those of the start list, for type-ahead: the one that is typed in full first, then those that
 * begin with it. Before anything is typed, those that were just given come first, also on the next photo.
 */
import { fitting } from "../model/names.js";
import { get, write } from "./api.js";

const MOST = 8;
const RECENT = "recent names";
const MOST_RECENT = 5;

/** The names that were given last on this set of pages, the newest first. @returns {string[]} */
const recent = () => JSON.parse(sessionStorage.getItem(RECENT) ?? "[]");

export class Names {
  /** @param {{unusedFirst: boolean}} [order] */
  constructor(order = { unusedFirst: false }) {
    this.order = order;
    /** @type {import("../model/names.js").Known[]} */
    this.names = [];
    /** Whose number it is. @type {Record<string, string>} */
    this.byNumber = {};
    this.nextAnonymous = "anonymous_1";
    void this.refresh();
  }

  async refresh() {
    try {
      const { names, next_anonymous: next } = await get("/api/names");
      this.names = names;
      const worn = this.names.filter(({ number }) => number).reverse(); // of two, who is on most faces
      this.byNumber = Object.fromEntries(worn.map(({ name, number }) => [number, name]));
      this.nextAnonymous = next;
    } catch (error) {
      console.warn("no names to offer:", error);
    }
  }

  /** Whether a digit can be the beginning of a name or of a number. */
  get withDigits() {
    return this.names.some(({ name, number }) => number || /^\d/.test(name));
  }

  /** Whether a digit can follow a letter in a name or in a number. */
  get #digitsWithin() {
    return this.names.some(
      ({ name, number }) => (/\d/.test(name) && !name.startsWith("anonymous_")) || /\D/.test(number ?? ""),
    );
  }

  /** Somebody was just given this name. @param {string} name */
  used(name) {
    const kept = [name, ...recent().filter((other) => other !== name)].slice(0, MOST_RECENT);
    sessionStorage.setItem(RECENT, JSON.stringify(kept));
    const known = this.names.find((each) => each.name === name);
    const others = this.names.filter((each) => each !== known);
    this.names = [...others, { name, number: null, listed: false, ...known, faces: (known?.faces ?? 0) + 1 }];
  }

  /** @param {string} typed @returns {import("./combobox.js").Offer[]} */
  offers(typed) {
    const given = typed ? [] : recent();
    const place = (/** @type {{name: string}} */ { name }) => (given.indexOf(name) + MOST_RECENT + 1) % (MOST_RECENT + 1);
    const found = fitting(this.names, typed, this.order);
    const known = (typed ? found : found.sort((a, b) => place(a) - place(b))).slice(0, MOST).map(offer);
    // Who is on the start list needs no more letters than bring them up first; a name that nobody has is offered last.
    if (typed && known[0]?.listed) {
      known[0].first = true;
      if (known.every(({ text }) => text !== typed)) known.push({ text: typed, hint: "as typed" });
    }
    if (known[0]?.first && !/[\d_]/.test(typed) && !this.#digitsWithin)
      for (const [at, each] of known.entries()) each.key = String(at + 1);
    const wanted = typed.toLowerCase();
    const make = { text: this.nextAnonymous, hint: "new", make: () => this.#anonymous() };
    return "anonymous_".startsWith(wanted) || wanted.startsWith("anon") ? [...known, make] : known;
  }

  /** Somebody without a name, never given to anybody else. */
  async #anonymous() {
    const { name } = await write("POST", "/api/names/anonymous", {});
    void this.refresh();
    return name;
  }
}

/** @param {import("../model/names.js").Known} known @returns {import("./combobox.js").Offer} */
function offer({ name, faces, number, listed }) {
  const used = faces === 1 ? "1 face" : faces ? `${faces} faces` : "start list";
  return { text: name, hint: [number, used].filter(Boolean).join(" · "), listed };
}
