/** The Release of this API, with its attachments. */

import { type Static, Type } from 'typebox'
import { listAttachments } from '../../../sql/releases/attachments.js'
import type { Release } from '../../../sql/releases/releases.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { personObject, USER_OBJECT } from '../accounts/user-object.js'
import { TIME } from '../schema.js'
import { apiTime } from '../times.js'
import { ATTACHMENT, attachmentObject } from './attachment-object.js'

export const RELEASE = Type.Object(
  {
    id: Type.Integer(),
    tag_name: Type.String(),
    target_commitish: Type.String(),
    name: Type.String(),
    body: Type.String(),
    url: Type.String(),
    html_url: Type.String(),
    tarball_url: Type.String(),
    zipball_url: Type.String(),
    upload_url: Type.String(),
    draft: Type.Boolean(),
    prerelease: Type.Boolean(),
    created_at: TIME,
    published_at: TIME,
    author: USER_OBJECT,
    assets: Type.Array(ATTACHMENT),
  },
  { $id: 'Release' },
)

/** Returns releases of the repository as the caller sees them. */
export async function releaseObjects(
  context: Context,
  { repository, user }: Grants['repository'],
  releases: readonly Release[],
): Promise<ReadonlyArray<Static<typeof RELEASE>>> {
  const ids = releases.map(({ id }) => id)
  const attachments = await listAttachments(context.db, ids)
  const { baseUrl } = context.settings.http
  const fullName = `${repository.owner.name}/${repository.name}`
  return releases.map((release) => {
    const { id, tagName } = release
    const url = `${baseUrl}/api/v1/repos/${fullName}/releases/${id}`
    const tag = tagName.split('/').map(encodeURIComponent).join('/')
    return {
      id,
      tag_name: tagName,
      target_commitish: release.target,
      name: release.title,
      body: release.body,
      url,
      html_url: `${baseUrl}/${fullName}/releases/tag/${tag}`,
      tarball_url: `${baseUrl}/${fullName}/archive/${tag}.tar.gz`,
      zipball_url: `${baseUrl}/${fullName}/archive/${tag}.zip`,
      upload_url: `${url}/assets`,
      draft: release.isDraft,
      prerelease: release.isPrerelease,
      created_at: apiTime(release.createdAtMs),
      published_at: apiTime(release.publishedAtMs),
      author: personObject(context, release.author, user),
      assets: attachments
        .filter(({ releaseId }) => releaseId === id)
        .map((attachment) => attachmentObject(context, attachment)),
    }
  })
}

/** Returns one release as the caller sees it. */
export async function releaseObject(
  context: Context,
  grant: Grants['repository'],
  release: Release,
): Promise<Static<typeof RELEASE>> {
  const [object] = await releaseObjects(context, grant, [release])
  if (object === undefined) throw new Error('the release has no object')
  return object
}
