/** Download URLs of attachments: by UUID, or for those of releases by tag and file name. */

import { notFound } from '../../conf/failures.js'
import { decodePercent, type Reply } from '../../conf/http.js'
import { serveAttachment } from '../../registry/attachments.js'
import { findAttachmentByName } from '../../sql/releases/attachments.js'
import { isServed } from '../actions/issues/issue-access.js'
import { refuseWithoutReleases, releaseOfTag } from '../actions/releases/visible-releases.js'
import type { AnyRoute, Route } from '../request/route.js'
import { DOWNLOAD_SURFACE } from './surface.js'

const byUuid: Route<'attachment'> = {
  surface: DOWNLOAD_SURFACE,
  method: 'GET',
  path: '/attachments/{uuid}',
  access: { kind: 'attachment' },
  scopes: ['read:repository'],
  async handle({ registry }, { request, grant }) {
    const { repository, attachment } = grant
    if (!('issueId' in attachment)) refuseWithoutReleases(repository)
    else if (!isServed(repository, attachment)) throw notFound()
    return await serveAttachment(registry, attachment, request)
  },
}

/** Route by tag and file name. A tag may contain slashes, so the last segment is the file name. */
const byName: Route<'repository'> = {
  surface: DOWNLOAD_SURFACE,
  method: 'GET',
  path: '/{owner}/{repo}/releases/download/{file...}',
  access: { kind: 'repository', mode: 'read', unit: 'releases' },
  scopes: ['read:repository'],
  async handle(context, { request, grant, params }): Promise<Reply> {
    const { repository } = grant
    const sent = (params['file'] ?? '').split('/')
    if (grant.hasMoved) {
      const { baseUrl } = context.settings.http
      const path = [repository.owner.name, repository.name, 'releases/download', ...sent].join('/')
      return { status: 307, headers: [['Location', `${baseUrl}/${path}`]] }
    }
    const decoded = sent.map(decodePercent)
    const release = await releaseOfTag(context, grant, decoded.slice(0, -1).join('/'))
    const name = decoded.at(-1) ?? ''
    const attachment = await findAttachmentByName(context.db, release.id, name)
    if (attachment === undefined) throw notFound()
    return await serveAttachment(context.registry, attachment, request)
  },
}

export const DOWNLOAD_ROUTES: readonly AnyRoute[] = [byUuid, byName]
