/** Page of a workflow run: jobs in stages, the fault of a file, and cancellation. */

import t, { type Test } from 'tap'
import { stagesOf } from '../../../../gateway/web/runs/job-stages.js'
import { findRun, updateRunStatus } from '../../../../sql/runs/runs.js'
import { pathOf, startGatewayWithJob } from '../../../helpers/artifact-calls.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { aJob, aRun, jobAt, setStatus } from '../../../helpers/run-rows.js'
import { postForm, signIn } from '../../../helpers/web-forms.js'

/** Starts a gateway with ada's repository `r`, which has Actions. */
async function openFixture(t: Test) {
  const gateway = await startGatewayWithUsers(t)
  const made = await gateway.as('ada', 'POST', '/user/repos', { name: 'r' })
  await gateway.as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  const repositoryId = (made.json as { id: number }).id
  return { ...gateway, repositoryId, see: (path: string) => gateway.ask({ path: `/ada/r${path}` }) }
}

t.test('jobs are listed after the jobs that they need, with status and reason', async (t) => {
  const { db, repositoryId, see } = await openFixture(t)
  const jobs = [aJob('deploy', { needs: ['build'] }), aJob('build', { name: ' ' })]
  const run = await aRun(db, repositoryId, { jobs, title: 'A <b>', reference: 'refs/tags/v1' })
  await setStatus(db, await jobAt(db, run, 1), 'failure', { reason: 'No <i> runner.' })
  const { status, text } = await see('/actions/runs/1')
  t.equal(status, 200)
  t.match(text, /<h2>A &lt;b> <span class="label waiting">/)
  t.match(text, /· push · <code>v1<\/code> ·/)
  t.match(text, /Stage 1.*\/runs\/1\/jobs\/1">build<.*Stage 2.*\/runs\/1\/jobs\/0">Job deploy</s)
  t.match(text, /build<\/a> <span class="quiet">1 min .*No &lt;i> runner\..*"label failure"/s)
  for (const path of ['2', '0', 'x', '1/jobs/2', '1/jobs/x', '1/jobs/0/logs']) {
    t.equal((await see(`/actions/runs/${path}`)).status, 404, path)
  }
})

t.test('the page of a run names labels of its waiting jobs that no runner has', async (t) => {
  const { db, repositoryId, see } = await openFixture(t)
  const run = await aRun(db, repositoryId, { jobs: [aJob('a'), aJob('b', { labels: ['<mac>'] })] })
  await setStatus(db, await jobAt(db, run, 1), 'waiting')
  const { text } = await see('/actions/runs/1')
  t.match(text, /labels: <code>&lt;mac><\/code>\./)
})

t.test('a file that cannot be read has its fault on the page of the run', async (t) => {
  const { db, repositoryId, see } = await openFixture(t)
  await aRun(db, repositoryId, { jobs: [], fault: 'line 3: <b> is unknown' })
  const { text } = await see('/actions/runs/1')
  t.match(text, /<p class="error">line 3: &lt;b> is unknown<\/p>/)
  t.notMatch(text, /Stage/)
})

t.test('a run is cancelled by users with write permission until it ends', async (t) => {
  const gateway = await openFixture(t)
  const { db, repositoryId, ask } = gateway
  const run = await aRun(db, repositoryId)
  const path = '/ada/r/actions/runs/1'
  const [ada, bob] = [await signIn(gateway, 'ada'), await signIn(gateway, 'bob')]
  const pageOf = async (cookie: string) => (await ask({ path, headers: { cookie } })).text
  const cancel = (cookie: string) => postForm(gateway, `${path}/cancel`, {}, { cookie })
  t.match(await pageOf(ada), /action="[^"]*\/runs\/1\/cancel"/)
  t.notMatch(await pageOf(bob), /\/cancel"/)
  t.equal((await cancel(bob)).status, 403)
  t.match(await findRun(db, repositoryId, 1), { status: 'waiting' })
  const { status, headers } = await cancel(ada)
  t.strictSame([status, headers.location], [303, path])
  t.match(await findRun(db, repositoryId, 1), { status: 'cancelled' })
  await updateRunStatus(db, run, 'success')
  t.notMatch(await pageOf(ada), /\/cancel"/)
  t.equal((await cancel(ada)).status, 303)
  t.match(
    await findRun(db, repositoryId, 1),
    { status: 'success' },
    'an ended run keeps its status',
  )
  const missing = '/ada/r/actions/runs/9/cancel'
  t.equal((await postForm(gateway, missing, {}, { cookie: ada })).status, 404)
})

t.test('jobs of one key are in one stage, after all jobs that they need', async (t) => {
  const job = (key: string, ...needs: readonly string[]) => ({ key, needs })
  const jobs = [job('d', 'a', 'c'), job('c', 'a'), job('a'), job('c', 'a'), job('b')]
  const keys = stagesOf(jobs).map((stage) => stage.map(({ key }) => key))
  t.strictSame(keys, [['a', 'b'], ['c', 'c'], ['d']])
})

t.test('artifacts have size, expiry and a link, and those of a fork a warning', async (t) => {
  const gateway = await startGatewayWithJob(t)
  const { ask, db, store } = gateway
  const id = await store('a & b', 'zip')
  const other = await store('other', 'zip')
  await db('workflow_artifacts').where({ id: other }).update({ version: 3 })
  const cookie = await signIn(gateway, 'ada')
  const see = (path: string) =>
    ask({ path: `/ada/engine/actions/runs/1${path}`, headers: { cookie } })
  const { text } = await see('')
  t.match(text, new RegExp(`runs/1/artifacts/${id}">a &amp; b</a> .*3 B, expires.*in 29 days`, 's'))
  t.notMatch(text, new RegExp(`artifacts/${other}"`))
  t.notMatch(text, /of a fork/)
  await db('workflow_runs').update({ is_from_fork: true })
  t.match((await see('')).text, /The commit is of a fork\. Do not execute/)
  const { status, headers } = await see(`/artifacts/${id}`)
  t.equal(status, 303)
  t.equal((await ask({ path: pathOf(headers.location ?? '') })).text, 'zip')
  for (const path of [`/artifacts/${other}`, '/artifacts/0', '/artifacts/x']) {
    t.equal((await see(path)).status, 404, path)
  }
  const anonymous = await ask({ path: `/ada/engine/actions/runs/1/artifacts/${id}` })
  t.equal(anonymous.status, 404, 'the repository is private')
})
