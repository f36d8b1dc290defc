/** The plan of a simulated day is equal in each run, and its jobs can run concurrently. */

import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { JOB_KINDS } from '../../../scripts/benchmarks/ci-jobs.js'
import { BRANCHES, planPushes, WORKSPACES } from '../../../scripts/benchmarks/day-plan.js'

t.test('two plans of the same hours are equal', async (t) => {
  t.ok(isDeepStrictEqual([...planPushes(1)], [...planPushes(1)]))
})

t.test('an hour has pushes of one to three commits to every branch', async (t) => {
  const pushes = [...planPushes(2)]
  t.equal(pushes.length, 80)
  t.strictSame([...new Set(pushes.map(({ branch }) => branch))].sort(), [...BRANCHES].sort())
  const counts = pushes.map(({ changes }) => changes.length)
  t.strictSame([...new Set(counts)].sort(), [1, 2, 3])
  t.ok(pushes.every(({ branch, changes }) => changes.every((change) => change.branch === branch)))
})

t.test(
  'the kinds of jobs have about their shares, and jobs of one kind are together',
  async (t) => {
    const pushes = [...planPushes(4)]
    const jobs = pushes.flatMap((push) => push.jobs)
    t.equal(jobs.length, pushes.length * 60)
    for (const { label, percent } of JOB_KINDS) {
      const share = (jobs.filter(({ kind }) => kind.label === label).length / jobs.length) * 100
      t.ok(Math.abs(share - percent) < 1, `${label}: ${share.toFixed(2)} % of ${percent} %`)
    }
    for (const push of pushes) {
      const changes = push.jobs.filter(({ kind }, at) => kind !== push.jobs[at - 1]?.kind)
      t.equal(changes.length, new Set(push.jobs.map(({ kind }) => kind)).size)
    }
  },
)

t.test('no two jobs of a push use one kept workspace', async (t) => {
  for (const { jobs } of planPushes(2)) {
    for (const kept of ['complete', 'shallow'] as const) {
      const used = jobs.filter(({ kind }) => kind.workspace === kept)
      const numbers = used.map(({ workspace = -1 }) => workspace)
      t.equal(new Set(numbers).size, numbers.length)
      t.ok(numbers.every((number) => number >= 0 && number < WORKSPACES[kept]))
    }
  }
})
