/** Attachments of releases over the API: list, add, read, rename, delete. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import { parseFileName } from '../../../conf/names.js'
import { keepAttachment } from '../../../registry/attachments.js'
import {
  type Attachment,
  deleteAttachment,
  findAttachment,
  listAttachments,
  renameAttachment,
} from '../../../sql/releases/attachments.js'
import type { Release } from '../../../sql/releases/releases.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { numberOf } from '../../actions/issues/issue-access.js'
import { releaseChanged } from '../../actions/releases/release-changed.js'
import { releaseOfId } from '../../actions/releases/visible-releases.js'
import type { Grants } from '../../auth/authorize.js'
import { ATTACHMENT, attachmentObject } from '../../objects/releases/attachment-object.js'
import type { Context } from '../../request/context.js'
import { REPOSITORY_PARAMS } from '../issues/issue-params.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { receiveUpload } from './receive-upload.js'

const RELEASE_PARAMS = { ...REPOSITORY_PARAMS, id: 'id of the release' }
const ATTACHMENT_PARAMS = { ...RELEASE_PARAMS, attachment_id: 'id of the attachment' }

export const EDIT_ATTACHMENT_OPTIONS = Type.Object(
  { name: Type.Optional(Type.String()) },
  { $id: 'EditAttachmentOptions' },
)

const list = defineOperation({
  id: 'repoListReleaseAttachments',
  method: 'GET',
  path: '/repos/{owner}/{repo}/releases/{id}/assets',
  summary: "List release's attachments",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'releases' },
  scopes: ['read:repository'],
  params: RELEASE_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(ATTACHMENT) },
  failures: [404],
  async handle(context, { grant, params }) {
    const { id } = await releaseOfId(context, grant, params)
    const attachments = await listAttachments(context.db, [id])
    return jsonReply(
      200,
      attachments.map((attachment) => attachmentObject(context, attachment)),
    )
  },
})

const create = defineOperation({
  id: 'repoCreateReleaseAttachment',
  method: 'POST',
  path: '/repos/{owner}/{repo}/releases/{id}/assets',
  summary: 'Create a release attachment',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write', unit: 'releases' },
  scopes: ['write:repository'],
  params: RELEASE_PARAMS,
  query: Type.Object({
    name: Type.Optional(Type.String({ description: 'name of the attachment' })),
  }),
  file: { field: 'attachment', about: 'attachment to upload' },
  success: { status: 201, schema: ATTACHMENT },
  failures: [400, 403, 404, 413, 422],
  async handle(context, { request, grant, params, query }) {
    const release = await releaseOfId(context, grant, params)
    const writer = actingUserOf(grant)
    const { name, file } = await receiveUpload(context, request, query.name)
    try {
      const attachment = await keepAttachment(context.registry, file, {
        releaseId: release.id,
        name,
      })
      const { repository } = grant
      await releaseChanged(context, { action: 'updated', repository, release, actor: writer })
      return jsonReply(201, attachmentObject(context, attachment))
    } finally {
      await file.discard()
    }
  },
})

const get = defineOperation({
  id: 'repoGetReleaseAttachment',
  method: 'GET',
  path: '/repos/{owner}/{repo}/releases/{id}/assets/{attachment_id}',
  summary: 'Get a release attachment',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'releases' },
  scopes: ['read:repository'],
  params: ATTACHMENT_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: ATTACHMENT },
  failures: [404],
  async handle(context, { grant, params }) {
    const { attachment } = await attachmentOf(context, grant, params)
    return jsonReply(200, attachmentObject(context, attachment))
  },
})

const edit = defineOperation({
  id: 'repoEditReleaseAttachment',
  method: 'PATCH',
  path: '/repos/{owner}/{repo}/releases/{id}/assets/{attachment_id}',
  summary: 'Edit a release attachment',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write', unit: 'releases' },
  scopes: ['write:repository'],
  params: ATTACHMENT_PARAMS,
  query: NO_QUERY,
  body: EDIT_ATTACHMENT_OPTIONS,
  success: { status: 201, schema: ATTACHMENT },
  failures: [403, 404, 422],
  async handle(context, { grant, params, body }) {
    const { release, attachment } = await attachmentOf(context, grant, params)
    const actor = actingUserOf(grant)
    if (body.name) await renameAttachment(context.db, attachment.id, parseFileName(body.name))
    const changed = await findAttachment(context.db, release.id, attachment.id)
    if (changed === undefined) throw notFound()
    const { repository } = grant
    await releaseChanged(context, { action: 'updated', repository, release, actor })
    return jsonReply(201, attachmentObject(context, changed))
  },
})

const remove = defineOperation({
  id: 'repoDeleteReleaseAttachment',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/releases/{id}/assets/{attachment_id}',
  summary: 'Delete a release attachment',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write', unit: 'releases' },
  scopes: ['write:repository'],
  params: ATTACHMENT_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const { release, attachment } = await attachmentOf(context, grant, params)
    const actor = actingUserOf(grant)
    if (!(await deleteAttachment(context.db, attachment.id))) throw notFound()
    const { repository } = grant
    await releaseChanged(context, { action: 'updated', repository, release, actor })
    return { status: 204 }
  },
})

interface Found {
  readonly release: Release
  readonly attachment: Attachment
}

/**
 * Returns the release and its attachment. Throws `not_found`, also if the attachment belongs to
 * another release.
 */
async function attachmentOf(
  context: Context,
  grant: Grants['repository'],
  params: Readonly<Record<string, string>>,
): Promise<Found> {
  const release = await releaseOfId(context, grant, params)
  const id = numberOf(params, 'attachment_id')
  const attachment = await findAttachment(context.db, release.id, id)
  if (attachment === undefined) throw notFound()
  return { release, attachment }
}

export const RELEASE_ATTACHMENT_OPERATIONS: readonly AnyOperation[] = [
  list,
  create,
  get,
  edit,
  remove,
]
