/** Forms that repeat jobs, and the pages of earlier attempts. */

import t, { type Test } from 'tap'
import { findRun, updateRunStatus } from '../../../../sql/runs/runs.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { aJob, aRun, aTask, jobAt, logRows } from '../../../helpers/run-rows.js'
import { postForm, signIn } from '../../../helpers/web-forms.js'

const PATH = '/ada/r/actions/runs/1'

/** Starts a gateway with an ended run in ada's repository `r`, whose second job has failed. */
async function openFixture(t: Test) {
  const gateway = await startGatewayWithUsers(t)
  const { as, ask, db, ada } = gateway
  const made = await as('ada', 'POST', '/user/repos', { name: 'r' })
  await as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  const repositoryId = (made.json as { id: number }).id
  const run = await aRun(db, repositoryId, { actorId: ada.id, jobs: [aJob('build'), aJob('test')] })
  for (const [at, status] of (['success', 'failure'] as const).entries()) {
    const rows = logRows(`attempt 1 of job ${at}`)
    await aTask(db, await jobAt(db, run, at), { repositoryId, status, rows })
  }
  await updateRunStatus(db, run, 'failure')
  const [cookie, bob] = [await signIn(gateway, 'ada'), await signIn(gateway, 'bob')]
  const see = async (rest = '', as = cookie) =>
    (await ask({ path: PATH + rest, headers: { cookie: as } })).text
  const post = (rest: string, as = cookie) => postForm(gateway, PATH + rest, {}, { cookie: as })
  return { ...gateway, repositoryId, run, see, post, bob }
}

/** Removes the durations of a page, which grow between two requests. */
function withoutDurations(html: string): string {
  return html.replaceAll(/<span class="quiet">(?:\d+ (?:h|min|s) ?)+<\/span>/g, '')
}

t.test('users with write permission repeat all, failed or single jobs of a run', async (t) => {
  const { db, repositoryId, see, post, bob, run } = await openFixture(t)
  const forms = /action="[^"]*\/runs\/1\/(?:rerun|rerun-failed-jobs|jobs\/[01]\/rerun)"/g
  t.equal((await see()).match(forms)?.length, 4)
  t.notMatch(await see('', bob), /rerun/)
  for (const rest of ['/rerun', '/rerun-failed-jobs', '/jobs/0/rerun']) {
    t.equal((await post(rest, bob)).status, 403, rest)
  }
  t.equal((await post('/jobs/2/rerun')).status, 404)
  const { status, headers } = await post('/rerun-failed-jobs')
  t.strictSame([status, headers.location], [303, PATH])
  t.match(await findRun(db, repositoryId, 1), { attempt: 2, status: 'running' })
  t.strictSame(
    (await see()).match(forms),
    [`action="${PATH}/jobs/0/rerun"`],
    'the job that waits is not repeated',
  )
  t.equal((await post('/jobs/0/rerun')).status, 303)
  t.match(await findRun(db, repositoryId, 1), { attempt: 3, status: 'waiting' })
  const refused = await post('/rerun')
  t.match(refused, { status: 400, text: /The job .*Job build.* has not ended\./ })
  await db('workflow_runs').where({ id: run.id }).update({ attempt: 50 })
  t.notMatch(await see(), /rerun/, 'no forms that are refused')
})

t.test('the pages of a run and of its jobs show each attempt', async (t) => {
  const { see, post } = await openFixture(t)
  t.notMatch(await see(), /Attempts:/)
  await post('/rerun-failed-jobs')
  const newest = await see()
  t.match(newest, /Attempt 2, for which .*>ada<.* asked/s)
  t.match(
    newest,
    /href="[^"]*\/runs\/1\?attempt=1">1<\/a><a href="[^"]*\/runs\/1" aria-current="page">2</,
  )
  t.match(newest, /<h2>Fix the build <span class="label running">/)
  t.match(newest, /\/jobs\/1">Job test<\/a>.*"label waiting"/s)
  const earlier = await see('?attempt=1')
  t.match(earlier, /<h2>Fix the build <span class="label failure">/)
  t.match(earlier, /\/runs\/1\?attempt=1" aria-current="page">1</)
  t.match(earlier, /\/jobs\/1\?attempt=1">Job test<\/a>.*"label failure"/s)
  t.notMatch(earlier, /\/rerun"/)
  t.equal(withoutDurations(await see('?attempt=2')), withoutDurations(newest))
  const job = await see('/jobs/1?attempt=1')
  t.match(job, /attempt 1 of job 1/)
  t.match(job, /href="[^"]*\/runs\/1\?attempt=1"/)
  t.match(job, /href="[^"]*\/jobs\/1\/logs\?attempt=1"/)
  t.match(await see('/jobs/1/logs?attempt=1'), /attempt 1 of job 1\n$/)
  const waiting = await see('/jobs/1')
  t.notMatch(waiting, /attempt 1 of job 1/)
  t.match(waiting, /href="[^"]*\/jobs\/1\?follow=0"/)
  t.match(await see('/jobs/0?attempt=1'), /attempt 1 of job 0/)
  t.match(await see('/jobs/0'), /attempt 1 of job 0/, 'a kept job has its log in both attempts')
})

t.test('an attempt that a run does not have is missing', async (t) => {
  const { ask, post } = await openFixture(t)
  await post('/rerun')
  for (const attempt of ['0', '3', 'x', '', '-1']) {
    for (const page of ['', '/jobs/0', '/jobs/0/logs']) {
      const { status } = await ask({ path: `${PATH}${page}?attempt=${attempt}` })
      t.equal(status, 404, `${page} ${attempt}`)
    }
  }
})
