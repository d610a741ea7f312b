/**
 * Whom the selected face may show: the three nearest known people, each with a picture, and the number of the linked bib.
 * They are asked for once a photo; while faces are still being compared, there are none.
 */
import { get } from "./api.js";
import { element, find } from "./dom.js";

export const KEYS = ["q", "w", "e"];
export const NUMBER_KEY = "r";
/** Two boxes whose middles are no further apart than this share of their size are one face. */
const SAME = 0.35;

/** @typedef {{name: string, score: number, crop: string}} Near */

export class KnownPeople {
  /** @param {(name: string) => void} choose */
  constructor(choose) {
    this.choose = choose;
    this.root = find("#known");
    this.photo = "";
    /** @type {{box: number[], number: string | null, wearer: string | null, nearest: Near[]}[]} */
    this.faces = [];
    /** @type {{x: number, y: number, w: number, h: number} | null} */
    this.box = null;
  }

  /** @param {string} photo @param {{x: number, y: number, w: number, h: number} | null} box */
  show(photo, box) {
    this.box = box;
    if (photo !== this.photo) {
      this.photo = photo;
      this.faces = [];
      void this.#ask(photo);
    }
    this.#draw();
  }

  async #ask(/** @type {string} */ photo) {
    try {
      const { faces } = await get(`/api/people/near/${photo}`);
      if (photo !== this.photo) return;
      this.faces = faces;
      this.#draw();
    } catch (error) {
      console.warn("no people to offer:", error);
    }
  }

  get face() {
    const { box } = this;
    if (!box) return null;
    const apart = ([x, y, w, h] = /** @type {number[]} */ ([])) =>
      Math.max(Math.abs(x + w / 2 - box.x - box.w / 2) / (box.w || 1), Math.abs(y + h / 2 - box.y - box.h / 2) / (box.h || 1));
    return this.faces.filter((face) => apart(face.box) < SAME).sort((a, b) => apart(a.box) - apart(b.box))[0] ?? null;
  }

  /** The name behind a key. @param {string} key @returns {string | null} */
  nameAt(key) {
    const { face } = this;
    return (key === NUMBER_KEY ? (face?.wearer ?? face?.number) : face?.nearest[KEYS.indexOf(key)]?.name) ?? null;
  }

  #draw() {
    const { face } = this;
    const number = face?.number ?? null;
    const offers = (face?.nearest ?? []).map((near, at) =>
      this.#button(near.name, KEYS[at], near.score.toFixed(2), element("img", { src: near.crop, alt: "", width: 48, height: 48 })),
    );
    if (number) offers.push(this.#button(face?.wearer ?? number, NUMBER_KEY, face?.wearer ? `linked bib ${number}` : "linked bib"));
    this.root.replaceChildren(...offers);
    this.root.hidden = !offers.length;
  }

  /** @param {string} name @param {string} key @param {string} hint @param {...Node} picture */
  #button(name, key, hint, ...picture) {
    const text = [element("span", { class: "name" }, name), element("small", {}, element("kbd", {}, key.toUpperCase()), ` ${hint}`)];
    const button = element("button", { type: "button", "aria-label": `${name}, ${hint}, key ${key.toUpperCase()}` }, ...picture, ...text);
    button.addEventListener("click", () => this.choose(name));
    return button;
  }
}
