/** Reactions to issues and comments over the API: list, add, remove. */

import { type Static, Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import type { Issue } from '../../../sql/issues/issues.js'
import {
  addReaction,
  findReaction,
  listReactions,
  type Reaction,
  type ReactionSubject,
  removeReaction,
} from '../../../sql/issues/reactions.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { issueOf, refuseLocked } from '../../actions/issues/issue-access.js'
import type { Grants } from '../../auth/authorize.js'
import { personObject, USER_OBJECT } from '../../objects/accounts/user-object.js'
import { TIME } from '../../objects/schema.js'
import { apiTime } from '../../objects/times.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { COMMENT_PARAMS, commentOf } from './comments.js'
import { ISSUE_PARAMS } from './issue-params.js'

type Grant = Grants['repository']

/** Permitted reactions, which are Gitea's, in its order. */
export const REACTIONS: readonly string[] = [
  '+1',
  '-1',
  'laugh',
  'hooray',
  'confused',
  'heart',
  'rocket',
  'eyes',
]

const REACTION = Type.Object(
  { user: USER_OBJECT, content: Type.String(), created_at: TIME },
  { $id: 'Reaction' },
)

const EDIT_REACTION_OPTION = Type.Object(
  { content: Type.String({ minLength: 1 }) },
  { $id: 'EditReactionOption' },
)

function reactionObject(
  context: Context,
  { user, content, createdAtMs }: Reaction,
  { user: viewer }: Grant,
): Static<typeof REACTION> {
  return {
    user: personObject(context, user, viewer),
    content,
    created_at: apiTime(createdAtMs),
  }
}

/** Subject of reactions: the operations on it, and how it is found. */
interface Place {
  readonly ids: readonly [list: string, add: string, remove: string]
  readonly noun: string
  readonly path: string
  readonly unit: 'conversation' | 'comment'
  readonly params: Readonly<Record<string, string>>
  readonly find: (
    context: Context,
    grant: Grant,
    params: Readonly<Record<string, string>>,
  ) => Promise<{ readonly subject: ReactionSubject; readonly issue: Issue }>
}

const ISSUES: Place = {
  ids: ['issueGetIssueReactions', 'issuePostIssueReaction', 'issueDeleteIssueReaction'],
  noun: 'an issue',
  path: '/repos/{owner}/{repo}/issues/{index}/reactions',
  unit: 'conversation',
  params: ISSUE_PARAMS,
  async find(context, grant, params) {
    const issue = await issueOf(context, grant, params)
    return { issue, subject: { issueId: issue.id } }
  },
}

const COMMENTS: Place = {
  ids: ['issueGetCommentReactions', 'issuePostCommentReaction', 'issueDeleteCommentReaction'],
  noun: 'a comment of an issue',
  path: '/repos/{owner}/{repo}/issues/comments/{id}/reactions',
  unit: 'comment',
  params: COMMENT_PARAMS,
  async find(context, grant, params) {
    const { issue, comment } = await commentOf(context, grant, params)
    return { issue, subject: { commentId: comment.id } }
  },
}

function defineList({ ids: [id], noun, path, unit, params, find }: Place): AnyOperation {
  return defineOperation({
    id,
    method: 'GET',
    path,
    params,
    summary: `Get a list of reactions from ${noun}`,
    tags: ['issue'],
    access: { kind: 'repository', mode: 'read', unit },
    scopes: ['read:issue'],
    query: Type.Object(PAGE_QUERY),
    success: { status: 200, schema: Type.Array(REACTION) },
    failures: [403, 404],
    async handle(context, { request, grant, params, query }) {
      const { subject } = await find(context, grant, params)
      const page = pageOf(query)
      const { entries, total } = await listReactions(context.db, subject, page)
      const objects = entries.map((reaction) => reactionObject(context, reaction, grant))
      const path = request.path.slice(request.path.indexOf('/repos/'))
      return pageReply(context, objects, { path, page, total })
    },
  })
}

function defineAdd({ ids: [, id], noun, path, unit, params, find }: Place): AnyOperation {
  return defineOperation({
    id,
    method: 'POST',
    path,
    params,
    summary: `Add a reaction to ${noun}`,
    tags: ['issue'],
    access: { kind: 'repository', mode: 'read', unit, isSignedIn: true, refusesBlocked: true },
    scopes: ['write:issue'],
    query: NO_QUERY,
    body: EDIT_REACTION_OPTION,
    success: { status: 201, schema: REACTION },
    failures: [403, 404, 422, 423],
    async handle(context, { grant, params, body: { content } }) {
      const { subject, issue } = await find(context, grant, params)
      const user = actingUserOf(grant)
      refuseLocked(grant, issue)
      if (!REACTIONS.includes(content)) {
        throw new Failure('forbidden', `'${content}' is not an allowed reaction`)
      }
      const isNew = await addReaction(context.db, subject, { userId: user.id, content })
      const reaction = await findReaction(context.db, subject, { user, content })
      const present = reaction ?? { user, content, createdAtMs: Date.now() }
      return jsonReply(isNew ? 201 : 200, reactionObject(context, present, grant))
    },
  })
}

function defineRemove({ ids: [, , id], noun, path, unit, params, find }: Place): AnyOperation {
  return defineOperation({
    id,
    method: 'DELETE',
    path,
    params,
    summary: `Remove a reaction from ${noun}`,
    tags: ['issue'],
    access: { kind: 'repository', mode: 'read', unit, isSignedIn: true },
    scopes: ['write:issue'],
    query: NO_QUERY,
    body: EDIT_REACTION_OPTION,
    success: { status: 200, schema: null },
    failures: [403, 404, 422, 423],
    async handle(context, { grant, params, body: { content } }) {
      const { subject, issue } = await find(context, grant, params)
      const user = actingUserOf(grant)
      refuseLocked(grant, issue)
      await removeReaction(context.db, subject, { userId: user.id, content })
      return { status: 200 }
    },
  })
}

export const REACTION_OPERATIONS: readonly AnyOperation[] = [ISSUES, COMMENTS].flatMap((place) => [
  defineList(place),
  defineAdd(place),
  defineRemove(place),
])
