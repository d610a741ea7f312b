/**
 * One photo of a run: labels, predictions and those of the other run as layers, over each other or side by side; a list
 * of what became of each box; notes.
 *
 * @typedef {{kind: string, at?: number, text: string, state: string, why?: string, score?: number | null,
 *   identity?: string, box: [number, number, number, number] | null}} Said
 * @typedef {{side: string, at: number, text: string, state: string, ends: [number, number][], score: number | null,
 *   why: string}} Line
 * @typedef {{labels: Said[], predictions: Said[], links: Line[], dropped: Said[]}} Layers
 * @typedef {"run" | "base"} Side
 * @typedef {{id: string, side: Side, layer: string, title: string, why: string, state: string, wrong: boolean,
 *   box: import("./model/geometry.js").Box | null, edit: {page: string, at?: number} | null, line?: Line, kind: string}} Finding
 */
import { boxesAt } from "./model/hit.js";
import { Refused, write } from "./parts/api.js";
import { element, find, svg } from "./parts/dom.js";
import { command, fillHelp, listen } from "./parts/keys.js";
import { Shapes } from "./parts/shapes.js";
import { Stage } from "./parts/stage.js";
import { viewCommands } from "./parts/view_keys.js";

const config = JSON.parse(find("#config").textContent ?? "");
const WRONG = ["missed", "false", "misread"];
const MARGIN = 0.02;

/** @param {[number, number, number, number] | null} box */
const asBox = (box) => (box ? { x: box[0], y: box[1], w: box[2], h: box[3] } : null);

/** @param {Side} side @param {Layers} layers @returns {Finding[]} */
function findingsOf(side, layers) {
  const words = { missed: "MISSED", false: "FALSE", misread: "MISREAD", ignored: "not scored", found: "found", right: "right", unknown: "not labelled" };
  const say = (/** @type {string} */ state) => words[/** @type {keyof typeof words} */ (state)] ?? state;
  /** @param {Said} said @param {string} layer @returns {Finding} */
  const boxed = (said, layer) => ({
    id: `${side}-${layer}-${said.kind}-${said.at}`,
    side,
    layer,
    kind: said.kind,
    title: `${say(said.state)} ${said.kind === "face" ? ["face", said.identity].filter(Boolean).join(" ") : ["bib", said.text].filter(Boolean).join(" ")}`,
    why: [said.why, said.score == null ? "" : `score ${said.score.toFixed(2)}`].filter(Boolean).join(", "),
    state: said.state,
    wrong: WRONG.includes(said.state) && !(layer === "predictions" && said.state === "misread"),
    box: asBox(said.box),
    edit: layer === "labels" ? { page: said.kind === "face" ? "faces" : "bibs", at: said.at } : { page: said.kind === "face" ? "faces" : "bibs" },
  });
  return [
    ...layers.labels.map((said) => boxed(said, "labels")),
    ...layers.predictions.map((said) => boxed(said, "predictions")),
    ...layers.links.map((line) => ({
      id: `${side}-link-${line.side}-${line.at}`,
      side,
      layer: line.side === "label" ? "labels" : "predictions",
      kind: "link",
      title: [say(line.state), "link", line.text].filter(Boolean).join(" "),
      why: [line.why, line.score == null ? "" : `score ${line.score.toFixed(2)}`].filter(Boolean).join(", "),
      state: line.state,
      wrong: WRONG.includes(line.state),
      box: around(line.ends),
      edit: { page: "links" },
      line,
    })),
    ...layers.dropped.map((said, at) => ({
      id: `${side}-dropped-${at}`,
      side,
      layer: "dropped",
      kind: "text",
      title: said.text ? `“${said.text}”` : "a text that was not read",
      why: said.why ?? "",
      state: "dropped",
      wrong: false,
      box: asBox(said.box),
      edit: { page: "bibs" },
    })),
  ];
}

/** @param {[number, number][]} ends */
function around(ends) {
  const xs = ends.map(([x]) => x);
  const ys = ends.map(([, y]) => y);
  const x = Math.min(...xs) - MARGIN;
  const y = Math.min(...ys) - MARGIN;
  return { x, y, w: Math.max(...xs) - x + MARGIN, h: Math.max(...ys) - y + MARGIN };
}

