/** Runs a function for all entries of a page, with a limit on concurrent calls. */

const LANES = 8

/** Returns the results in the order of the entries. Rejects with the first error. */
export async function inLanes<T, R>(
  entries: readonly T[],
  work: (entry: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  const left = entries.entries()
  const runLane = async () => {
    for (const [at, entry] of left) results[at] = await work(entry)
  }
  await Promise.all(Array.from({ length: LANES }, runLane))
  return results
}
