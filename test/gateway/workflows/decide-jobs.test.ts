/** Decisions about the jobs of a run. */

import fc from 'fast-check'
import t from 'tap'
import {
  concludeRun,
  type DecidableJob,
  decideJobs,
  type JobStatus,
} from '../../../gateway/workflows/decide-jobs.js'

const CONTEXTS = { github: { ref: 'refs/heads/main' } }

function decide(...jobs: readonly DecidableJob[]): Readonly<Record<string, string>> {
  const decisions = decideJobs(jobs, CONTEXTS, () => ({}))
  return Object.fromEntries(decisions.map(({ key, to }) => [key, to]))
}

function job(
  key: string,
  status: JobStatus,
  needs: readonly string[] = [],
  condition?: string,
): DecidableJob {
  return { key, needs, condition, status }
}

t.test('a job waits for a runner when all its needs have succeeded', async (t) => {
  t.strictSame(decide(job('a', 'blocked')), { a: 'waiting' })
  t.strictSame(decide(job('a', 'running'), job('b', 'blocked', ['a'])), {})
  t.strictSame(decide(job('a', 'success'), job('b', 'blocked', ['a'])), { b: 'waiting' })
})

t.test('jobs below a failed job are skipped, unless their condition says otherwise', async (t) => {
  const jobs = [
    job('late', 'blocked', ['next'], 'failure()'),
    job('next', 'blocked', ['a']),
    job('a', 'failure'),
    job('always', 'blocked', ['a'], 'always()'),
    job('cancelled', 'blocked', ['a'], 'cancelled()'),
    job('plain', 'blocked', ['next'], "github.ref == 'refs/heads/main'"),
    job('result', 'blocked', ['a'], "always() && needs.a.result == 'failure'"),
  ]
  t.strictSame(decide(...jobs), {
    late: 'waiting',
    next: 'skipped',
    always: 'waiting',
    cancelled: 'skipped',
    plain: 'skipped',
    result: 'waiting',
  })
})

t.test('a job with a faulty condition fails with the reason', async (t) => {
  const [decision] = decideJobs([job('a', 'blocked', [], 'github.ref ==')], CONTEXTS, () => ({}))
  t.match(decision, { key: 'a', to: 'failure', reason: /^The condition of the job is faulty: / })
})

t.test('the conditions of all jobs share a limit', async (t) => {
  const contexts = { github: { event: { text: 'x'.repeat(1_000_000) } } }
  const condition = "contains(toJSON(github.event), 'y') == false"
  const jobs = Array.from({ length: 100 }, (_, at) => job(`j${at}`, 'blocked', [], condition))
  const decisions = decideJobs(jobs, contexts, () => ({}))
  t.match(decisions[0], { to: 'waiting' })
  t.match(decisions.at(-1), { to: 'failure', reason: /handle more than 8388608 characters/ })
})

t.test('a run has the status that follows from its jobs', async (t) => {
  const cases: readonly (readonly [JobStatus, ...JobStatus[]])[] = [
    ['success', 'success', 'skipped'],
    ['failure', 'success', 'failure', 'cancelled'],
    ['cancelled', 'cancelled', 'success'],
    ['skipped', 'skipped', 'skipped'],
    ['running', 'running', 'failure'],
    ['running', 'success', 'waiting'],
    ['waiting', 'waiting', 'blocked'],
    ['waiting', 'waiting', 'skipped'],
    ['blocked', 'blocked'],
    ['cancelling', 'cancelling', 'running'],
  ]
  for (const [status, ...jobs] of cases) t.equal(concludeRun(jobs), status, jobs.join(', '))
})

t.test('in every graph, all jobs are decided when no job can end any more', async () => {
  const graph = fc.array(fc.tuple(fc.nat(), fc.boolean()), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(graph, (seeds) => {
      let jobs = seeds.map(([seed, isAlways], at) =>
        job(
          `j${at}`,
          'blocked',
          at === 0 ? [] : [...new Set([`j${seed % at}`, `j${(seed >> 3) % at}`])],
          isAlways ? 'always()' : undefined,
        ),
      )
      for (;;) {
        const decided = new Map(
          decideJobs(jobs, CONTEXTS, () => ({})).map((one) => [one.key, one.to]),
        )
        jobs = jobs.map((one) => ({ ...one, status: decided.get(one.key) ?? one.status }))
        const next = jobs.find(({ status }) => status === 'waiting')
        if (next === undefined) break
        const ended = next.key.length % 2 === 0 ? 'success' : 'failure'
        jobs = jobs.map((one) => (one === next ? { ...one, status: ended } : one))
      }
      return jobs.every(({ status }) => status !== 'blocked')
    }),
  )
})
