/** Pseudorandom numbers that are equal in each run, so that its results are comparable. */

/** Creates a generator of numbers from 0 (inclusive) to 1 (exclusive). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    // Generator of Numerical Recipes; its low quality does not matter for the benchmarks.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
