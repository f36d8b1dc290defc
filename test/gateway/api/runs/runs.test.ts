/** Workflow runs over the API: filters, words of statuses, cancellation, deletion and access. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { changeJob } from '../../../../sql/runs/run-jobs.js'
import { findRun, updateRunStatus } from '../../../../sql/runs/runs.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { refusal, startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { aJob, aRun, aTask, jobAt, logRows } from '../../../helpers/run-rows.js'

const RUNS = '/repos/ada/r/actions/runs'
const NO_SUCH = refusal('not found')

/** Starts a gateway with ada's repository `r`, which has Actions. */
async function openFixture(t: Test, location?: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, location === undefined ? {} : { location })
  const addRepository = async (name: string) => {
    const made = await gateway.as('ada', 'POST', '/user/repos', { name })
    await gateway.as('ada', 'PATCH', `/repos/ada/${name}`, { has_actions: true })
    return (made.json as { id: number }).id
  }
  const numbersOf = async (query: string) => {
    const { json } = await gateway.as('anyone', 'GET', `${RUNS}?${query}`)
    const { total_count, workflow_runs } = json as {
      total_count: number
      workflow_runs: { run_number: number }[]
    }
    return [...workflow_runs.map(({ run_number }) => run_number), `of ${total_count}`]
  }
  return { ...gateway, addRepository, repositoryId: await addRepository('r'), numbersOf }
}

await onOneDatabase(
  t,
  'runs are listed newest first, by each filter and page',
  async (t, location) => {
    const { as, ada, db, repositoryId, numbersOf } = await openFixture(t, location)
    const commitId = 'c'.repeat(40)
    await aRun(db, repositoryId, { commitId, actorId: ada.id })
    const done = await aRun(db, repositoryId, { event: 'schedule', reference: 'refs/heads/a/b' })
    await updateRunStatus(db, done, 'failure')
    await aRun(db, repositoryId, { reference: 'refs/tags/main' })
    t.strictSame(await numbersOf(''), [3, 2, 1, 'of 3'])
    t.strictSame(await numbersOf('event=&branch=&status=&actor=&head_sha='), [3, 2, 1, 'of 3'])
    t.strictSame(await numbersOf('event=schedule'), [2, 'of 1'])
    t.strictSame(await numbersOf('branch=main'), [1, 'of 1'], 'not the tag of that name')
    t.strictSame(await numbersOf('branch=a/b'), [2, 'of 1'])
    t.strictSame(await numbersOf('status=queued'), [3, 1, 'of 2'])
    t.strictSame(await numbersOf('status=completed'), [2, 'of 1'])
    t.strictSame(await numbersOf('status=failure&event=push'), ['of 0'])
    t.strictSame(await numbersOf('actor=ada'), [1, 'of 1'])
    t.strictSame(await numbersOf('actor=bob'), ['of 0'])
    t.strictSame(await numbersOf(`head_sha=${commitId}`), [1, 'of 1'])
    t.strictSame(await numbersOf('limit=1&page=2'), [2, 'of 3'])
    const { headers } = await as('anyone', 'GET', `${RUNS}?limit=1&status=queued`)
    t.equal(headers['x-total-count'], '2')
    t.match(headers['link'], /\/actions\/runs\?status=queued&limit=1&page=2>; rel="next"/)
    t.match(await as('anyone', 'GET', `${RUNS}?status=done`), {
      status: 400,
      json: refusal('Invalid status: done'),
    })
    t.equal((await as('anyone', 'GET', `${RUNS}?actor=missing`)).status, 404)
  },
)

