/** Page of workflow runs: entries, access, and labels that no runner has. */

import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../../conf/database-location.js'
import { hasActions } from '../../../../gateway/actions/repositories/has-actions.js'
import { durationOf } from '../../../../gateway/web/runs/run-status.js'
import { updateRunStatus } from '../../../../sql/runs/runs.js'
import { onOneDatabase } from '../../../helpers/databases.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { aJob, aRun, aRunner, jobAt, setStatus } from '../../../helpers/run-rows.js'

/** Starts a gateway with ada's repository `r`, which has Actions. */
async function openFixture(t: Test, location?: DatabaseLocation) {
  const gateway = await startGatewayWithUsers(t, location && { location })
  const made = await gateway.as('ada', 'POST', '/user/repos', { name: 'r' })
  await gateway.as('ada', 'PATCH', '/repos/ada/r', { has_actions: true })
  const repositoryId = (made.json as { id: number }).id
  return { ...gateway, repositoryId, see: (path: string) => gateway.ask({ path }) }
}

await onOneDatabase(t, 'runs are listed newest first, 20 a page', async (t, location) => {
  const { db, ada, repositoryId, see } = await openFixture(t, location)
  const empty = await see('/ada/r/actions')
  t.match(empty.text, /There are no runs yet.*<code>\.gitea\/workflows<\/code>/)
  t.match((await see('/ada/r')).text, /href="[^"]*\/ada\/r\/actions"[^>]*>Actions</)
  const run = await aRun(db, repositoryId, { actorId: ada.id, title: 'First <b>' })
  await updateRunStatus(db, { ...run, startedAtMs: Date.now() - 65_000 }, 'success')
  const { text } = await see('/ada/r/actions')
  t.match(text, /<a class="strong" href="[^"]*\/ada\/r\/actions\/runs\/1">First &lt;b>/)
  t.match(text, /Build #1 · push · <code>main<\/code>/)
  t.match(text, /href="[^"]*\/ada\/r\/commit\/a{40}"><code>a{10}<\/code>/)
  t.match(text, /href="[^"]*\/ada">ada<\/a>.*1 min 5 s/)
  t.match(text, /class="label success"><span class="icon".*<\/span> success<\/span>/)
  t.notMatch(text, /There are no runs/)
  for (let count = 2; count <= 21; count += 1) await aRun(db, repositoryId, { title: '' })
  const newest = (await see('/ada/r/actions')).text
  t.match(newest, /runs\/21">build\.yaml<.*runs\/2"/s)
  t.notMatch(newest, /runs\/1"/)
  t.match(newest, /\/actions\?page=2">Older/)
  t.match((await see('/ada/r/actions?page=2')).text, /runs\/1"/)
})

await onOneDatabase(
  t,
  'labels of waiting jobs are named unless a runner in scope has all of them',
  async (t, location) => {
    const { db, ada, bob, as, repositoryId, see } = await openFixture(t, location)
    const other = await as('ada', 'POST', '/user/repos', { name: 'other' })
    const otherId = (other.json as { id: number }).id
    const jobElsewhere = aJob('x', { labels: ['elsewhere'] })
    const runElsewhere = await aRun(db, otherId, { jobs: [jobElsewhere] })
    const jobs = [aJob('a', { labels: ['Linux', 'gpu'] }), aJob('b', { labels: ['<mac>'] })]
    const run = await aRun(db, repositoryId, { jobs })
    const notice = async () => (await see('/ada/r/actions')).text
    t.notMatch(await notice(), /Jobs wait/, 'blocked jobs do not wait for a runner')
    for (const position of [0, 1]) await setStatus(db, await jobAt(db, run, position), 'waiting')
    await setStatus(db, await jobAt(db, runElsewhere, 0), 'waiting')
    for (const [labels, scope] of [
      [['linux'], {}],
      [['gpu', 'linux'], { ownerId: bob.id }],
      [['gpu', 'linux'], { repositoryId: otherId }],
    ] as const) {
      await aRunner(db, labels, scope)
      t.match(await notice(), /<code>Linux, gpu<\/code>; <code>&lt;mac><\/code>\./)
    }
    t.notMatch(await notice(), /elsewhere/)
    await aRunner(db, ['GPU', 'linux', 'x'], { ownerId: ada.id })
    t.match(await notice(), /labels: <code>&lt;mac><\/code>\./)
    await aRunner(db, ['<MAC>'], { repositoryId })
    t.notMatch(await notice(), /Jobs wait/)
  },
)

t.test('a repository has Actions only if the site and the repository enable them', async (t) => {
  for (const isEnabled of [true, false]) {
    for (const has_actions of [true, false, undefined]) {
      const preferences = has_actions === undefined ? {} : { has_actions }
      const has = hasActions({ settings: { actions: { isEnabled } } }, { preferences })
      t.equal(has, isEnabled && has_actions === true, `${isEnabled} ${has_actions}`)
    }
  }
})

t.test('a duration has its two largest units', async (t) => {
  const texts = [-5_000, 59_999, 61_000, 3_600_000, 90_061_000].map(durationOf)
  t.strictSame(texts, ['0 s', '59 s', '1 min 1 s', '1 h 0 min', '25 h 1 min'])
})
