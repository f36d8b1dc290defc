/** The Attachment of this API: a file of a release, an issue or a comment. */

import { type Static, Type } from 'typebox'
import type { IssueAttachment } from '../../../sql/issues/issue-attachments.js'
import type { Attachment } from '../../../sql/releases/attachments.js'
import type { Context } from '../../request/context.js'
import { TIME } from '../schema.js'
import { apiTime } from '../times.js'

export const ATTACHMENT = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    size: Type.Integer(),
    download_count: Type.Integer(),
    created_at: TIME,
    uuid: Type.String(),
    browser_download_url: Type.String(),
  },
  { $id: 'Attachment' },
)

/**
 * Returns an attachment, with a download URL that does not change if it or its release is renamed.
 */
export function attachmentObject(
  context: Context,
  attachment: Attachment | IssueAttachment,
): Static<typeof ATTACHMENT> {
  const { id, name, bytes, downloads, createdAtMs, uuid } = attachment
  return {
    id,
    name,
    size: bytes,
    download_count: downloads,
    created_at: apiTime(createdAtMs),
    uuid,
    browser_download_url: `${context.settings.http.baseUrl}/attachments/${uuid}`,
  }
}
