/** The daily job removes unused blobs and logs it. */

import t from 'tap'
import { CLEAN_ALL_PACKAGES, CLEAN_PACKAGES } from '../../../gateway/jobs/clean-packages.js'
import { SWEEP_PACKAGES } from '../../../gateway/jobs/sweep-packages.js'
import { findCleanupRule, saveCleanupRule } from '../../../sql/packages/cleanup-rules.js'
import { openContext } from '../../helpers/gateway.js'
import { aPublishedFile } from '../../helpers/published-files.js'

const { signal } = new AbortController()
const HOUR_MS = 3_600_000

t.test('the blob of a deleted file is removed with a line in the log', async (t) => {
  const { context, fixture } = await openContext(t)
  const user = await fixture.addUser('ada')
  const publish = (name: string) => aPublishedFile(context.registry, { user, name, text: name })
  await publish('kept')
  const store = await publish('gone')
  await SWEEP_PACKAGES.run(context, 'all', signal)
  t.strictSame(fixture.lines, [], 'nothing to do and nothing logged')
  await store.removeVersion('gone', '1.0')
  await SWEEP_PACKAGES.run(context, 'all', signal)
  t.match(fixture.lines, [
    { msg: 'unused package files were removed', swept: { unused: 1, left: 0 } },
  ])
})

t.test('files of versions that a rule has removed are kept for an hour', async (t) => {
  const { context, fixture } = await openContext(t)
  const { db, registry } = context
  const user = await fixture.addUser('ada')
  await aPublishedFile(registry, { user, name: 'tool', text: 'tool' })
  const place = { ownerId: user.id, format: 'generic' }
  const [enabled, disabled] = [{ ...RULE, isEnabled: true }, RULE]
  await saveCleanupRule(db, place, enabled)
  await saveCleanupRule(db, { ...place, format: 'go' }, disabled)
  await CLEAN_ALL_PACKAGES.run(context, 'all', signal)
  const jobs = await db('jobs').where({ kind: CLEAN_PACKAGES.kind }).select('subject')
  const rule = await findCleanupRule(db, place)
  t.strictSame(jobs, [{ subject: String(rule?.id) }], 'a job for each enabled rule')
  await CLEAN_PACKAGES.run(context, String(rule?.id), signal)
  t.match((await findCleanupRule(db, place))?.lastRun, { versions: 1, bytes: 4, error: '' })
  await SWEEP_PACKAGES.run(context, 'all', signal)
  t.equal((await db('blobs')).length, 1)
  await db('package_retired_versions').update({ retired_at: Date.now() - HOUR_MS - 1_000 })
  await SWEEP_PACKAGES.run(context, 'all', signal)
  t.strictSame(await db('blobs'), [])
})

const RULE = {
  isEnabled: false,
  keepCount: 0,
  keepPattern: '',
  removeDays: 0,
  removePattern: '',
  matchesFullName: false,
}
