/** Attachments of issues, pull requests and comments, and the blobs that store their bytes. */

import { Failure } from '../../conf/failures.js'
import type { Digests } from '../../conf/package.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation } from '../database/errors.js'
import { attachmentRows } from '../packages/attachment-rows.js'
import { BLOB_COLUMNS, type BlobRow, blobOf, type NewBlob, placeBlob } from '../packages/blobs.js'

export interface IssueAttachment {
  readonly id: number
  /** Identifier in download URLs, which stays when the attachment is renamed. */
  readonly uuid: string
  readonly issueId: number
  /** Undefined for an attachment of the issue itself. */
  readonly commentId: number | undefined
  readonly repositoryId: number
  readonly isPull: boolean
  readonly name: string
  readonly bytes: number
  readonly digests: Digests
  readonly blobKey: string
  readonly downloads: number
  readonly createdAtMs: number
}

/** Issue, or comment on it, that has attachments. */
export interface AttachmentPlace {
  readonly issueId: number
  readonly commentId: number | undefined
}

export interface NewIssueAttachment extends AttachmentPlace {
  readonly uuid: string
  readonly uploaderId: number
  readonly name: string
}

const TRIES_MAX = 5

/**
 * Inserts an attachment whose blob is stored already. `blobKey` of the returned attachment is
 * another key if the same bytes were stored before. Throws `not_found` if the issue or the comment
 * does not exist.
 */
export async function addIssueAttachment(
  db: Database,
  { uuid, issueId, commentId, uploaderId, name }: NewIssueAttachment,
  blob: NewBlob,
): Promise<IssueAttachment> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction(db, async (trx) => {
        const { id: blobId } = await placeBlob(trx, blob)
        await trx('issue_attachments').insert({
          uuid,
          issue_id: issueId,
          comment_id: commentId ?? null,
          uploader_id: uploaderId,
          name: checkText(name),
          blob_id: blobId,
          downloads: 0,
          created_at: Date.now(),
        })
        const added = await findIssueAttachmentByUuid(trx, uuid)
        if (added === undefined) throw new Error('The inserted attachment was not found.')
        return added
      })
    } catch (error) {
      // The issue, the comment or an unused blob was deleted concurrently.
      if (!isReferenceViolation(error)) throw error
      if (attempt === TRIES_MAX) {
        throw new Failure('not_found', 'The issue does not exist.', { cause: error })
      }
    }
  }
}

/** Returns the attachments of these issues without those of their comments, oldest first. */
export async function attachmentsOfIssues(
  db: Database,
  issueIds: readonly number[],
): Promise<readonly IssueAttachment[]> {
  if (issueIds.length === 0) return []
  const places = issueIds.map(() => '?').join()
  const condition = `a.issue_id in (${places}) and a.comment_id is null order by a.id`
  return await selectAttachments(db, condition, issueIds)
}

/** Returns the attachments of these comments, oldest first. */
export async function attachmentsOfComments(
  db: Database,
  commentIds: readonly number[],
): Promise<readonly IssueAttachment[]> {
  if (commentIds.length === 0) return []
  const places = commentIds.map(() => '?').join()
  return await selectAttachments(db, `a.comment_id in (${places}) order by a.id`, commentIds)
}

/** Returns an attachment of the issue or comment by its id. */
export async function findIssueAttachment(
  db: Database,
  { issueId, commentId }: AttachmentPlace,
  attachmentId: number,
): Promise<IssueAttachment | undefined> {
  const condition = 'a.id = ? and a.issue_id = ? and coalesce(a.comment_id, 0) = ?'
  return (await selectAttachments(db, condition, [attachmentId, issueId, commentId ?? 0]))[0]
}

/** Returns the attachment with that UUID, in any repository. */
export async function findIssueAttachmentByUuid(
  db: Database,
  uuid: string,
): Promise<IssueAttachment | undefined> {
  return (await selectAttachments(db, 'a.uuid = ?', [checkText(uuid)]))[0]
}

export const {
  rename: renameIssueAttachment,
  remove: deleteIssueAttachment,
  addDownloads: addIssueAttachmentDownloads,
} = attachmentRows('issue_attachments')

const SELECT = `select a.id, a.uuid, a.issue_id, a.comment_id, a.name, a.downloads, a.created_at,
  i.repository_id, i.is_pull, ${BLOB_COLUMNS} from issue_attachments a
  join issues i on i.id = a.issue_id join blobs b on b.id = a.blob_id where`

async function selectAttachments(
  db: Database,
  condition: string,
  bindings: readonly (string | number)[],
): Promise<readonly IssueAttachment[]> {
  const rows = await selectRows<AttachmentRow>(db, `${SELECT} ${condition}`, bindings)
  return rows.map((row) => ({
    id: row.id,
    uuid: row.uuid,
    issueId: row.issue_id,
    commentId: row.comment_id ?? undefined,
    repositoryId: row.repository_id,
    isPull: row.is_pull === 1,
    name: row.name,
    ...blobOf(row),
    downloads: row.downloads,
    createdAtMs: row.created_at,
  }))
}

interface AttachmentRow extends BlobRow {
  readonly id: number
  readonly uuid: string
  readonly issue_id: number
  readonly comment_id: number | null
  readonly name: string
  readonly downloads: number
  readonly created_at: number
  readonly repository_id: number
  readonly is_pull: number
}
