/**
 * The product and its peers are measured in alternation, and the results are medians of the rounds.
 */

import t from 'tap'
import { compare, compareRounds, type Side } from '../../../scripts/benchmarks/compare.js'

interface Script {
  readonly name: string
  /** Number of operations in each run, which takes one second. */
  readonly operations: readonly number[]
  /** CPU time of each run; absent if it cannot be measured. */
  readonly cpuMs?: readonly number[]
}

/** Creates a side that returns scripted results and records the order of its runs. */
function scripted({ name, operations, cpuMs }: Script, turns: string[]): Side {
  let turn = 0
  let usedMs = 0
  return {
    work: async () => {
      turns.push(name)
      usedMs += cpuMs?.[turn] ?? 0
      turn += 1
      return { operations: operations[turn - 1] ?? 0, seconds: 1 }
    },
    cpuMs: async () => (cpuMs === undefined ? undefined : usedMs),
  }
}

t.test('each peer is compared with the product of the same round, after a warm-up', async (t) => {
  const turns: string[] = []
  const { product, against } = await compare(
    // The first run of each side would change every median if it were counted.
    scripted({ name: 'own', operations: [1, 10, 20, 40], cpuMs: [9_000, 10, 20, 80] }, turns),
    scripted({ name: 'git', operations: [1, 5, 20, 10], cpuMs: [9_000, 20, 20, 10] }, turns),
    scripted({ name: 'file', operations: [1, 40, 40, 40], cpuMs: [9_000, 10, 10, 10] }, turns),
  )
  t.strictSame(turns.slice(0, 6), ['own', 'git', 'file', 'own', 'git', 'file'])
  t.equal(turns.length, 12)
  t.strictSame(product, { perSecond: 20, cpuMsPerOperation: 1 })
  t.strictSame(against, [
    { peer: { perSecond: 10, cpuMsPerOperation: 1 }, speedRatio: 2, cpuRatio: 1 },
    { peer: { perSecond: 40, cpuMsPerOperation: 0.25 }, speedRatio: 0.5, cpuRatio: 4 },
  ])
})

t.test('the requested number of rounds is measured after the warm-up', async (t) => {
  const turns: string[] = []
  const { product } = await compareRounds(
    5,
    scripted({ name: 'own', operations: [90, 1, 2, 3, 70, 80] }, turns),
    scripted({ name: 'git', operations: [1, 1, 1, 1, 1, 1] }, turns),
  )
  t.equal(turns.length, 12)
  t.equal(product.perSecond, 3)
})

t.test('if CPU time cannot be measured, only speeds are compared', async (t) => {
  const operations = [3, 3, 3, 3]
  const { product, against } = await compare(
    scripted({ name: 'own', operations }, []),
    scripted({ name: 'git', operations, cpuMs: [1, 1, 1, 1] }, []),
  )
  t.equal(product.cpuMsPerOperation, undefined)
  t.match(against, [{ speedRatio: 1, cpuRatio: undefined }])
})
