/**
 * The queue as the server told it last, and what follows from that at another photo: the way on while the server takes
 * its time, or is away.
 *
 * @typedef {{at: string, total: number, done: number, position: number | null, first: string | null,
 *   previous: string | null, next: string | null, next_incomplete: string | null, before: readonly string[],
 *   after: readonly string[], todo: readonly string[], held_by: string | null}} Queue
 */

/**
 * The queue as seen from another photo, as far as it is known. A photo that is left and not done is still to do.
 * @param {Queue} queue
 * @param {string} to
 * @param {boolean} done whether the photo that is left is done
 * @returns {Queue}
 */
export function seenFrom(queue, to, done) {
  if (queue.at === to) return queue;
  const line = [...queue.before.toReversed(), queue.at, ...queue.after];
  const here = line.indexOf(to);
  const before = here < 0 ? [queue.at] : line.slice(0, here).reverse();
  const after = here < 0 ? [] : line.slice(here + 1);
  const passed = queue.todo.indexOf(to);
  const round = [...queue.todo.slice(passed + 1), ...queue.todo.slice(0, Math.max(0, passed))];
  const back = here >= 0 && here < line.indexOf(queue.at);
  const todo = done ? round : back ? [queue.at, ...round] : [...round, queue.at];
  const position = here < 0 || queue.position === null ? null : queue.position + here - line.indexOf(queue.at);
  return {
    ...queue,
    at: to,
    before,
    after,
    todo,
    position,
    previous: before[0] ?? null,
    next: after[0] ?? null,
    next_incomplete: todo[0] ?? null,
    held_by: null,
  };
}

/** The photos to have at hand, the likeliest first. @param {Queue} queue @returns {string[]} */
export const atHand = (queue) => [
  ...new Set([...queue.todo.slice(0, 3), ...queue.after.slice(0, 2), ...queue.before.slice(0, 1)]),
];
