/** References from a new or changed text to issues and pull requests. */

import { recordReferences } from '../../../sql/issues/issue-references.js'
import type { Issue } from '../../../sql/issues/issues.js'
import { viewerOf } from '../../auth/refusals.js'
import type { Context } from '../../request/context.js'
import { actingUserOf } from '../code/acting-user.js'
import type { RepositoryGrant } from '../code/git-reader.js'

export interface ReferringText {
  readonly issue: Pick<Issue, 'id' | 'repositoryId' | 'isPull'>
  /** Comment that has the text; undefined if the issue itself has it. */
  readonly commentId?: number
  readonly text: string
}

/** Records the references as events of the issues that the text names and the caller can read. */
export async function noteReferences(
  { db }: Context,
  grant: RepositoryGrant,
  { issue, commentId, text }: ReferringText,
): Promise<void> {
  const actorId = actingUserOf(grant).id
  await recordReferences(db, { issue, commentId, text, actorId, viewer: viewerOf(grant.who) })
}
