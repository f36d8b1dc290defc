/** Runs follow from the keys alone, and a change affects few of them. */

import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import {
  beginsRun,
  type Keyed,
  type RunOfEntries,
  splitRuns,
  staleRanges,
} from '../../../registry/indexing/runs.js'

const KEYS = Array.from({ length: 8_000 }, (_, at) => `package-${at} 1.0`).toSorted()

async function* entriesOf(keys: readonly string[]): AsyncGenerator<Keyed> {
  for (const key of keys) yield { key }
}

async function split(keys: readonly string[], from = ''): Promise<Array<RunOfEntries<Keyed>>> {
  const runs: Array<RunOfEntries<Keyed>> = []
  for await (const run of splitRuns(from, entriesOf(keys))) runs.push(run)
  return runs
}

const keysOf = (run: RunOfEntries<Keyed>) => run.entries.map(({ key }) => key)

t.test('runs have some hundred entries each and together contain all', async (t) => {
  const runs = await split(KEYS)
  t.ok(runs.length > 30 && runs.length < 130, `${runs.length} runs of ${KEYS.length}`)
  t.strictSame(runs.flatMap(keysOf), KEYS)
  for (const { from } of runs.slice(1)) t.ok(beginsRun(from), from)
})

t.test('without entries there is one empty run', async (t) => {
  t.strictSame(await split([]), [{ from: '', entries: [] }])
})

t.test(
  'keys that begin no run are split at the maximum size, and equal keys are never split',
  async (t) => {
    const dull = KEYS.filter((key) => !beginsRun(key))
    const sizes = (await split(dull)).map(({ entries }) => entries.length)
    t.ok(Math.max(...sizes) <= 2_048, `at most ${Math.max(...sizes)}`)
    const same = await split(Array.from({ length: 5_000 }, () => 'the same'))
    t.strictSame(
      same.map(({ entries }) => entries.length),
      [5_000],
    )
  },
)

t.test('entries of large texts are split by size', async (t) => {
  const dull = KEYS.filter((key) => !beginsRun(key)).slice(0, 20)
  const sizes: number[] = []
  for await (const run of splitRuns('', entriesOf(dull), () => 1 << 20)) {
    sizes.push(run.entries.length)
  }
  t.strictSame(sizes, [4, 4, 4, 4, 4])
})

/** Updates like a build: makes the stale runs anew and keeps the others. */
async function renew(
  runs: ReadonlyArray<RunOfEntries<Keyed>>,
  keys: readonly string[],
  changed: readonly string[],
) {
  const froms = runs.map(({ from }) => from)
  const renewed: Array<RunOfEntries<Keyed>> = []
  let kept = 0
  let read = 0
  for (const { first, end } of staleRanges(froms, changed)) {
    renewed.push(...runs.slice(kept, first))
    const [from = '', to] = [froms[first], froms[end]]
    const some = keys.filter((key) => key >= from && (to === undefined || key < to))
    read += some.length
    renewed.push(...(await split(some, from)))
    kept = end
  }
  return { runs: [...renewed, ...runs.slice(kept)], read }
}

for (const [what, all] of [
  ['usual keys', KEYS],
  ['keys that begin no run', KEYS.filter((key) => !beginsRun(key))],
] as const) {
  t.test(`runs after any changes equal runs made from nothing: ${what}`, async (t) => {
    const begins = KEYS.filter(beginsRun)
    let keys = all.filter((_, at) => at % 3 !== 0)
    let runs = await split(keys)
    for (let round = 0; round < 60; round += 1) {
      const changed = Array.from({ length: 1 + (round % 3) }, () => pick(round % 4 ? all : begins))
      const now = new Set(keys)
      for (const key of changed) if (!now.delete(key)) now.add(key)
      keys = [...now].toSorted()
      runs = (await renew(runs, keys, changed)).runs
      // The comparison of tap, which describes each difference, takes 30 ms.
      t.ok(isDeepStrictEqual(runs, await split(keys)), changed.join(', '))
    }
  })
}

function pick(keys: readonly string[]): string {
  return keys[Math.floor(Math.random() * keys.length)] ?? ''
}

t.test('one change reads few of the runs', async (t) => {
  const runs = await split(KEYS)
  const { read } = await renew(runs, KEYS, [KEYS[3_333] ?? ''])
  t.ok(read < KEYS.length / 4, `${read} of ${KEYS.length} entries`)
  t.equal((await renew(runs, KEYS, [])).read, 0)
})
