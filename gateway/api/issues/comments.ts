/** Comments on issues over the API: list, create, read, edit, delete. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import {
  type Comment,
  deleteComment,
  findComment,
  listComments,
  listRepositoryComments,
  updateComment,
} from '../../../sql/issues/comments.js'
import { findIssue, type Issue } from '../../../sql/issues/issues.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { addComment, contentOf } from '../../actions/issues/add-comment.js'
import {
  isServed,
  issueOf,
  numberOf,
  refuseOthers,
  servedKind,
} from '../../actions/issues/issue-access.js'
import { commentChanged } from '../../actions/issues/issue-changed.js'
import { noteReferences } from '../../actions/issues/note-references.js'
import type { Grants } from '../../auth/authorize.js'
import { COMMENT, commentObject, commentObjects } from '../../objects/issues/comment-object.js'
import { readBounds } from '../../objects/times.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { ISSUE_PARAMS, REPOSITORY_PARAMS } from './issue-params.js'

const COMMENT_PATH = '/repos/{owner}/{repo}/issues/comments/{id}'

export const COMMENT_PARAMS = { ...REPOSITORY_PARAMS, id: 'id of the comment' }

/** Query parameters for the time of the last change. */
export const TIME_QUERY = {
  since: Type.Optional(
    Type.String({ description: 'only comments updated since the given time (RFC 3339)' }),
  ),
  before: Type.Optional(
    Type.String({ description: 'only comments updated before the given time (RFC 3339)' }),
  ),
}

const CREATE_ISSUE_COMMENT_OPTION = Type.Object(
  { body: Type.String({ minLength: 1 }) },
  { $id: 'CreateIssueCommentOption' },
)

const EDIT_ISSUE_COMMENT_OPTION = Type.Object(
  { body: Type.String({ minLength: 1 }) },
  { $id: 'EditIssueCommentOption' },
)

const list = defineOperation({
  id: 'issueGetComments',
  method: 'GET',
  path: '/repos/{owner}/{repo}/issues/{index}/comments',
  summary: 'List all comments on an issue',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:issue'],
  params: ISSUE_PARAMS,
  query: Type.Object(TIME_QUERY),
  success: { status: 200, schema: Type.Array(COMMENT) },
  dependsOn: 'rows',
  failures: [404, 422],
  async handle(context, { grant, params, query }) {
    const issue = await issueOf(context, grant, params)
    const comments = await listComments(context.db, issue.id, readBounds(query))
    return jsonReply(200, await commentObjects(context, grant, comments), [
      ['X-Total-Count', String(comments.length)],
      ['Access-Control-Expose-Headers', 'X-Total-Count'],
    ])
  },
})

const listAll = defineOperation({
  id: 'issueGetRepoComments',
  method: 'GET',
  path: '/repos/{owner}/{repo}/issues/comments',
  summary: 'List all comments in a repository',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:issue'],
  params: REPOSITORY_PARAMS,
  query: Type.Object({ ...TIME_QUERY, ...PAGE_QUERY }),
  success: { status: 200, schema: Type.Array(COMMENT) },
  dependsOn: 'rows',
  failures: [404, 422],
  async handle(context, { grant, query }) {
    const { repository } = grant
    const page = pageOf(query)
    const { entries, total } = await listRepositoryComments(context.db, repository.id, {
      ...readBounds(query),
      isPull: servedKind(grant, undefined),
      page,
    })
    const path = `/repos/${repository.owner.name}/${repository.name}/issues/comments`
    const given = { since: query.since, before: query.before }
    const objects = await commentObjects(context, grant, entries)
    return pageReply(context, objects, { path, query: given, page, total })
  },
})

const create = defineOperation({
  id: 'issueCreateComment',
  method: 'POST',
  path: '/repos/{owner}/{repo}/issues/{index}/comments',
  summary: 'Add a comment to an issue',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read', isSignedIn: true, refusesBlocked: true },
  scopes: ['write:issue'],
  params: ISSUE_PARAMS,
  query: NO_QUERY,
  body: CREATE_ISSUE_COMMENT_OPTION,
  success: { status: 201, schema: COMMENT },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, params, body }) {
    const issue = await issueOf(context, grant, params)
    const comment = await addComment(context, grant, { issue, text: body.body })
    return jsonReply(201, await commentObject(context, grant, comment))
  },
})

