/** The product and a peer do the same work by turns, so that both meet the same machine. */

/** What was done in one turn. */
export interface Turn {
  readonly operations: number
  readonly seconds: number
}

/** One of the two that are compared. */
export interface Side {
  readonly work: () => Promise<Turn>
  /** CPU that its servers and all their children have used so far; undefined: not to be known. */
  readonly cpuMs: () => Promise<number | undefined>
}

/** One turn, with the CPU that it cost the servers. */
interface Sample {
  readonly perSecond: number
  readonly cpuMsPerOperation: number | undefined
}

export interface Comparison {
  readonly product: Sample
  readonly peer: Sample
  /** Above 1: the product does more in the same time. */
  readonly speedRatio: number
  /** Below 1: the product uses less CPU for the same work. */
  readonly cpuRatio: number | undefined
}

const ROUNDS = 3

/**
 * Lets both work by turns, product first, for three rounds after one that warms up. All figures
 * are medians; the ratios are medians of each round's own, as its two turns met the same machine.
 */
export async function compare(product: Side, peer: Side): Promise<Comparison> {
  const rounds: Array<readonly [Sample, Sample]> = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const pair = [await takeTurn(product), await takeTurn(peer)] as const
    if (round > 0) rounds.push(pair)
  }
  return {
    product: medianSample(rounds.map(([sample]) => sample)),
    peer: medianSample(rounds.map(([, sample]) => sample)),
    speedRatio: median(rounds.map(([one, other]) => one.perSecond / other.perSecond)),
    cpuRatio: medianOf(
      rounds.map(([one, other]) => divide(one.cpuMsPerOperation, other.cpuMsPerOperation)),
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
