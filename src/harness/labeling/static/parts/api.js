/**
 * The server, as docs/labeling.md describes it.
 *
 * @typedef {import("../model/autosave.js").Answer} Answer
 */
import { labeler } from "./labeler.js";

/** The server did not answer. */
export class Away extends Error {}

/** The server said no. */
export class Refused extends Error {
  /** @param {number} status @param {any} body */
  constructor(status, body) {
    super(body?.message ?? `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** A server that says nothing for so long is away. */
const MILLISECONDS = 20_000;

/** @param {string} path @param {RequestInit} [options] @returns {Promise<any>} */
async function ask(path, options) {
  let response;
  let body = null;
  try {
    response = await fetch(path, { signal: AbortSignal.timeout(MILLISECONDS), ...options });
    body = response.status === 204 ? null : await response.json();
  } catch {
    if (!response || response.ok || response.status >= 502) throw new Away("the server does not answer");
  }
  if (!response.ok) throw new Refused(response.status, body);
  return body;
}

/** @param {string} path */
export const get = (path) => ask(path, { headers: { Accept: "application/json" } });

/** @param {"PUT" | "POST"} method @param {string} path @param {unknown} body @param {string | null} [revision] */
export const write = (method, path, body, revision = null) =>
  ask(path, {
    method,
    headers: {
      "Content-Type": "application/json",
      "X-Labeler": encodeURIComponent(labeler()),
      ...(revision === null ? {} : { "If-Match": `"${revision}"` }),
    },
    body: JSON.stringify(body),
  });

/** What came of a save, for the autosave to act on. @param {() => Promise<unknown>} work @returns {Promise<Answer>} */
export async function answered(work) {
  try {
    return { kind: "saved", base: await work() };
  } catch (error) {
    if (error instanceof Away) return { kind: "away" };
    if (!(error instanceof Refused)) throw error;
    if (error.status === 409 && error.body?.current) return { kind: "conflict", theirs: error.body.current };
    return error.status === 503 ? { kind: "away" } : { kind: "refused", message: error.message };
  }
}