class Viewer {
  constructor() {
    /** @type {Record<string, boolean>} */
    this.layers = { labels: true, run: true, base: false, ignored: false, dropped: false, beside: false, ...remembered() };
    /** @type {Finding[]} */
    this.findings = ["run", "base"].flatMap((side) =>
      config.layers[side] ? findingsOf(/** @type {Side} */ (side), config.layers[side]) : [],
    );
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

  /** What is drawn on a pane: over each other, the one pane has all; side by side, each its own run. @param {Side} pane */
  #shown(pane) {
    const { layers } = this;
    return this.findings.filter((finding) => {
      if (finding.layer === "dropped" && !(layers.dropped || finding.id === this.selected)) return false;
      if (finding.state === "ignored" && !(layers.ignored || finding.id === this.selected)) return false;
      const own = layers.beside ? finding.side === pane : finding.side === "run" || finding.layer === "predictions";
      if (!own) return false;
      if (finding.layer === "labels") return layers.labels && (layers.beside || finding.side === "run");
      if (finding.layer === "predictions" && !layers.beside) return layers[finding.side];
      return finding.layer !== "predictions" || layers.run;
    });
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
            kind: this.#kind(finding),
            text: this.#caption(finding),
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
            return ["halo", "edge"].map((part) => svg("line", { class: `${part} ${this.#kind(finding)}${chosen}`, ...ends }));
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

  /** What stands at a box: all that is wrong, and names; a prediction that is right says nothing unless it is selected.
   * @param {Finding} finding */
  #caption(finding) {
    const other = finding.side === "base" && !this.layers.beside ? " (other run)" : "";
    const { selected } = this;
    if (finding.id === selected || finding.layer === "dropped") return finding.title + other;
    if (finding.state === "right" || (finding.layer === "predictions" && finding.state === "unknown")) return "";
    const said = this.#said(finding);
    const name = said.text || said.identity || "";
    if (finding.state === "found" || finding.state === "ignored") return name;
    if (finding.state === "misread" && finding.layer === "labels") return `is ${name}, ${said.why}`;
    if (finding.state === "misread") return "";
    return `${finding.state.toUpperCase()} ${name || finding.kind}${other}`;
  }

  /** @param {Finding} finding */
  #kind(finding) {
    const other = finding.side === "base" && !this.layers.beside && finding.layer === "predictions";
    const layer = { labels: "label-box", predictions: "prediction", dropped: "text" }[finding.layer];
    return `${layer} ${finding.state}${other ? " base" : ""}`;
  }

  /** @param {Finding} finding @returns {Said} */
  #said(finding) {
    return config.layers[finding.side][finding.layer].find(
      (/** @type {Said} */ said) => finding.id === `${finding.side}-${finding.layer}-${said.kind}-${said.at}`,
    );
  }

  #list() {
    const wrong = this.findings.filter((finding) => finding.wrong);
    const dropped = this.findings.filter((finding) => finding.layer === "dropped" && finding.side === "run");
    const rest = this.findings.filter(
      (finding) => !finding.wrong && finding.layer !== "dropped" && finding.side === "run" && finding.state !== "misread",
    );
    for (const [id, list] of Object.entries({ wrong, dropped, rest })) {
      const rank = (/** @type {Finding} */ finding) => (finding.side === "base" ? 2 : this.#isNew(finding) ? 0 : 1);
      const sorted = [...list].sort((a, b) => rank(a) - rank(b));
      find(`#${id}`).replaceChildren(...sorted.map((finding) => this.#entry(finding)));
      find(`#${id}-count`).textContent = String(list.filter(({ side }) => side === "run").length || "none");
    }
  }

  /** Whether a label is wrong here that was right in the other run. @param {Finding} finding */
  #isNew(finding) {
    if (finding.side === "base" || finding.layer !== "labels" || !finding.wrong) return false;
    const before = this.findings.find(({ id }) => id === finding.id.replace(/^run/, "base"));
    return before !== undefined && !before.wrong;
  }

  /** @param {Finding} finding */
  #entry(finding) {
    const button = element(
      "button",
      { type: "button", class: finding.state, "data-id": finding.id, "aria-pressed": false },
      element("span", {}, finding.title),
      this.#isNew(finding)
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
    const first = wrong.find((finding) => this.#isNew(finding)) ?? wrong.find(({ layer }) => layer === "labels");
    const target = this.finding ?? first ?? wrong[0];
    const at = target?.edit?.at === undefined ? "" : `#box=${target.edit.at}`;
    edit.setAttribute("href", `${config.editors[target?.edit?.page ?? "bibs"]}${config.photo.sha256}${at}`);
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
