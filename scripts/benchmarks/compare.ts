/** Comparison of the product with peers, which work alternately under the same machine load. */

import type { MeasuredServer } from './server.js'

/** Work of one side in one round. */
export interface RoundResult {
  readonly operations: number
  readonly seconds: number
}

/** Product or peer in a comparison. */
export interface Side {
  readonly work: () => Promise<RoundResult>
  /** Returns the CPU time of its servers and their children so far; undefined if unknown. */
  readonly cpuMs: () => Promise<number | undefined>
}

/** Result of one round, with the CPU time of the servers. */
interface Sample {
  readonly perSecond: number
  readonly cpuMsPerOperation: number | undefined
}

/** Results of a peer, and the ratios of the product to it. */
export interface Against {
  readonly peer: Sample
  /** Operations per second of the product relative to the peer; above 1 is faster. */
  readonly speedRatio: number
  /** CPU time of the product relative to the peer; below 1 is less. */
  readonly cpuRatio: number | undefined
}

export interface Comparison {
  readonly product: Sample
  /** Results for each peer, in the given order. */
  readonly against: readonly Against[]
}

const ROUNDS = 3

/** Returns a side whose CPU time is that of its server. */
export function sideOf({ cpu }: Pick<MeasuredServer, 'cpu'>, work: Side['work']): Side {
  return { work, cpuMs: () => cpu.cpuMs() }
}

/** Compares the sides in three rounds. */
export function compare(product: Side, ...peers: readonly Side[]): Promise<Comparison> {
  return compareRounds(ROUNDS, product, ...peers)
}

/**
 * Compares the sides in an odd number of rounds after a warm-up round. In each round, the product
 * works before each peer in turn. All figures are medians; a ratio is the median of the ratios of
 * the rounds, because the machine's load is similar within a round.
 */
export async function compareRounds(
  roundCount: number,
  product: Side,
  ...peers: readonly Side[]
): Promise<Comparison> {
  const rounds: Array<{ readonly own: Sample; readonly pairs: readonly Pair[] }> = []
  for (let round = 0; round <= roundCount; round += 1) {
    const own = await takeTurn(product)
    const pairs: Pair[] = []
    for (const peer of peers) pairs.push({ own, other: await takeTurn(peer) })
    if (round > 0) rounds.push({ own, pairs })
  }
  return {
    product: medianSample(rounds.map(({ own }) => own)),
    against: peers.map((_, index) =>
      comparePairs(rounds.flatMap(({ pairs }) => pairs[index] ?? [])),
    ),
  }
}

interface Pair {
  readonly own: Sample
  readonly other: Sample
}

function comparePairs(pairs: readonly Pair[]): Against {
  return {
    peer: medianSample(pairs.map(({ other }) => other)),
    speedRatio: median(pairs.map(({ own, other }) => own.perSecond / other.perSecond)),
    cpuRatio: medianOf(
      pairs.map(({ own, other }) => divide(own.cpuMsPerOperation, other.cpuMsPerOperation)),
    ),
  }
}

async function takeTurn(side: Side): Promise<Sample> {
  const before = await side.cpuMs()
  const { operations, seconds } = await side.work()
  const after = await side.cpuMs()
  const used = before === undefined || after === undefined ? undefined : after - before
  return { perSecond: operations / seconds, cpuMsPerOperation: divide(used, operations) }
}

function medianSample(samples: readonly Sample[]): Sample {
  return {
    perSecond: median(samples.map(({ perSecond }) => perSecond)),
    cpuMsPerOperation: medianOf(samples.map(({ cpuMsPerOperation }) => cpuMsPerOperation)),
  }
}

function divide(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other
}

function medianOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined)
  return known.length === 0 ? undefined : median(known)
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
