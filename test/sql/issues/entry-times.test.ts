/** Times of comments and events: they rise while the clock does not. */

import { t } from 'tap'
import { createComment } from '../../../sql/issues/comments.js'
import { nextEntryTimeMs } from '../../../sql/issues/entry-times.js'
import { recordIssueEvents } from '../../../sql/issues/issue-events.js'
import { createIssue } from '../../../sql/issues/issues.js'
import { listTimeline } from '../../../sql/issues/timeline.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

t.test('times rise in one millisecond and when the clock is corrected', async (t) => {
  let nowMs = Date.now() + 10_000
  t.intercept(Date, 'now', { value: () => nowMs })
  const firstMs = nextEntryTimeMs()
  t.equal(firstMs, nowMs)
  t.equal(nextEntryTimeMs(), firstMs + 1)
  nowMs -= 10
  t.equal(nextEntryTimeMs(), firstMs + 2)
  nowMs += 100
  t.equal(nextEntryTimeMs(), nowMs)
})

t.test('times follow a clock that was set back by an hour', async (t) => {
  let nowMs = Date.now() + 7_200_000
  t.intercept(Date, 'now', { value: () => nowMs })
  nextEntryTimeMs()
  nowMs -= 3_600_000
  t.equal(nextEntryTimeMs(), nowMs)
})

await forEachMigrated(t, 'a timeline keeps its order if the clock is set back', async (t, db) => {
  const { id: authorId } = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, authorId, 'r')
  const fields = { repositoryId, title: 't', content: '', authorId, isPull: false }
  const { id: issueId } = await createIssue(db, fields)
  let nowMs = Date.now()
  t.intercept(Date, 'now', { value: () => nowMs-- })
  const record = (kind: 'close' | 'reopen') =>
    recordIssueEvents(db, [{ issueId, kind, actorId: authorId }])
  await record('close')
  await createComment(db, { issueId, authorId, content: 'closed' })
  await record('reopen')
  await createComment(db, { issueId, authorId, content: 'open' })
  const page = { page: 1, limit: 50 }
  const { entries } = await listTimeline(db, issueId, { viewer: { kind: 'anyone' }, page })
  const shown = entries.map((entry) =>
    entry.kind === 'event' ? entry.event.kind : entry.comment.content,
  )
  t.strictSame(shown, ['close', 'closed', 'reopen', 'open'])
})
