/** A word under an issue or a pull request, of which everybody hears who keeps watch. */

import { Failure } from '../../../conf/failures.js'
import { type Comment, createComment } from '../../../sql/issues/comments.js'
import type { Issue } from '../../../sql/issues/issues.js'
import type { Context } from '../../request/context.js'
import { actingUserOf } from '../code/acting-user.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { refuseLocked } from './issue-access.js'
import { issueChanged } from './issue-changed.js'

export interface CommentInput {
  readonly issue: Issue
  readonly text: string
}

/** Throws `archived`, `forbidden` where the conversation is locked, and `invalid` for nothing. */
export async function addComment(
  context: Context,
  grant: RepositoryGrant,
  { issue, text }: CommentInput,
): Promise<Comment> {
  const actor = actingUserOf(grant)
  refuseLocked(grant, issue)
  const content = contentOf(text)
  const comment = await createComment(context.db, {
    issueId: issue.id,
    authorId: actor.id,
    content,
  })
  const { repository } = grant
  await issueChanged(context, { repository, issue, actor, action: 'created', comment })
  return comment
}

/** What is said. Throws `invalid` where it is nothing. */
export function contentOf(text: string): string {
  if (text.trim() === '') throw new Failure('invalid', '[Body]: Required')
  return text
}
