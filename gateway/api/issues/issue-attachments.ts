/** Attachments of issues and comments over the API: list, add, read, rename, delete. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import { parseFileName } from '../../../conf/names.js'
import { keepIssueAttachment } from '../../../registry/attachments.js'
import type { Comment } from '../../../sql/issues/comments.js'
import {
  attachmentsOfComments,
  attachmentsOfIssues,
  deleteIssueAttachment,
  findIssueAttachment,
  renameIssueAttachment,
} from '../../../sql/issues/issue-attachments.js'
import type { Issue } from '../../../sql/issues/issues.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { issueOf, numberOf, refuseOthers } from '../../actions/issues/issue-access.js'
import { commentChanged, issueChanged } from '../../actions/issues/issue-changed.js'
import type { Grants } from '../../auth/authorize.js'
import type { RouteUnit } from '../../auth/authorize-repository.js'
import { ATTACHMENT, attachmentObject } from '../../objects/releases/attachment-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { receiveUpload } from '../releases/receive-upload.js'
import { EDIT_ATTACHMENT_OPTIONS } from '../releases/release-attachments.js'
import { jsonReply } from '../surface.js'
import { COMMENT_PARAMS, commentOf } from './comments.js'
import { ISSUE_PARAMS } from './issue-params.js'

type Grant = Grants['repository']
type Params = Readonly<Record<string, string>>

/** The issue or the comment that has the attachments. */
interface Place {
  readonly issue: Issue
  readonly comment: Comment | undefined
}

/** Differences between the attachments of issues and those of comments. */
interface PlaceKind {
  /** `Issue` or `IssueComment`, as Gitea's operation ids name it. */
  readonly name: string
  readonly words: string
  readonly path: string
  readonly params: Params
  readonly unit: RouteUnit
  locate(context: Context, grant: Grant, params: Params): Promise<Place>
}

/** Returns the five operations on attachments of one kind of place. */
function attachmentOperations(kind: PlaceKind): readonly AnyOperation[] {
  return [...readings(kind), ...changes(kind), ...additions(kind)]
}

function partsOf({ path, params, unit }: PlaceKind) {
  const access = { kind: 'repository', mode: 'read', unit } as const
  return {
    reading: { tags: ['issue'], access, scopes: ['read:issue'] },
    writing: {
      tags: ['issue'],
      access: { ...access, isSignedIn: true, refusesBlocked: true },
      scopes: ['write:issue'],
    },
    all: { path: `${path}/assets`, params },
    one: {
      path: `${path}/assets/{attachment_id}`,
      params: { ...params, attachment_id: 'id of the attachment' },
    },
  } as const
}

function readings(kind: PlaceKind): readonly AnyOperation[] {
  const { reading, all, one } = partsOf(kind)
  return [
    defineOperation({
      ...reading,
      ...all,
      id: `issueList${kind.name}Attachments`,
      method: 'GET',
      summary: `List the attachments of ${kind.words}`,
      query: NO_QUERY,
      success: { status: 200, schema: Type.Array(ATTACHMENT) },
      failures: [404],
      async handle(context, { grant, params }) {
        const { issue, comment } = await kind.locate(context, grant, params)
        const { db } = context
        const attachments = comment
          ? await attachmentsOfComments(db, [comment.id])
          : await attachmentsOfIssues(db, [issue.id])
        const objects = attachments.map((attachment) => attachmentObject(context, attachment))
        return jsonReply(200, objects)
      },
    }),
    defineOperation({
      ...reading,
      ...one,
      id: `issueGet${kind.name}Attachment`,
      method: 'GET',
      summary: `Get an attachment of ${kind.words}`,
      query: NO_QUERY,
      success: { status: 200, schema: ATTACHMENT },
      failures: [404],
      async handle(context, { grant, params }) {
        const place = await kind.locate(context, grant, params)
        return jsonReply(200, attachmentObject(context, await attachmentOf(context, place, params)))
      },
    }),
  ]
}

/** Returns the attachment `{attachment_id}`. Throws `not_found` also for one of another place. */
async function attachmentOf({ db }: Context, { issue, comment }: Place, params: Params) {
  const id = numberOf(params, 'attachment_id')
  const place = { issueId: issue.id, commentId: comment?.id }
  const attachment = await findIssueAttachment(db, place, id)
  if (attachment === undefined) throw notFound()
  return attachment
}

