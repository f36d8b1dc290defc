/** The NotificationThread of this API: the subject of a notification, and its status. */

import { type Static, Type } from 'typebox'
import type { NotificationThread } from '../../../sql/notifications/notifications.js'
import { findRepositoriesById, type Repository } from '../../../sql/repositories/repositories.js'
import type { Identity } from '../../auth/authenticate.js'
import type { Context } from '../../request/context.js'
import { API_PREFIX } from '../api-prefix.js'
import { REPOSITORY_OBJECT, repositoryObjects } from '../repositories/repository-object.js'
import { TIME } from '../schema.js'
import { apiTime } from '../times.js'

const NOTIFICATION_SUBJECT = Type.Object(
  {
    title: Type.String(),
    url: Type.String(),
    latest_comment_url: Type.String(),
    html_url: Type.String(),
    latest_comment_html_url: Type.String(),
    type: Type.String({
      description:
        'Issue, Pull, Repository for a release or a pending transfer, or Commit for a failed run',
    }),
    state: Type.String({ description: 'open, closed or merged; empty for other subjects' }),
  },
  { $id: 'NotificationSubject' },
)

export const NOTIFICATION_THREAD = Type.Object(
  {
    id: Type.Integer(),
    repository: REPOSITORY_OBJECT,
    subject: NOTIFICATION_SUBJECT,
    unread: Type.Boolean(),
    pinned: Type.Boolean(),
    updated_at: TIME,
    url: Type.String(),
  },
  { $id: 'NotificationThread' },
)

/**
 * Returns threads as their recipient sees them, each of a repository that the recipient can see.
 */
export async function threadObjects(
  context: Context,
  threads: readonly NotificationThread[],
  who: Identity,
): Promise<ReadonlyArray<Static<typeof NOTIFICATION_THREAD>>> {
  const ids = [...new Set(threads.map(({ repositoryId }) => repositoryId))]
  const repositories = await findRepositoriesById(context.db, ids)
  const objects = await repositoryObjects(context, repositories, who)
  const { baseUrl } = context.settings.http
  return threads.flatMap((thread) => {
    const index = repositories.findIndex(({ id }) => id === thread.repositoryId)
    const [repository, object] = [repositories[index], objects[index]]
    // If a repository was deleted after the threads were read, its threads are deleted too.
    if (repository === undefined || object === undefined) return []
    return [
      {
        id: thread.id,
        repository: object,
        subject: subjectObject(context, repository, thread.subject),
        unread: thread.status === 'unread',
        pinned: thread.status === 'pinned',
        updated_at: apiTime(thread.updatedAtMs),
        url: `${baseUrl}${API_PREFIX}/notifications/threads/${thread.id}`,
      },
    ]
  })
}

function subjectObject(
  context: Context,
  { owner, name }: Repository,
  subject: NotificationThread['subject'],
): Static<typeof NOTIFICATION_SUBJECT> {
  const { baseUrl } = context.settings.http
  const page = `${baseUrl}/${owner.name}/${name}`
  const api = `${baseUrl}${API_PREFIX}/repos/${owner.name}/${name}`
  if (subject.kind === 'release') {
    const tag = subject.tagName.split('/').map(encodeURIComponent).join('/')
    return {
      title: subject.title || subject.tagName,
      url: `${api}/releases/${subject.id}`,
      html_url: `${page}/releases/tag/${tag}`,
      latest_comment_url: '',
      latest_comment_html_url: '',
      type: 'Repository',
      state: '',
    }
  }
  if (subject.kind === 'run') {
    return {
      title: subject.title,
      url: `${api}/git/commits/${subject.commitId}`,
      html_url: `${page}/actions/runs/${subject.number}`,
      latest_comment_url: '',
      latest_comment_html_url: '',
      type: 'Commit',
      state: '',
    }
  }
  if (subject.kind === 'transfer') {
    return {
      title: `${owner.name}/${name}`,
      url: api,
      html_url: page,
      latest_comment_url: '',
      latest_comment_html_url: '',
      type: 'Repository',
      state: '',
    }
  }
  const { kind, number, title, state, lastCommentId: commentId } = subject
  const html_url = `${page}/${kind === 'pull' ? 'pulls' : 'issues'}/${number}`
  const hasComment = commentId !== undefined
  return {
    title,
    state,
    html_url,
    type: kind === 'pull' ? 'Pull' : 'Issue',
    url: `${api}/issues/${number}`,
    latest_comment_url: hasComment ? `${api}/issues/comments/${commentId}` : '',
    latest_comment_html_url: hasComment ? `${html_url}#issuecomment-${commentId}` : '',
  }
}
