/**
 * Undo and redo over immutable states. Edits of one kind in quick succession, such as nudges, are one step.
 * @template T
 */
export class History {
  /** @param {T} state @param {() => number} [now] */
  constructor(state, now = Date.now) {
    this.now = now;
    /** @type {T[]} */
    this.past = [];
    /** @type {T[]} */
    this.future = [];
    this.state = state;
    this.kind = "";
    this.at = 0;
  }

  /** @param {T} state @param {string} [kind] edits of the same kind within a second become one step */
  push(state, kind = "") {
    if (state === this.state) return;
    const goesOn = kind !== "" && kind === this.kind && this.now() - this.at < 1000 && !this.future.length;
    if (!goesOn) this.past.push(this.state);
    if (this.past.length > 500) this.past.shift();
    this.future = [];
    this.state = state;
    this.kind = kind;
    this.at = this.now();
  }

  undo() {
    return this.#step(this.past, this.future);
  }

  redo() {
    return this.#step(this.future, this.past);
  }

  /** @param {T[]} from @param {T[]} to */
  #step(from, to) {
    const state = from.pop();
    if (state === undefined) return false;
    to.push(this.state);
    this.state = state;
    this.kind = "";
    return true;
  }
}