function additions(kind: PlaceKind): readonly AnyOperation[] {
  const { writing, all } = partsOf(kind)
  return [
    defineOperation({
      ...writing,
      ...all,
      id: `issueCreate${kind.name}Attachment`,
      method: 'POST',
      summary: `Create an attachment of ${kind.words}`,
      query: Type.Object({
        name: Type.Optional(Type.String({ description: 'name of the attachment' })),
      }),
      file: { field: 'attachment', about: 'attachment to upload' },
      success: { status: 201, schema: ATTACHMENT },
      failures: [400, 403, 404, 413, 422, 423],
      async handle(context, { request, grant, params, query }) {
        const place = await kind.locate(context, grant, params)
        const { id: uploaderId } = writerOf(grant, place)
        const { name, file } = await receiveUpload(context, request, query.name)
        try {
          const of = { issueId: place.issue.id, commentId: place.comment?.id, uploaderId, name }
          const attachment = await keepIssueAttachment(context.registry, file, of)
          await placeChanged(context, grant, place)
          return jsonReply(201, attachmentObject(context, attachment))
        } finally {
          await file.discard()
        }
      },
    }),
  ]
}

function changes(kind: PlaceKind): readonly AnyOperation[] {
  const { writing, one } = partsOf(kind)
  return [
    defineOperation({
      ...writing,
      ...one,
      id: `issueEdit${kind.name}Attachment`,
      method: 'PATCH',
      summary: `Edit an attachment of ${kind.words}`,
      query: NO_QUERY,
      body: EDIT_ATTACHMENT_OPTIONS,
      success: { status: 201, schema: ATTACHMENT },
      failures: [403, 404, 422, 423],
      async handle(context, { grant, params, body }) {
        const place = await kind.locate(context, grant, params)
        writerOf(grant, place)
        const { id } = await attachmentOf(context, place, params)
        if (body.name) await renameIssueAttachment(context.db, id, parseFileName(body.name))
        await placeChanged(context, grant, place)
        return jsonReply(201, attachmentObject(context, await attachmentOf(context, place, params)))
      },
    }),
    defineOperation({
      ...writing,
      ...one,
      id: `issueDelete${kind.name}Attachment`,
      method: 'DELETE',
      summary: `Delete an attachment of ${kind.words}`,
      query: NO_QUERY,
      success: { status: 204, schema: null },
      failures: [403, 404, 423],
      async handle(context, { grant, params }) {
        const place = await kind.locate(context, grant, params)
        writerOf(grant, place)
        const { id } = await attachmentOf(context, place, params)
        if (!(await deleteIssueAttachment(context.db, id))) throw notFound()
        await placeChanged(context, grant, place)
        return { status: 204 }
      },
    }),
  ]
}

/** Returns the caller. Throws `forbidden` unless it is the author, or can write. */
function writerOf(grant: Grant, { issue, comment }: Place) {
  const writer = actingUserOf(grant)
  refuseOthers(grant, comment ?? issue)
  return writer
}

async function placeChanged(context: Context, grant: Grant, { issue, comment }: Place) {
  const change = { repository: grant.repository, issue, actor: actingUserOf(grant) }
  if (comment === undefined) return await issueChanged(context, { ...change, actions: ['edited'] })
  await commentChanged(context, { ...change, action: 'edited', comment })
}

export const ISSUE_ATTACHMENT_OPERATIONS: readonly AnyOperation[] = [
  ...attachmentOperations({
    name: 'Issue',
    words: 'an issue',
    path: '/repos/{owner}/{repo}/issues/{index}',
    params: ISSUE_PARAMS,
    unit: 'conversation',
    locate: async (context, grant, params) => ({
      issue: await issueOf(context, grant, params),
      comment: undefined,
    }),
  }),
  ...attachmentOperations({
    name: 'IssueComment',
    words: 'a comment',
    path: '/repos/{owner}/{repo}/issues/comments/{id}',
    params: COMMENT_PARAMS,
    unit: 'comment',
    locate: commentOf,
  }),
]
