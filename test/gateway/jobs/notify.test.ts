/** The notification job: all recipients in batches, and none for deleted subjects. */

import t from 'tap'
import type { JobContext } from '../../../gateway/jobs/job.js'
import { NOTIFY, notifySubject } from '../../../gateway/jobs/notify.js'
import { createIssue, deleteIssue } from '../../../sql/issues/issues.js'
import { openContext } from '../../helpers/gateway.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const WATCHERS = 1_001

t.test('all watchers are notified in batches', async (t) => {
  const { context } = await openContext(t)
  const { db } = context
  const ada = await aUser(db, 'ada')
  const repository = await aRepository(db, ada.id, 'r')
  const known = { description: '', website: '', location: '', visibility: 'public' }
  const numbers = Array.from({ length: WATCHERS }, (_, index) => ada.id + index + 1)
  await db.batchInsert(
    'owners',
    numbers.map((id) => ({
      id,
      kind: 'user',
      name: `u${id}`,
      name_lower: `u${id}`,
      full_name: '',
      ...known,
      created_at: 0,
      updated_at: 0,
    })),
    500,
  )
  await db.batchInsert(
    'users',
    numbers.map((id) => ({
      owner_id: id,
      is_admin: false,
      is_active: true,
      is_login_prohibited: false,
      must_change_password: false,
      language: '',
    })),
    500,
  )
  await db.batchInsert(
    'repository_watches',
    numbers.map((id) => ({ repository_id: repository.id, user_id: id, created_at: 0 })),
    500,
  )
  const issue = await createIssue(db, {
    repositoryId: repository.id,
    isPull: false,
    title: 't',
    content: '',
    authorId: ada.id,
  })
  const about = { issueNumber: issue.number, to: 'everybody' } as const
  const subject = notifySubject({ repositoryId: repository.id, actorId: ada.id, about })
  const run = (signal = new AbortController().signal) =>
    NOTIFY.run(context as unknown as JobContext, subject, signal)
  const told = async () => (await db('notifications').select('user_id')).length
  await t.rejects(run(AbortSignal.abort()), { name: 'AbortError' })
  t.equal(await told(), 0)
  await run()
  t.equal(await told(), WATCHERS)
  await run()
  t.equal(await told(), WATCHERS, 'repeating the job changes nothing')
  await deleteIssue(db, issue.id)
  t.equal(await told(), 0)
  await run()
  t.equal(await told(), 0, 'a deleted issue notifies nobody')
})

t.test('an invalid job subject is ignored', async (t) => {
  const { context } = await openContext(t)
  const { signal } = new AbortController()
  for (const subject of [
    '',
    'issue 1 of 9 by 1 to everybody',
    'release 1 of 9 by 1',
    'run 1 of 9 by 1',
  ]) {
    await NOTIFY.run(context as unknown as JobContext, subject, signal)
  }
  t.equal(
    notifySubject({ repositoryId: 4, actorId: 3, about: { releaseId: 5 } }),
    'release 5 of 4 by 3',
  )
})
