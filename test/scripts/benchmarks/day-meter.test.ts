/** A meter attributes CPU time and requests to the operations since its last call. */

import t from 'tap'
import { startMeter, sum } from '../../../scripts/benchmarks/day-meter.js'

function aServer() {
  const state = { cpuMs: 100, requests: 10, startedGit: 5, notCached: 5 }
  const cpu = {
    entrance: '',
    cpuMs: async () => state.cpuMs,
    memoryPeaks: async () => [],
    remove: async () => {},
  }
  const count = async () => {
    // The answer with the counts itself takes time.
    state.cpuMs += 1_000
    return { ...state }
  }
  return { state, cpu, count }
}

t.test('CPU time and requests belong to the label of the next call', async (t) => {
  const { state, cpu, count } = aServer()
  const meter = await startMeter(cpu, count)
  state.cpuMs += 7
  state.requests += 3
  state.startedGit += 2
  state.notCached += 1
  await meter.add('fetch', [20, 10, 30])
  state.cpuMs += 2
  await meter.add('between')
  state.cpuMs += 4
  state.notCached += 6
  await meter.add('fetch', [40])
  t.strictSame(
    [...meter.tallies],
    [
      [
        'fetch',
        { durationsMs: [20, 10, 30, 40], cpuMs: 11, requests: 3, startedGit: 2, cached: 2 },
      ],
      ['between', { durationsMs: [], cpuMs: 2, requests: 0, startedGit: 0, cached: 0 }],
    ],
  )
})

t.test('a sum with an unknown CPU time is unknown', async (t) => {
  const { state, cpu, count } = aServer()
  const known = await startMeter(cpu, count)
  const unknown = await startMeter({ ...cpu, cpuMs: async () => undefined }, count)
  state.requests += 1
  for (const meter of [known, unknown]) await meter.add('fetch', [1])
  const tallies = [known, unknown].flatMap((meter) => [...meter.tallies.values()])
  const { cpuMs, requests } = sum(tallies)
  t.strictSame({ cpuMs, requests }, { cpuMs: undefined, requests: 2 })
})
