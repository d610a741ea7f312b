/** The known names, for type-ahead: those that begin with what is typed first, then those that contain it. */
import { get, write } from "./api.js";

const MOST = 8;

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

  /** @param {string} typed @returns {import("./combobox.js").Offer[]} */
  offers(typed) {
    const wanted = typed.toLowerCase();
    const found = this.names.filter(({ name }) => name.toLowerCase().includes(wanted));
    const rank = (/** @type {{name: string, faces: number}} */ { name }) =>
      name.toLowerCase().startsWith(wanted) ? 0 : 1;
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
