/** Turns: what several requests would do to one thing is done one after the other. */

/** Runs `work` when all that was asked for the same thing before, in this process, has ended. */
export type Turns = <T>(thing: string, work: () => Promise<T>) => Promise<T>

/** A set of lines to stand in, one for each thing that somebody works on. */
export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>()
  return async (thing, work) => {
    const before = last.get(thing)
    const mine = (before ?? Promise.resolve()).then(work)
    const ended = mine.catch(() => {})
    last.set(thing, ended)
    try {
      return await mine
    } finally {
      if (last.get(thing) === ended) last.delete(thing)
    }
  }
}
