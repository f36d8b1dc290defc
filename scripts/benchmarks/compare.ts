/** The product and its peers do the same work by turns, so that all meet the same machine. */

import type { MeasuredServer } from './server.js'

/** What was done in one turn. */
export interface RoundResult {
  readonly operations: number
  readonly seconds: number
}

/** One of those that are compared. */
export interface Side {
  readonly work: () => Promise<RoundResult>
  /** CPU that its servers and all their children have used so far; undefined: not to be known. */
  readonly cpuMs: () => Promise<number | undefined>
}

/** One turn, with the CPU that it cost the servers. */
interface Sample {
  readonly perSecond: number
  readonly cpuMsPerOperation: number | undefined
}

/** A peer, and the product against it. */
export interface Against {
  readonly peer: Sample
  /** Above 1: the product does more in the same time. */
  readonly speedRatio: number
  /** Below 1: the product uses less CPU for the same work. */
  readonly cpuRatio: number | undefined
}

export interface Comparison {
  readonly product: Sample
  /** As many as were given, in their order. */
  readonly against: readonly Against[]
}

const ROUNDS = 3

/** A side whose CPU is all that its server uses. */
export function sideOf({ cpu }: Pick<MeasuredServer, 'cpu'>, work: Side['work']): Side {
  return { work, cpuMs: () => cpu.cpuMs() }
}

/** Lets all work by turns for three rounds. */
export function compare(product: Side, ...peers: readonly Side[]): Promise<Comparison> {
  return compareRounds(ROUNDS, product, ...peers)
}

/**
 * Lets all work by turns, product first, for an odd count of rounds after one that warms up. All
 * figures are medians; the ratios are medians of each round's own, whose turns met one machine.
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