t.test('a run has its event, ref, actor, times and the words of its status', async (t) => {
  const { as, ada, db, repositoryId } = await openFixture(t)
  const run = await aRun(db, repositoryId, { actorId: ada.id, title: 'Fix <it>' })
  const get = async () => (await as('anyone', 'GET', `${RUNS}/${run.id}`)).json
  t.match(await get(), {
    id: run.id,
    run_number: 1,
    run_attempt: 1,
    display_title: 'Fix <it>',
    path: 'build.yaml@refs/heads/main',
    event: 'push',
    head_branch: 'main',
    head_sha: run.commitId,
    status: 'queued',
    conclusion: undefined,
    actor: { login: 'ada' },
    repository: { full_name: 'ada/r' },
    url: new RegExp(`/api/v1${RUNS}/${run.id}$`),
    html_url: /\/ada\/r\/actions\/runs\/1$/,
    started_at: '1970-01-01T00:00:00Z',
  })
  const words = {
    blocked: ['waiting', undefined],
    running: ['in_progress', undefined],
    cancelling: ['in_progress', undefined],
    success: ['completed', 'success'],
    failure: ['completed', 'failure'],
    cancelled: ['completed', 'cancelled'],
    skipped: ['completed', 'skipped'],
  } as const
  for (const [status, [word, conclusion]] of Object.entries(words)) {
    await updateRunStatus(db, run, status as keyof typeof words)
    t.match(await get(), { status: word, conclusion }, status)
  }
})

t.test('a run is cancelled and, when it has ended, deleted by users who write', async (t) => {
  const { as, db, repositoryId } = await openFixture(t)
  const run = await aRun(db, repositoryId)
  const job = await jobAt(db, run, 0)
  await aTask(db, job, { repositoryId, status: 'failure', rows: logRows('x') })
  const one = `${RUNS}/${run.id}`
  for (const [name, status] of [
    ['bob', 403],
    ['anyone', 401],
  ] as const) {
    t.equal((await as(name, 'POST', `${one}/cancel`)).status, status)
    t.equal((await as(name, 'DELETE', one)).status, status)
  }
  t.match(await as('ada', 'DELETE', one), {
    status: 400,
    json: refusal(`Run ${run.id} has not ended. Cancel it first.`),
  })
  const waiting = await aRun(db, repositoryId)
  t.equal((await as('ada', 'POST', `${RUNS}/${waiting.id}/cancel`)).status, 200)
  t.match(await findRun(db, repositoryId, 2), { status: 'cancelled' })
  t.match(await as('ada', 'POST', `${RUNS}/${waiting.id}/cancel`), {
    status: 409,
    json: refusal(`Run ${waiting.id} has ended.`),
  })
  await updateRunStatus(db, run, 'failure')
  t.equal((await as('ada', 'DELETE', one)).status, 204)
  t.equal((await as('ada', 'DELETE', one)).status, 404)
  t.equal((await as('ada', 'GET', `/repos/ada/r/actions/jobs/${job.id}`)).status, 404)
})

t.test('runs are missing through another repository, and without Actions', async (t) => {
  const { as, db, repositoryId, addRepository } = await openFixture(t)
  await addRepository('other')
  const run = await aRun(db, repositoryId)
  const job = await jobAt(db, run, 0)
  await aTask(db, job, { repositoryId, status: 'success', rows: logRows('secret') })
  await updateRunStatus(db, run, 'success')
  const requests = [
    `GET /runs/${run.id}`,
    `GET /runs/${run.id}/jobs`,
    `GET /jobs/${job.id}`,
    `GET /jobs/${job.id}/logs`,
    `POST /runs/${run.id}/cancel`,
    `DELETE /runs/${run.id}`,
  ]
  const ask = async (place: string, request: string) => {
    const [method = '', path = ''] = request.split(' ')
    return await as('ada', method, `${place}/actions${path}`)
  }
  for (const request of requests) {
    t.match(await ask('/repos/ada/other', request), { status: 404, json: NO_SUCH }, request)
  }
  for (const path of ['/runs/0', '/runs/x', '/jobs/0', '/jobs/x/logs']) {
    t.equal((await ask('/repos/ada/r', `GET ${path}`)).status, 404, path)
  }
  await as('ada', 'PATCH', '/repos/ada/r', { has_actions: false })
  for (const request of [...requests, 'GET /runs', 'GET /tasks']) {
    t.match(await ask('/repos/ada/r', request), { status: 404, json: NO_SUCH }, request)
  }
  await as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  t.equal((await ask('/repos/ada/r', `GET /runs/${run.id}`)).status, 200)
})

