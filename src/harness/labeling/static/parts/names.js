/**
 * The known names, for type-ahead: the one that is typed in full first, then those that begin with it, then those that
 * contain it. Before anything is typed, those that were just given come first, also on the next photo.
 */
import { get, write } from "./api.js";

const MOST = 8;
const RECENT = "recent names";
const MOST_RECENT = 5;

/** The names that were given last on this set of pages, the newest first. @returns {string[]} */
const recent = () => JSON.parse(sessionStorage.getItem(RECENT) ?? "[]");

export class Names {
  constructor() {
    /** @type {{name: string, faces: number}[]} */
    this.names = [];
    this.nextAnonymous = "anonymous_1";
    void this.refresh();
  }

  async refresh() {
    try {
      const { names, next_anonymous: next } = await get("/api/names");
      this.names = names;
      this.nextAnonymous = next;
    } catch (error) {
      console.warn("no names to offer:", error);
    }
  }

  /** Somebody was just given this name. @param {string} name */
  used(name) {
    const kept = [name, ...recent().filter((other) => other !== name)].slice(0, MOST_RECENT);
    sessionStorage.setItem(RECENT, JSON.stringify(kept));
    if (!this.names.some((known) => known.name === name)) this.names = [...this.names, { name, faces: 1 }];
  }

  /** @param {string} typed @returns {import("./combobox.js").Offer[]} */
  offers(typed) {
    const wanted = typed.toLowerCase();
    const found = this.names.filter(({ name }) => name.toLowerCase().includes(wanted));
    const given = wanted ? [] : recent();
    const rank = (/** @type {{name: string, faces: number}} */ { name }) => {
      if (given.includes(name)) return given.indexOf(name) - MOST_RECENT;
      if (name.toLowerCase() === wanted) return 0;
      return name.toLowerCase().startsWith(wanted) ? 1 : 2;
    };
    const known = found
      .sort((a, b) => rank(a) - rank(b) || b.faces - a.faces || a.name.localeCompare(b.name))
      .slice(0, MOST)
      .map(({ name, faces }) => ({ text: name, hint: faces === 1 ? "1 face" : `${faces} faces` }));
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
