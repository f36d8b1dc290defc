/** Webhook events: names that clients subscribe to and names that receivers get. */

import t from 'tap'
import { eventName, HOOK_EVENTS, parseHookEvents, wordOf } from '../../conf/hook-events.js'

t.test('a family name subscribes to all its events and an event name to one', async (t) => {
  t.strictSame(parseHookEvents(['push', 'create']), ['create', 'push'])
  t.strictSame(parseHookEvents(['issues_only']), ['issues'])
  t.strictSame(parseHookEvents(['issues']), [
    'issues',
    'issue_assign',
    'issue_label',
    'issue_milestone',
    'issue_comment',
  ])
  t.strictSame(parseHookEvents(['pull_request_only', 'issue_label']), [
    'issue_label',
    'pull_request',
  ])
  const pulls = HOOK_EVENTS.filter((event) => event.startsWith('pull_request'))
  t.strictSame(parseHookEvents(['pull_request']), pulls)
  t.strictSame(parseHookEvents(['pull_request_review']), [
    'pull_request_review_approved',
    'pull_request_review_rejected',
    'pull_request_review_comment',
  ])
  t.strictSame(parseHookEvents(['pull_request_review_request']), ['pull_request_review_request'])
  t.strictSame(parseHookEvents(['workflow_run', 'no such']), ['workflow_run'])
  t.strictSame(
    parseHookEvents(HOOK_EVENTS),
    HOOK_EVENTS,
    'every event that the API lists is accepted',
  )
  for (const event of HOOK_EVENTS) t.strictSame(parseHookEvents([wordOf(event)]), [event])
})

t.test("receivers get the name of the event's family", async (t) => {
  t.equal(eventName('issue_label'), 'issues')
  t.equal(eventName('pull_request_comment'), 'issue_comment')
  t.equal(eventName('pull_request_review_approved'), 'pull_request_approved')
  t.equal(eventName('pull_request_sync'), 'pull_request')
  for (const event of ['push', 'create', 'delete', 'release', 'status'] as const) {
    t.equal(eventName(event), event)
  }
})
