/**
 * What somebody says, sent one after the other in the order of the keys. Nobody leaves the page before it is answered.
 *
 * @typedef {{say: (text: string, kind?: "info" | "problem") => void, idle: () => void, saving?: (state: "saving" | "saved" | "refused") => void}} Page
 */
import { Away, Refused } from "./api.js";

export class Outbox {
  /** @param {Page} page `idle` is called when nothing is on its way any more */
  constructor(page) {
    this.page = page;
    this.sending = Promise.resolve();
    this.waiting = 0;
    this.refused = false;
    addEventListener("beforeunload", (event) => this.waiting && event.preventDefault());
    document.addEventListener("click", (event) => this.#followed(event));
  }

  /** @param {() => Promise<void>} work what goes wrong with it is told, and what comes next is sent all the same */
  send(work) {
    this.waiting += 1;
    document.body.dataset.fresh = "false";
    this.page.saving?.("saving");
    this.sending = this.sending.then(async () => {
      try {
        await work();
        this.page.saving?.("saved");
      } catch (error) {
        this.refused = true;
        this.page.saving?.("refused");
        this.page.say(error instanceof Error ? error.message : String(error), "problem");
        if (!(error instanceof Refused || error instanceof Away)) reportError(error); // a bug of this page
      } finally {
        this.waiting -= 1;
        if (!this.waiting) this.page.idle();
      }
    });
  }

  /** Go to another page once everything is saved. @param {string} address */
  async leave(address) {
    this.refused = false;
    if (this.waiting) this.page.say("Saving before the page changes …");
    while (this.waiting) await this.sending;
    if (!this.refused) location.assign(address);
  }

  /** @param {MouseEvent} event */
  #followed(event) {
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!this.waiting || !(link instanceof HTMLAnchorElement) || link.target || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    void this.leave(link.href);
  }
}
