/** What somebody says about people on the workbench, with what takes it back. */
import { Away, write } from "./api.js";
import { find } from "./dom.js";
import { Outbox } from "./outbox.js";

const WORDS = { saving: "Saving …", saved: "Saved", refused: "Not saved" };

export class Changes {
  /** @param {import("./outbox.js").Page} page */
  constructor(page) {
    this.page = page;
    /** @type {string[]} */
    this.undos = [];
    /** @type {string[]} */
    this.redos = [];
    this.outbox = new Outbox({
      ...page,
      saving: (state) => {
        find("#saving").dataset.state = state;
        find("#saving .word").textContent = WORDS[state];
      },
    });
  }

  get waiting() {
    return this.outbox.waiting;
  }

  /** @param {any} body @param {(name: string | null) => void} [done] */
  send(body, done = () => {}) {
    this.outbox.send(async () => {
      const { undo, name } = await write("POST", "/api/people/changes", body);
      this.undos.push(undo);
      this.redos = [];
      done(name);
    });
  }

  undo() {
    this.#back("undos", "redos", "Undone.");
  }

  redo() {
    this.#back("redos", "undos", "Done again.");
  }

  /** Runs after what is on its way, so that it takes back the very last step. @param {"undos" | "redos"} from @param {"undos" | "redos"} to @param {string} told */
  #back(from, to, told) {
    this.outbox.send(async () => {
      const token = this[from].pop();
      if (!token) return this.page.say(`Nothing is left to ${from === "undos" ? "undo" : "redo"}.`);
      try {
        const { undo } = await write("POST", "/api/people/undo", { undo: token });
        this[to].push(undo);
      } catch (error) {
        if (error instanceof Away) this[from].push(token); // once more, when the server is back
        throw error;
      }
      return this.page.say(told);
    });
  }
}