const get = defineOperation({
  id: 'issueGetComment',
  method: 'GET',
  path: COMMENT_PATH,
  summary: 'Get a comment',
  tags: ['issue'],
  access: { kind: 'repository', mode: 'read', unit: 'comment' },
  scopes: ['read:issue'],
  params: COMMENT_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: COMMENT },
  failures: [404],
  async handle(context, { grant, params }) {
    const { comment } = await commentOf(context, grant, params)
    return jsonReply(200, await commentObject(context, grant, comment))
  },
})

/**
 * Returns the comment `{id}` and its issue. Throws `not_found`, also if the repository has issues
 * or pull requests disabled.
 */
export async function commentOf(
  context: Context,
  { repository }: Grants['repository'],
  params: Readonly<Record<string, string>>,
): Promise<{ readonly comment: Comment; readonly issue: Issue }> {
  const comment = await findComment(context.db, repository.id, numberOf(params, 'id'))
  if (comment === undefined || !isServed(repository, comment)) throw notFound()
  const issue = await findIssue(context.db, repository.id, comment.issueNumber)
  if (issue === undefined) throw notFound()
  return { comment, issue }
}

/** Earlier form of the path, which clients may still use. The index is ignored, as in Gitea. */
const DEPRECATED = {
  path: '/repos/{owner}/{repo}/issues/{index}/comments/{id}',
  params: { ...COMMENT_PARAMS, index: 'ignored' },
}

type CommentRoute = Pick<AnyOperation, 'id' | 'path' | 'params'>

function editingAt(route: CommentRoute): AnyOperation {
  return defineOperation({
    ...route,
    method: 'PATCH',
    summary: 'Edit a comment',
    tags: ['issue'],
    access: {
      kind: 'repository',
      mode: 'read',
      unit: 'comment',
      isSignedIn: true,
      refusesBlocked: true,
    },
    scopes: ['write:issue'],
    query: NO_QUERY,
    body: EDIT_ISSUE_COMMENT_OPTION,
    success: { status: 200, schema: COMMENT },
    failures: [403, 404, 422, 423],
    async handle(context, { grant, params, body }) {
      const { comment, issue } = await commentOf(context, grant, params)
      const actor = actingUserOf(grant)
      refuseOthers(grant, comment)
      if (!(await updateComment(context.db, comment, contentOf(body.body)))) throw notFound()
      const { repository } = grant
      await noteReferences(context, grant, { issue, commentId: comment.id, text: body.body })
      await commentChanged(context, { repository, issue, actor, action: 'edited', comment })
      const changed = await findComment(context.db, repository.id, comment.id)
      return jsonReply(200, await commentObject(context, grant, changed ?? comment))
    },
  })
}

function removalAt(route: CommentRoute): AnyOperation {
  return defineOperation({
    ...route,
    method: 'DELETE',
    summary: 'Delete a comment',
    tags: ['issue'],
    access: { kind: 'repository', mode: 'read', unit: 'comment', isSignedIn: true },
    scopes: ['write:issue'],
    query: NO_QUERY,
    success: { status: 204, schema: null },
    failures: [403, 404, 423],
    async handle(context, { grant, params }) {
      const { comment, issue } = await commentOf(context, grant, params)
      const actor = actingUserOf(grant)
      refuseOthers(grant, comment)
      if (!(await deleteComment(context.db, comment.id))) throw notFound()
      const { repository } = grant
      await commentChanged(context, { repository, issue, actor, action: 'deleted', comment })
      return { status: 204 }
    },
  })
}

export const COMMENT_OPERATIONS: readonly AnyOperation[] = [
  list,
  listAll,
  create,
  get,
  editingAt({ id: 'issueEditComment', path: COMMENT_PATH, params: COMMENT_PARAMS }),
  removalAt({ id: 'issueDeleteComment', path: COMMENT_PATH, params: COMMENT_PARAMS }),
  editingAt({ ...DEPRECATED, id: 'issueEditCommentDeprecated' }),
  removalAt({ ...DEPRECATED, id: 'issueDeleteCommentDeprecated' }),
]