t.test('the runs of a private repository are hidden from other users', async (t) => {
  const { as, db, repositoryId } = await openFixture(t)
  const run = await aRun(db, repositoryId)
  await as('ada', 'PATCH', '/repos/ada/r', { private: true })
  for (const path of ['/runs', `/runs/${run.id}`, `/runs/${run.id}/jobs`, '/tasks']) {
    const answer = await as('bob', 'GET', `/repos/ada/r/actions${path}`)
    t.match(answer, { status: 404, json: NO_SUCH }, path)
  }
})

await onOneDatabase(
  t,
  'runs and jobs of several repositories are listed as far as the caller can read them',
  async (t, location) => {
    const { as, ada, bob, db, repositoryId, addOrganization } = await openFixture(t, location)
    const { id: ownedId } = (await as('bob', 'POST', '/user/repos', { name: 'own' })).json as {
      id: number
    }
    await addOrganization('club', ada)
    const inClub = async (name: string, isPrivate: boolean) =>
      (await as('ada', 'POST', '/orgs/club/repos', { name, private: isPrivate })).json as {
        id: number
      }
    const [open, shut] = [await inClub('open', false), await inClub('shut', true)]
    const made = await as('ada', 'POST', '/orgs/club/teams', { name: 'w', permission: 'read' })
    await as('ada', 'PUT', `/teams/${(made.json as { id: number }).id}/members/bob`)
    const jobs = [aJob('a'), aJob('b')]
    const runs = new Map<string, number>()
    for (const [name, id] of [
      ...[['r', repositoryId] as const, ['own', ownedId] as const],
      ...[['open', open.id] as const, ['shut', shut.id] as const],
    ]) {
      runs.set(name, (await aRun(db, id, { jobs, actorId: bob.id })).id)
    }
    const own = await jobAt(db, await runAt(db, repositoryId), 1)
    await changeJob(db, own.id, { from: ['blocked'], to: 'success' })

    const list = async (who: 'ada' | 'bob' | 'root', path: string) => {
      const { json, headers } = await as(who, 'GET', path)
      const { total_count, workflow_runs = [], jobs = [] } = json as Lists
      t.equal(headers['x-total-count'], String(total_count))
      const names = workflow_runs.map(({ repository }) => repository.full_name)
      return [...names, ...jobs.map(({ run_id, name }) => `${run_id} ${name}`), total_count]
    }
    const idOf = (name: string) => runs.get(name)
    t.strictSame(await list('ada', '/orgs/club/actions/runs'), ['club/shut', 'club/open', 2])
    t.strictSame(await list('bob', '/orgs/club/actions/runs'), ['club/open', 1])
    const seen = [`${idOf('open')} Job a`, `${idOf('open')} Job b`, 2]
    t.strictSame(await list('bob', '/orgs/club/actions/jobs'), seen)
    t.strictSame(await list('ada', '/user/actions/runs'), ['ada/r', 1])
    t.strictSame(await list('bob', '/user/actions/runs?event=push'), ['bob/own', 1])
    t.strictSame(await list('bob', '/user/actions/runs?event=schedule'), [0])
    const waiting = [`${idOf('r')} Job a`, 1]
    t.strictSame(await list('ada', '/user/actions/jobs?status=waiting'), waiting)
    t.strictSame(await list('ada', '/repos/ada/r/actions/jobs?status=waiting'), waiting)
    t.strictSame(await list('root', '/admin/actions/runs?limit=2&page=2'), ['bob/own', 'ada/r', 4])
    t.strictSame(await list('root', '/admin/actions/jobs?limit=1&page=8'), [
      `${idOf('shut')} Job b`,
      8,
    ])
    t.equal((await as('bob', 'GET', '/admin/actions/runs')).status, 403)
    t.equal((await as('anyone', 'GET', '/orgs/club/actions/jobs')).status, 401)
    t.match(await as('ada', 'GET', '/user/actions/jobs?status=done'), { status: 400 })
  },
)

interface Lists {
  readonly total_count: number
  readonly workflow_runs?: readonly { readonly repository: { readonly full_name: string } }[]
  readonly jobs?: readonly { readonly run_id: number; readonly name: string }[]
}

async function runAt(db: Parameters<typeof findRun>[0], repositoryId: number) {
  const run = await findRun(db, repositoryId, 1)
  if (run === undefined) throw new Error('no run')
  return run
}
