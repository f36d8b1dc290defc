/** Decisions about the jobs of a run. */

import fc from 'fast-check'
import t from 'tap'
import {
  concludeJobs,
  type DecidableJob,
  decideFamilies,
  decideJobs,
  type JobStatus,
} from '../../../gateway/workflows/decide-jobs.js'

const CONTEXTS = () => ({ github: { ref: 'refs/heads/main' } })

function decide(...jobs: readonly DecidableJob[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    decideJobs(jobs, CONTEXTS, () => ({})).map(({ id, to }) => [
      jobs.find((job) => job.id === id)?.name,
      to,
    ]),
  )
}

let lastId = 0

function job(
  key: string,
  status: JobStatus,
  needs: readonly string[] = [],
  condition?: string,
  matrix: Partial<DecidableJob> = {},
): DecidableJob {
  lastId += 1
  return {
    id: lastId,
    parentId: undefined,
    planId: undefined,
    key,
    name: key,
    needs,
    condition,
    status,
    failsFast: true,
    maxParallel: undefined,
    continuesOnError: false,
    attempt: 1,
    ...matrix,
  }
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
  t.match(decision, {
    from: 'blocked',
    to: 'failure',
    reason: /^The condition of the job is faulty: /,
  })
})

t.test('a job that has become others ends with them, and they are cancelled with it', async (t) => {
  const family = (status: JobStatus, ...children: readonly JobStatus[]) => {
    const parent = job('a', status)
    const become = (child: JobStatus) =>
      job('a/a', child, [], undefined, { parentId: parent.id, name: 'child' })
    return [parent, ...children.map(become)]
  }
  const decideFamily = (...jobs: readonly DecidableJob[]) =>
    Object.fromEntries(
      decideFamilies(jobs).map(({ id, to }) => [jobs.find((one) => one.id === id)?.name, to]),
    )
  t.strictSame(decideFamily(...family('running', 'success', 'running')), {})
  t.strictSame(decideFamily(...family('running', 'success', 'success')), { a: 'success' })
  t.strictSame(decideFamily(...family('running', 'success', 'failure')), { a: 'failure' })
  t.strictSame(decideFamily(...family('running', 'skipped')), { a: 'skipped' })
  const cancelled = { child: 'cancelled', a: 'cancelled' }
  t.strictSame(decideFamily(...family('cancelling', 'success', 'waiting')), cancelled)
  t.strictSame(decideFamily(...family('cancelling', 'running')), { child: 'cancelling' })
  t.strictSame(decideFamily(...family('cancelling', 'success')), { a: 'cancelled' })
  t.strictSame(decideFamily(...family('success', 'success')), {})
  const [grandparent] = family('running')
  const parent = job('a/a', 'running', [], undefined, { parentId: grandparent?.id, name: 'child' })
  const child = job('a/a/a', 'failure', [], undefined, { parentId: parent.id })
  t.strictSame(decideFamily(grandparent ?? parent, parent, child), {
    child: 'failure',
    a: 'failure',
  })
})

t.test('the conditions of all jobs share a limit', async (t) => {
  const contexts = { github: { event: { text: 'x'.repeat(1_000_000) } } }
  const condition = "contains(toJSON(github.event), 'y') == false"
  const jobs = Array.from({ length: 100 }, (_, at) => job(`j${at}`, 'blocked', [], condition))
  const decisions = decideJobs(
    jobs,
    () => contexts,
    () => ({}),
  )
  t.match(decisions[0], { to: 'waiting' })
  t.match(decisions.at(-1), { to: 'failure', reason: /handle more than 6291456 characters/ })
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
  for (const [status, ...jobs] of cases) {
    const all = jobs.map((one) => job('a', one))
    t.equal(concludeJobs(all), status, jobs.join(', '))
  }
})

t.test('the result of a needed matrix is that of its worst job', async (t) => {
  const cases: ReadonlyArray<readonly [result: string, ...statuses: JobStatus[]]> = [
    ['success', 'success', 'success'],
    ['failure', 'cancelled', 'failure', 'success'],
    ['cancelled', 'success', 'cancelled', 'skipped'],
    ['success', 'skipped', 'success'],
    ['skipped', 'skipped', 'skipped'],
  ]
  for (const [result, ...statuses] of cases) {
    const matrix = statuses.map((status) => job('a', status))
    const condition = `always() && needs.a.result == '${result}'`
    t.strictSame(decide(...matrix, job('b', 'blocked', ['a'], condition)), { b: 'waiting' }, result)
  }
  const running = [job('a', 'success'), job('a', 'running')]
  t.strictSame(decide(...running, job('b', 'blocked', ['a'], 'always()')), {})
})

