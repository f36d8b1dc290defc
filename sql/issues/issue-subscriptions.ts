/** Subscriptions to issues and explicit unsubscriptions. */

import { listUsersWho } from '../accounts/user-lists.js'
import type { User } from '../accounts/users.js'
import type { Database } from '../database/database.js'
import type { Page, Paged } from '../database/page.js'
import type { Viewer } from '../repositories/visibility.js'

/** Stores that a user subscribes to an issue or unsubscribes from it. */
export async function setIssueSubscription(
  db: Database,
  {
    issueId,
    userId,
    isSubscribed,
  }: { readonly issueId: number; readonly userId: number; readonly isSubscribed: boolean },
): Promise<void> {
  await db('issue_subscriptions')
    .insert({
      issue_id: issueId,
      user_id: userId,
      is_subscribed: isSubscribed,
      created_at: Date.now(),
    })
    .onConflict(['issue_id', 'user_id'])
    .merge(['is_subscribed'])
}

/** Returns the subscribers of an issue that `viewer` may know of. */
export async function listIssueSubscribers(
  db: Database,
  { issueId, viewer }: { readonly issueId: number; readonly viewer: Viewer },
  page: Page,
): Promise<Paged<User>> {
  const where = `u.owner_id in (select s.user_id from issue_subscriptions s
    where s.issue_id = ? and s.is_subscribed = 1)`
  return await listUsersWho(db, { viewer, fit: { where, bindings: [issueId] } }, page)
}
