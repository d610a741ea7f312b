/**
 * The side panel for boxes: the list, the fields of the selected box, and what is said about the photo as a whole.
 * Everything is always there; what does not apply is disabled, so nothing moves under the hand.
 *
 * @typedef {import("../model/labels.js").LabelBox} LabelBox
 */
import { isDrawn } from "../model/geometry.js";
import { RULES } from "../model/labels.js";
import { Combobox } from "./combobox.js";
import { element, find } from "./dom.js";
import { Listbox } from "./listbox.js";
import { Names } from "./names.js";
import { Toggles } from "./toggles.js";
import { MEANING, scopeWord, scoreWord, tagWord } from "./words.js";

/** What may be typed, as the server has it, and how to say what may not. */
export const TEXT = {
  number: { fits: /^[0-9A-Za-z?-]{0,12}$/, rule: "is no number: at most 12 of 0-9, A-Z, ? and -" },
  identity: { fits: /^[^<>\p{C}]{0,80}$/u, rule: "is no name: at most 80 characters, without < and >" },
};

export class BoxForm {
  /** @param {any} config @param {any} actions */
  constructor(config, actions) {
    this.config = config;
    this.actions = actions;
    /** @type {LabelBox | null} */
    this.box = null;
    this.rules = RULES[/** @type {"bibs" | "faces"} */ (config.dimension)];
    this.list = new Listbox(find("#boxes"), actions.select, actions.open);
    this.photoTags = new Toggles(find("#photo-tags"), config.photo_tags, actions.togglePhotoTag, tagWord);
    this.boxTags = new Toggles(find("#box-tags"), config.box_tags, actions.toggleBoxTag, tagWord);
    find("#box-tags-field").hidden = !config.box_tags.length;
    this.scopes = this.#makeScopes();
    this.text = this.#makeText();
    this.#wire();
  }

  #makeScopes() {
    return this.config.scopes.map((/** @type {string} */ scope, /** @type {number} */ at) => {
      const input = /** @type {HTMLInputElement} */ (element("input", { type: "radio", name: "scope", value: scope }));
      input.addEventListener("change", () => this.actions.setScope(scope));
      find("#scopes").append(
        element(
          "label",
          { title: MEANING[scope] ?? "" },
          input,
          element("span", {}, scopeWord(scope)),
          element("kbd", {}, String(at + 1)),
        ),
      );
      return input;
    });
  }

  #makeText() {
    const names = (this.names = this.config.dimension === "faces" ? new Names() : null);
    const text = new Combobox(find("#text"), find("#offers"), {
      offers: (typed) => names?.offers(typed) ?? [],
      commit: (text) => this.#commit(text),
      make: this.actions.makeName,
      leave: this.actions.leaveText,
    });
    find("#text-label").textContent = names ? "Identity" : "Number";
    find("#text-hint").textContent = names ? "empty: seen once, nobody known" : "as printed; 62? where a character cannot be read";
    if (!names) {
      for (const name of ["role", "aria-expanded", "aria-controls", "aria-autocomplete"])
        find("#text").removeAttribute(name);
      find("#text").setAttribute("inputmode", "text");
      find("#text").setAttribute("maxlength", "12");
    }
    return text;
  }

  /** @param {string} text */
  #commit(text) {
    const field = /** @type {"number" | "identity"} */ (this.rules.field);
    if (TEXT[field].fits.test(text)) {
      if (text) this.names?.used(text);
      return this.actions.setText(text || null);
    }
    this.actions.say(`“${text}” ${TEXT[field].rule}.`, "problem");
    return this.text.set(this.box?.[field] ?? "", true);
  }

  #wire() {
    const on = (/** @type {string} */ id, /** @type {() => void} */ run) => find(id).addEventListener("click", run);
    on("#accept", this.actions.accept);
    on("#reject", this.actions.reject);
    on("#accept-all", this.actions.acceptAll);
    on("#delete", this.actions.remove);
    on("#none", this.actions.none);
    on("#done", this.actions.done);
    find("#labeled").addEventListener("change", this.actions.toggleLabeled);
    for (const radio of document.querySelectorAll("input[name=split]"))
      radio.addEventListener("change", () => this.actions.setSplit(/** @type {HTMLInputElement} */ (radio).value));
  }

  /**
   * @param {{doc: import("../model/labels.js").Labels, ghosts: any[], selected: string | null, provenance: any}} state
   */
  show({ doc, ghosts, selected, provenance }) {
    const editable = !this.config.read_only;
    this.box = doc.boxes.find((box) => box.id === selected) ?? null;
    const ghost = ghosts.find((g) => g.id === selected) ?? null;
    const things = this.config.dimension;
    this.list.show(
      [...doc.boxes.map((box, at) => this.#row(box, at)), ...ghosts.map((g) => this.#ghostRow(g))],
      selected,
      `No ${things} yet: draw a box on the photo.`,
    );
    find("#count").textContent = count(doc.boxes.length, ghosts.length);
    for (const input of this.scopes) {
      input.checked = this.box?.scope === input.value;
      input.disabled = !this.box || !editable;
    }
    this.text.set(
      String(this.box?.[/** @type {"number" | "identity"} */ (this.rules.field)] ?? ""),
      Boolean(this.box) && editable,
    );
    this.boxTags.show(this.box?.tags ?? [], Boolean(this.box) && editable);
    this.photoTags.show(doc.tags, editable);
    const enable = (/** @type {string} */ id, /** @type {boolean} */ on) =>
      find(id).toggleAttribute("disabled", !on || !editable);
    enable("#accept", Boolean(ghost));
    enable("#reject", Boolean(ghost));
    enable("#accept-all", ghosts.length > 0);
    enable("#delete", Boolean(this.box));
    enable("#none", true);
    enable("#done", true);
    enable("#labeled", true);
    find("#provenance").textContent = ghosts.length ? madeBy(ghost, provenance?.[things]) : "None left to answer.";
    find("#provenance").title = provenance?.[things] ?? "";
    /** @type {HTMLInputElement} */ (find("#labeled")).checked = doc.labeled;
    for (const radio of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll("input[name=split]"))) {
      radio.checked = radio.value === doc.split;
      radio.disabled = !editable || this.config.blind;
    }
  }

  /** @param {LabelBox} box @param {number} at @returns {import("./listbox.js").Row} */
  #row(box, at) {
    const title = this.rules.field === "number" ? box.number : box.identity;
    const detail = [scopeWord(box.scope), ...box.tags.map(tagWord), ...(isDrawn(box) ? [] : ["not drawn"])];
    return {
      id: box.id,
      number: String(at + 1),
      title: title ?? "–",
      detail: detail.join(", "),
      kind: `box ${box.scope}`,
    };
  }

  /** @param {any} ghost @returns {import("./listbox.js").Row} */
  #ghostRow(ghost) {
    const title = ghost.number ?? ghost.identity ?? (this.rules.field === "number" ? "–" : "face");
    return { id: ghost.id, number: "?", title, detail: `suggested ${scoreWord(ghost.score)}`, kind: "ghost" };
  }
}

/** @param {number} boxes @param {number} ghosts */
const count = (boxes, ghosts) => (ghosts ? `${boxes}, and ${ghosts} suggested` : String(boxes));

/**
 * @param {any} ghost
 * @param {string | undefined} pipeline
 */
const madeBy = (ghost, pipeline) =>
  [ghost && scoreWord(ghost.score), "by", pipeline ?? "an unknown pipeline"].filter(Boolean).join(" ");
