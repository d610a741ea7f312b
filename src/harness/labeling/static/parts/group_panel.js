/** The side panel of the identity workbench: what is known of the current group, and who it may be. */
import { detailOf, titleOf } from "../model/people.js";
import { get } from "./api.js";
import { element, find } from "./dom.js";

/** So many people have a digit, and so many milliseconds later the others are asked for. */
export const KEYED = 9;
const BEFORE_MORE = 150;
const MOST_BIBS = 4;

/** @typedef {import("../model/people.js").Group} Group */

export class GroupPanel {
  /** @param {{nameAs: (name: string) => void}} bench @param {boolean} readOnly */
  constructor(bench, readOnly) {
    this.bench = bench;
    this.readOnly = readOnly;
  }

  /** @param {Group | null} group @param {{chosen: number, rest: number, carrying: boolean, undoable: boolean, typing: boolean}} state */
  show(group, { chosen, rest, carrying, undoable, typing }) {
    find("#group-title").textContent = group ? titleOf(group) : "No group";
    find("#group-detail").textContent = group ? detailOf(group) + (chosen ? ` · ${chosen} selected` : "") : "";
    this.#showBibs(group);
    find("#accept").replaceChildren(
      element("span", {}, group?.proposal ? `Accept as ${group.proposal}` : "Type a name"),
      element("kbd", {}, "Enter"),
    );
    find("#near").replaceChildren(...(group?.nearest ?? []).map((near, at) => this.#near(near, at)));
    if (!group?.nearest.length) find("#near").replaceChildren(element("p", { class: "quiet" }, "Nobody known yet."));
    this.#showMore(group);
    const able = Boolean(group) && !this.readOnly;
    const enable = (/** @type {string} */ id, /** @type {boolean} */ yes) => find(id).toggleAttribute("disabled", !yes);
    for (const id of ["#accept", "#bystander", "#leave", "#carry", "#same", "#not-face"]) enable(id, able);
    enable("#split", able && rest > 0);
    enable("#not-person", able && Boolean(group?.person || rest));
    enable("#undo", undoable);
    find("#typing").setAttribute("aria-pressed", String(typing));
    find("#carry").firstChild?.replaceWith(carrying ? "Put here " : "Move ");
  }

  /** @param {Group | null} group */
  #showBibs(group) {
    const worn = (group?.faces ?? []).filter(({ bib }) => bib).slice(0, MOST_BIBS);
    find("#bibs").replaceChildren(
      ...worn.map(({ bib, number }) =>
        element("li", {}, element("img", { src: /** @type {string} */ (bib), alt: "", loading: "lazy" }), number ?? "?"),
      ),
    );
  }

  /** @param {import("../model/people.js").Near} near @param {number} at */
  #near(near, at) {
    const key = at < KEYED ? [element("kbd", {}, String(at + 1)), " "] : [];
    const spoken = `${near.name}, similarity ${near.score}${at < KEYED ? `, key ${at + 1}` : ""}`;
    const button = element(
      "button",
      { type: "button", title: near.name, "aria-label": spoken },
      element("img", { src: near.crop, alt: "", loading: "lazy" }),
      element("span", { class: "name" }, near.name),
      element("span", { class: "score" }, ...key, near.score.toFixed(2)),
    );
    button.addEventListener("click", () => this.bench.nameAs(near.name));
    return button;
  }

  /** The people beyond the keys, a moment after the group has come up. @param {Group | null} group */
  #showMore(group) {
    const asked = group && group.nearest.length >= KEYED ? `${group.id} ${group.nearest.map(({ name }) => name).join()}` : "";
    if (asked === this.asked) return;
    this.asked = asked;
    clearTimeout(this.asking);
    find("#more").replaceChildren();
    if (group && asked) this.asking = setTimeout(() => void this.#ask(group, asked), BEFORE_MORE);
  }

  /** @param {Group} group @param {string} asked */
  async #ask(group, asked) {
    try {
      const { nearest } = await get(`/api/people/more?group=${encodeURIComponent(group.id)}`);
      if (asked !== this.asked) return;
      const beyond = nearest.slice(KEYED);
      find("#more").replaceChildren(...beyond.map((/** @type {any} */ near, /** @type {number} */ at) => this.#near(near, at + KEYED)));
    } catch (error) {
      console.warn("no more people to offer:", error);
    }
  }
}
