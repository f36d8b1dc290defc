/** The Comment of this API. */

import { type Static, Type } from 'typebox'
import { findOwnersById } from '../../../sql/accounts/owners.js'
import type { Comment } from '../../../sql/issues/comments.js'
import { attachmentsOfComments } from '../../../sql/issues/issue-attachments.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { personObject, USER_OBJECT } from '../accounts/user-object.js'
import { ATTACHMENT, attachmentObject } from '../releases/attachment-object.js'
import { TIME } from '../schema.js'
import { apiTime } from '../times.js'

export const COMMENT = Type.Object(
  {
    id: Type.Integer(),
    html_url: Type.String(),
    pull_request_url: Type.String({ description: 'empty under an issue' }),
    issue_url: Type.String({ description: 'empty under a pull request' }),
    user: USER_OBJECT,
    original_author: Type.String(),
    original_author_id: Type.Integer(),
    body: Type.String(),
    assets: Type.Array(ATTACHMENT),
    created_at: TIME,
    updated_at: TIME,
  },
  { $id: 'Comment' },
)

/** Returns comments of one repository as the caller sees them. */
export async function commentObjects(
  context: Context,
  { repository, user }: Pick<Grants['repository'], 'repository' | 'user'>,
  comments: readonly Comment[],
): Promise<ReadonlyArray<Static<typeof COMMENT>>> {
  const { owner, name } = repository
  const base = `${context.settings.http.baseUrl}/${owner.name}/${name}`
  const ids = comments.map(({ authorId }) => authorId).filter((id) => id !== undefined)
  const attachments = await attachmentsOfComments(
    context.db,
    comments.map(({ id }) => id),
  )
  const authors = await findOwnersById(context.db, ids)
  return comments.map((comment) => {
    const url = `${base}/${comment.isPull ? 'pulls' : 'issues'}/${comment.issueNumber}`
    return {
      id: comment.id,
      html_url: `${url}#issuecomment-${comment.id}`,
      pull_request_url: comment.isPull ? url : '',
      issue_url: comment.isPull ? '' : url,
      user: personObject(context, authors.get(comment.authorId ?? 0), user),
      original_author: comment.originalAuthor.name,
      original_author_id: comment.originalAuthor.id,
      body: comment.content,
      assets: attachments
        .filter(({ commentId }) => commentId === comment.id)
        .map((attachment) => attachmentObject(context, attachment)),
      created_at: apiTime(comment.createdAtMs),
      updated_at: apiTime(comment.updatedAtMs),
    }
  })
}

/** Returns one comment as the caller sees it. */
export async function commentObject(
  context: Context,
  grant: Pick<Grants['repository'], 'repository' | 'user'>,
  comment: Comment,
): Promise<Static<typeof COMMENT>> {
  const [object] = await commentObjects(context, grant, [comment])
  if (object === undefined) throw new Error('the comment has no object')
  return object
}
