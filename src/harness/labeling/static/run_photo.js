/**
 * One photo of a run: labels, predictions and those of the other run as layers, over each other or side by side; a list
 * of what became of each box; notes.
 *
 * @typedef {import("./model/findings.js").Finding} Finding
 * @typedef {import("./model/findings.js").Side} Side
 */
import { allFindings, captionOf, classesOf, isShown, newFirst } from "./model/findings.js";
import { boxesAt } from "./model/hit.js";
import { Refused, write } from "./parts/api.js";
import { element, find, svg } from "./parts/dom.js";
import { command, fillHelp, listen } from "./parts/keys.js";
import { Shapes } from "./parts/shapes.js";
import { Stage } from "./parts/stage.js";
import { viewCommands } from "./parts/view_keys.js";

const config = JSON.parse(find("#config").textContent ?? "");

class Viewer {
  constructor() {
    /** @type {Record<string, boolean>} */
    this.layers = { labels: true, run: true, base: false, ignored: false, dropped: false, beside: false, ...remembered() };
    this.findings = allFindings(config.layers);
    /** @type {string | null} */
    this.selected = null;
    this.panes = { run: this.#pane("run"), base: this.#pane("base") };
    this.#list();
    this.#aim();
    this.#wire();
    this.#keys();
    this.show();
    this.#showNotes(config.notes);
  }

  /** @param {Side} side */
  #pane(side) {
    const other = () => this.panes?.[side === "run" ? "base" : "run"];
    const stage = new Stage(find(`#stage-${side}`), {
      viewed: () => {
        shapes.follow();
        const pane = other();
        if (this.layers.beside && pane && !same(pane.stage.view, stage.view)) pane.stage.setView(stage.view);
      },
      failed: () => stage.root.classList.remove("loading"),
    });
    const shapes = new Shapes(stage);
    const lines = svg("g", { class: "link-lines" });
    stage.shapes.append(lines);
    if (config.photo.source) stage.show(config.photo);
    else stage.size = { width: config.photo.width, height: config.photo.height };
    stage.root.addEventListener("pointerdown", (event) => this.#pointed(event, side));
    return { stage, shapes, lines };
  }

  /** @param {Side} pane */
  #shown(pane) {
    return this.findings.filter((finding) => isShown(finding, pane, this.layers, this.selected));
  }

