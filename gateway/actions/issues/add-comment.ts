/** Creation of comments on issues and pull requests. */

import { Failure } from '../../../conf/failures.js'
import { type Comment, createComment } from '../../../sql/issues/comments.js'
import type { Issue } from '../../../sql/issues/issues.js'
import type { Context } from '../../request/context.js'
import { actingUserOf } from '../code/acting-user.js'
import type { RepositoryGrant } from '../code/git-reader.js'
import { refuseLocked } from './issue-access.js'
import { commentChanged } from './issue-changed.js'
import { noteReferences } from './note-references.js'

export interface CommentInput {
  readonly issue: Issue
  readonly text: string
}

/**
 * Adds a comment and publishes it. Throws `archived` if the repository is archived, `forbidden` if
 * the conversation is locked, and `invalid` for a blank text.
 */
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
  await noteReferences(context, grant, { issue, commentId: comment.id, text: content })
  const { repository } = grant
  await commentChanged(context, { repository, issue, actor, action: 'created', comment })
  return comment
}

/** Returns the text of a comment. Throws `invalid` if it is blank. */
export function contentOf(text: string): string {
  if (text.trim() === '') throw new Failure('invalid', '[Body]: Required')
  return text
}
