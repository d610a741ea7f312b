/** The side panel of the identity workbench: what is known of the current group, and who it may be. */
import { detailOf, titleOf } from "../model/people.js";
import { get } from "./api.js";
import { element, find } from "./dom.js";

/** So many people have a digit, and so many milliseconds later the others are asked for. */
export const KEYED = 9;
const BEFORE_MORE = 150;
const MOST_BIBS = 4;

/** @typedef {import("../model/people.js").Group} Group @typedef {import("../model/people.js").Face} Face */

export class GroupPanel {
  /** @param {{nameAs: (name: string) => void, takeAlong: (face: Face) => void}} bench @param {boolean} readOnly */
  constructor(bench, readOnly) {
    this.bench = bench;
    this.readOnly = readOnly;
  }

  /** @param {Group | null} group @param {{selected: Map<string, Face>, rest: number, carrying: boolean, undoable: boolean, typing: boolean}} state */
  show(group, { selected, rest, carrying, undoable, typing }) {
    find("#group-title").textContent = group ? titleOf(group) : "No group";
    find("#group-detail").textContent = group ? detailOf(group) + (selected.size ? ` · ${selected.size} selected` : "") : "";
    this.#showBibs(group);
    find("#accept").replaceChildren(
      element("span", {}, group?.proposal ? `Accept as ${group.proposal}` : "Type a name"),
      element("kbd", {}, "Enter"),
    );
    find("#near").replaceChildren(...(group?.nearest ?? []).map((near, at) => this.#near(near, at)));
    if (!group?.nearest.length) find("#near").replaceChildren(element("p", { class: "quiet" }, "Nobody known yet."));
    this.#showMore(group);
    this.selected = selected;
    this.#showTaken();
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

  /** The people beyond the keys and the faces that are alike, a moment after the group has come up. @param {Group | null} group */
  #showMore(group) {
    const asked = group ? `${group.id} ${group.faces.length} ${group.nearest.map(({ name }) => name).join()}` : "";
    if (asked === this.asked) return;
    this.asked = asked;
    clearTimeout(this.asking);
    find("#more").replaceChildren();
    this.#showAlike("", []);
    if (group && asked) this.asking = setTimeout(() => void this.#ask(group, asked), BEFORE_MORE);
  }

  /** @param {Group} group @param {string} asked */
  async #ask(group, asked) {
    try {
      const { nearest, alike } = await get(`/api/people/more?group=${encodeURIComponent(group.id)}`);
      if (asked !== this.asked) return;
      const beyond = nearest.slice(KEYED);
      find("#more").replaceChildren(...beyond.map((/** @type {any} */ near, /** @type {number} */ at) => this.#near(near, at + KEYED)));
      this.#showAlike(group.id, alike);
    } catch (error) {
      console.warn("no more people to offer:", error);
    }
  }

  /** Faces without a name: one that is pressed is named along with the group. @param {string} group @param {any[]} faces */
  #showAlike(group, faces) {
    find("#alike-part").hidden = !faces.length;
    find("#alike").dataset.group = group;
    find("#alike").replaceChildren(
      ...faces.map((face) => {
        const told = { type: "button", title: face.file, "aria-label": `Face in ${face.file}`, "data-face": face.face };
        const crop = element("img", { src: face.crop, alt: "", loading: "lazy" });
        const button = element("button", told, crop, element("span", { class: "score" }, face.number ?? face.score.toFixed(2)));
        button.addEventListener("click", () => this.bench.takeAlong(face));
        return button;
      }),
    );
    this.#showTaken();
  }

  #showTaken() {
    for (const button of find("#alike").children) {
      const face = /** @type {HTMLElement} */ (button).dataset.face ?? "";
      button.setAttribute("aria-pressed", String(this.selected?.has(face) ?? false));
    }
  }
}