/** Returns the decisions about the jobs of a matrix with these statuses, in their order. */
function decideMatrix(
  statuses: readonly JobStatus[],
  fields: Partial<DecidableJob> = {},
): readonly (string | undefined)[] {
  const jobs = statuses.map((status) => job('a', status, [], undefined, fields))
  const decisions = decideJobs(jobs, CONTEXTS, () => ({}))
  return jobs.map(({ id }) => decisions.find((one) => one.id === id)?.to)
}

t.test('a failure in a matrix cancels its other jobs, with fail-fast', async (t) => {
  const statuses = ['failure', 'success', 'running', 'waiting', 'blocked', 'cancelling'] as const
  const none = [undefined, undefined, undefined]
  const cancelled = [undefined, undefined, 'cancelling', 'cancelled', 'cancelled', undefined]
  t.strictSame(decideMatrix(statuses), cancelled)
  t.strictSame(decideMatrix(statuses, { failsFast: false }), [
    ...none,
    undefined,
    'waiting',
    undefined,
  ])
  t.strictSame(decideMatrix(statuses, { continuesOnError: true })[4], 'waiting')
  t.strictSame(decideMatrix(['cancelled', 'running', 'waiting']), none, 'after a cancellation')
  const other = [job('a', 'failure'), job('b', 'running'), job('c', 'blocked', ['a'], 'failure()')]
  t.strictSame(decide(...other), { c: 'waiting' }, 'jobs with other keys are not cancelled')
  const [decision] = decideJobs([job('a', 'failure'), job('a', 'running')], CONTEXTS, () => ({}))
  t.match(decision, { from: 'running', reason: "The job was cancelled because 'a' has failed." })
})

t.test('at most max-parallel jobs of a matrix wait or run', async (t) => {
  const blocked = ['blocked', 'blocked', 'blocked'] as const
  const two = { maxParallel: 2 }
  t.strictSame(decideMatrix(blocked, two), ['waiting', 'waiting', undefined])
  t.strictSame(decideMatrix(['running', ...blocked], two), [
    undefined,
    'waiting',
    undefined,
    undefined,
  ])
  t.strictSame(decideMatrix(['cancelling', 'waiting', 'blocked'], two), [
    undefined,
    undefined,
    undefined,
  ])
  t.strictSame(decideMatrix(['success', 'skipped', ...blocked], two), [
    undefined,
    undefined,
    'waiting',
    'waiting',
    undefined,
  ])
  const skipped = blocked.map((status) => job('a', status, [], 'false', two))
  const decisions = decideJobs(skipped, CONTEXTS, () => ({}))
  t.strictSame(
    decisions.map(({ to }) => to),
    ['skipped', 'skipped', 'skipped'],
  )
})

t.test('a failure with continue-on-error is a success for the run and other jobs', async (t) => {
  const failed = job('a', 'failure', [], undefined, { continuesOnError: true })
  t.equal(concludeJobs([failed]), 'success')
  t.equal(concludeJobs([failed, job('b', 'failure')]), 'failure')
  t.strictSame(decide(failed, job('b', 'blocked', ['a'])), { b: 'waiting' })
  t.strictSame(decide(failed, job('b', 'blocked', ['a'], 'failure()')), { b: 'skipped' })
})

t.test('in every graph, all jobs are decided when no job can end any more', async () => {
  const graph = fc.array(fc.tuple(fc.nat(), fc.boolean()), { minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(graph, (seeds) => {
      let jobs = seeds.flatMap(([seed, isAlways], at) => {
        const needs = at === 0 ? [] : [...new Set([`j${seed % at}`, `j${(seed >> 3) % at}`])]
        const matrix = { maxParallel: 1 + (seed % 2), failsFast: seed % 5 > 2 }
        const condition = isAlways ? 'always()' : undefined
        return Array.from({ length: 1 + (seed % 3) }, () =>
          job(`j${at}`, 'blocked', needs, condition, matrix),
        )
      })
      for (;;) {
        const decided = new Map(
          decideJobs(jobs, CONTEXTS, () => ({})).map((one) => [one.id, one.to]),
        )
        jobs = jobs.map((one) => ({ ...one, status: decided.get(one.id) ?? one.status }))
        const next = jobs.find(({ status }) => status === 'waiting')
        if (next === undefined) break
        const ended = (next.key.length + next.id) % 2 === 0 ? 'success' : 'failure'
        jobs = jobs.map((one) => (one === next ? { ...one, status: ended } : one))
      }
      return jobs.every(({ status }) => status !== 'blocked')
    }),
  )
})
