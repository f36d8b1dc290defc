/** Mutexes by key: work of this process with the same key runs one after the other. */

/** Runs `work` when all earlier work with the same key has ended. */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Creates a set of mutexes. A mutex exists only while its key is in use. */
export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>()
  return async (key, work) => {
    const before = last.get(key)
    const mine = (before ?? Promise.resolve()).then(work)
    const ended = mine.catch(() => {})
    last.set(key, ended)
    try {
      return await mine
    } finally {
      if (last.get(key) === ended) last.delete(key)
    }
  }
}