  show() {
    const { layers } = this;
    find("#figure-base").hidden = !layers.beside;
    for (const side of /** @type {Side[]} */ (layers.beside ? ["base", "run"] : ["run"])) {
      const shown = this.#shown(side);
      const { stage, shapes, lines } = this.panes[side];
      shapes.show(
        shown
          .filter((finding) => finding.box && !finding.line)
          .map((finding) => ({
            id: finding.id,
            box: /** @type {any} */ (finding.box),
            kind: classesOf(finding, layers.beside),
            text: captionOf(finding, layers.beside, this.selected),
            selected: finding.id === this.selected,
            below: finding.layer === "predictions" || finding.layer === "dropped",
          })),
      );
      const { width, height } = stage.size;
      lines.replaceChildren(
        ...shown
          .filter((finding) => finding.line)
          .flatMap((finding) => {
            const [[x1, y1], [x2, y2]] = /** @type {Line} */ (finding.line).ends;
            const ends = { x1: x1 * width, y1: y1 * height, x2: x2 * width, y2: y2 * height };
            const chosen = finding.id === this.selected ? " selected" : "";
            return ["halo", "edge"].map((part) => svg("line", { class: `${part} ${classesOf(finding, layers.beside)}${chosen}`, ...ends }));
          }),
      );
      stage.draw();
    }
    for (const box of document.querySelectorAll("#layers input")) {
      const input = /** @type {HTMLInputElement} */ (box);
      input.checked = Boolean(layers[input.value]);
    }
    for (const button of document.querySelectorAll(".findings button"))
      button.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (button).dataset.id === this.selected));
  }

  #list() {
    const wrong = this.findings.filter((finding) => finding.wrong);
    const dropped = this.findings.filter((finding) => finding.layer === "dropped" && finding.side === "run");
    const rest = this.findings.filter(
      (finding) => !finding.wrong && finding.layer !== "dropped" && finding.side === "run" && finding.state !== "misread",
    );
    for (const [id, list] of Object.entries({ wrong, dropped, rest })) {
      find(`#${id}`).replaceChildren(...newFirst(list).map((finding) => this.#entry(finding)));
      find(`#${id}-count`).textContent = String(list.filter(({ side }) => side === "run").length || "none");
    }
  }

  /** @param {Finding} finding */
  #entry(finding) {
    const button = element(
      "button",
      { type: "button", class: finding.state, "data-id": finding.id, "aria-pressed": false },
      element("span", {}, finding.title),
      finding.isNew
        ? element("span", { class: "side new" }, "new")
        : element("span", { class: "side" }, finding.side === "base" ? "other run" : ""),
    );
    if (finding.why) button.append(element("small", {}, finding.why));
    button.addEventListener("click", () => this.select(finding.id, true));
    return element("li", {}, button);
  }

  /** @param {string | null} id @param {boolean} [reveal] */
  select(id, reveal = false) {
    this.selected = id;
    this.show();
    const finding = this.finding;
    const pane = this.panes[this.layers.beside && finding ? finding.side : "run"];
    if (reveal && finding?.box) pane.stage.reveal(finding.box);
    this.#aim();
    const button = document.querySelector(`.findings button[data-id="${id}"]`);
    button?.scrollIntoView({ block: "nearest" });
  }

  /** The way into the editor leads to what is selected, or to the first thing that is wrong. */
  #aim() {
    const edit = document.querySelector("#edit");
    if (!edit || !config.editors) return;
    const wrong = this.findings.filter((finding) => finding.wrong && finding.side === "run");
    const first = wrong.find(({ isNew }) => isNew) ?? wrong.find(({ layer }) => layer === "labels");
    const target = this.finding ?? first ?? wrong[0];
    const at = target?.edit.at === undefined ? "" : `#box=${target.edit.at}`;
    edit.setAttribute("href", `${config.editors[target?.edit.page ?? "bibs"]}${config.photo.sha256}${at}`);
  }

  get finding() {
    return this.findings.find(({ id }) => id === this.selected) ?? null;
  }

  /** @param {PointerEvent} event @param {Side} side */
  #pointed(event, side) {
    if (event.button !== 0) return;
    const { stage } = this.panes[side];
    const shown = this.#shown(side).filter(({ box, line }) => box && !line);
    const hit = boxesAt(
      shown.map((finding) => ({ .../** @type {any} */ (finding.box), id: finding.id })),
      stage.inPhoto(event),
    )[0];
    if (hit) this.select(hit.id);
    else if (this.selected) this.select(null);
    if (!hit) this.#drag(event, stage);
  }

  /** Dragging the photo moves it. @param {PointerEvent} down @param {Stage} stage */
  #drag(down, stage) {
    const start = stage.view;
    const move = (/** @type {PointerEvent} */ event) =>
      stage.setView({ ...start, x: start.x + event.clientX - down.clientX, y: start.y + event.clientY - down.clientY });
    stage.root.setPointerCapture(down.pointerId);
    stage.root.addEventListener("pointermove", move);
    stage.root.addEventListener("lostpointercapture", () => stage.root.removeEventListener("pointermove", move), { once: true });
  }

  /** @param {string} layer */
  toggle(layer) {
    if (!document.querySelector(`#layer-${layer}`)) return;
    this.layers[layer] = !this.layers[layer];
    sessionStorage.setItem("layers", JSON.stringify(this.layers));
    this.show();
    if (layer === "beside") requestAnimationFrame(() => Object.values(this.panes).forEach(({ stage }) => stage.fit()));
  }

  /** @param {1 | -1} by the next of what is wrong */
  step(by) {
    const ids = [...document.querySelectorAll("#wrong button")].map((button) => /** @type {HTMLElement} */ (button).dataset.id ?? "");
    if (!ids.length) return;
    const at = ids.indexOf(this.selected ?? "");
    this.select(ids[(at + by + ids.length + (at < 0 && by < 0 ? 1 : 0)) % ids.length], true);
  }

  #wire() {
    for (const input of document.querySelectorAll("#layers input"))
      input.addEventListener("change", () => this.toggle(/** @type {HTMLInputElement} */ (input).value));
    const form = find("#note-form");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.#leaveNote();
    });
  }

  async #leaveNote() {
    const note = /** @type {HTMLTextAreaElement} */ (find("#note"));
    const state = find("#note-state");
    if (!note.value.trim()) return void (state.textContent = "Write something first.");
    state.textContent = "Being kept …";
    try {
      const { notes } = await write("POST", config.address, { text: note.value.trim() });
      this.#showNotes(notes);
      note.value = "";
      state.textContent = "Kept with the run.";
    } catch (error) {
      state.textContent = error instanceof Refused ? error.message : "The server does not answer; the note is still here.";
    }
    return undefined;
  }

  /** @param {[string, string][]} notes */
  #showNotes(notes) {
    find("#notes").replaceChildren(...notes.map(([at, text]) => element("li", {}, element("time", {}, at), text)));
  }

  #keys() {
    const follow = (/** @type {string} */ id) => {
      const link = document.querySelector(id);
      if (link instanceof HTMLAnchorElement) link.click();
    };
    const dialog = /** @type {HTMLDialogElement} */ (find("#help"));
    const stage = this.panes.run.stage;
    const commands = [
      command("Photos", "j PageDown", "next photo", () => follow("#next")),
      command("Photos", "k PageUp", "previous photo", () => follow("#previous")),
      command("Photos", "Escape", "back to all photos", () => (this.selected ? this.select(null) : follow("#back"))),
      command("Photos", "e", "edit the labels, at the box that is selected", () => follow("#edit")),
      command("Boxes", "n", "next thing that is wrong", () => this.step(1)),
      command("Boxes", "p", "the one before", () => this.step(-1)),
      ...["labels", "run", "base", "ignored", "dropped"].map((layer, at) =>
        command("Layers", String(at + 1), `show or hide: ${layer === "run" ? "this run" : layer === "base" ? "the other run" : layer}`, () => this.toggle(layer)),
      ),
      command("Layers", "s", "side by side, or over each other", () => this.toggle("beside")),
      ...viewCommands(stage, () => this.finding?.box && stage.zoomTo(this.finding.box)),
      command("Help", "?", "show these keys", () => dialog.showModal()),
    ];
    fillHelp(commands);
    listen(commands, () => !dialog.open);
    find("#show-help").addEventListener("click", () => dialog.showModal());
  }
}

/** @returns {Record<string, boolean>} */
function remembered() {
  try {
    return JSON.parse(sessionStorage.getItem("layers") ?? "{}");
  } catch {
    return {};
  }
}

/** @param {import("./model/view.js").View} a @param {import("./model/view.js").View} b */
const same = (a, b) => Math.abs(a.scale - b.scale) < 1e-6 && Math.abs(a.x - b.x) < 0.01 && Math.abs(a.y - b.y) < 0.01;

new Viewer();
find("#stage-run").focus({ preventScroll: true });
document.body.dataset.ready = "true";
