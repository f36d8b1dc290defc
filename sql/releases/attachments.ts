/** Attachments of releases, and the blobs that store their bytes. */

import { Failure } from '../../conf/failures.js'
import type { Digests } from '../../conf/package.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation } from '../database/errors.js'
import { attachmentRows } from '../packages/attachment-rows.js'
import { BLOB_COLUMNS, type BlobRow, blobOf, type NewBlob, placeBlob } from '../packages/blobs.js'

export interface Attachment {
  readonly id: number
  /** Identifier in download URLs, which stays when the attachment or its release is renamed. */
  readonly uuid: string
  readonly releaseId: number
  readonly repositoryId: number
  /** True if the release is a draft. */
  readonly isOfDraft: boolean
  readonly name: string
  readonly bytes: number
  readonly digests: Digests
  readonly blobKey: string
  readonly downloads: number
  readonly createdAtMs: number
}

export interface NewAttachment {
  readonly uuid: string
  readonly releaseId: number
  readonly name: string
}

const TRIES_MAX = 5

/**
 * Inserts an attachment whose blob is stored already. `blobKey` of the returned attachment is
 * another key if the same bytes were stored before. Throws `not_found` if the release does not
 * exist.
 */
export async function addAttachment(
  db: Database,
  { uuid, releaseId, name }: NewAttachment,
  blob: NewBlob,
): Promise<Attachment> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await transaction(db, async (trx) => {
        const { id: blobId } = await placeBlob(trx, blob)
        await trx('attachments').insert({
          uuid,
          release_id: releaseId,
          name: checkText(name),
          blob_id: blobId,
          downloads: 0,
          created_at: Date.now(),
        })
        const added = await findAttachmentByUuid(trx, uuid)
        if (added === undefined) throw new Error('The inserted attachment was not found.')
        return added
      })
    } catch (error) {
      // The release or an unused blob was deleted concurrently.
      if (!isReferenceViolation(error)) throw error
      if (attempt === TRIES_MAX) {
        throw new Failure('not_found', 'The release does not exist.', { cause: error })
      }
    }
  }
}

/** Returns the attachments of these releases, oldest first. */
export async function listAttachments(
  db: Database,
  releaseIds: readonly number[],
): Promise<readonly Attachment[]> {
  if (releaseIds.length === 0) return []
  const places = releaseIds.map(() => '?').join()
  return await selectAttachments(db, `a.release_id in (${places}) order by a.id`, releaseIds)
}

/** Returns a release's attachment by its id. */
export async function findAttachment(
  db: Database,
  releaseId: number,
  attachmentId: number,
): Promise<Attachment | undefined> {
  const bindings = [releaseId, attachmentId]
  return (await selectAttachments(db, 'a.release_id = ? and a.id = ?', bindings))[0]
}

/** Returns the attachment with that UUID, in any repository. */
export async function findAttachmentByUuid(
  db: Database,
  uuid: string,
): Promise<Attachment | undefined> {
  return (await selectAttachments(db, 'a.uuid = ?', [checkText(uuid)]))[0]
}

/** Returns the release's attachment with that name, or the newest one if several have it. */
export async function findAttachmentByName(
  db: Database,
  releaseId: number,
  name: string,
): Promise<Attachment | undefined> {
  const condition = 'a.release_id = ? and a.name = ? order by a.id desc limit 1'
  return (await selectAttachments(db, condition, [releaseId, checkText(name)]))[0]
}

export const {
  rename: renameAttachment,
  remove: deleteAttachment,
  addDownloads: addAttachmentDownloads,
} = attachmentRows('attachments')

const SELECT = `select a.id, a.uuid, a.release_id, a.name, a.downloads, a.created_at,
  r.repository_id, r.is_draft, ${BLOB_COLUMNS} from attachments a
  join releases r on r.id = a.release_id join blobs b on b.id = a.blob_id where`

async function selectAttachments(
  db: Database,
  condition: string,
  bindings: readonly (string | number)[],
): Promise<readonly Attachment[]> {
  const rows = await selectRows<AttachmentRow>(db, `${SELECT} ${condition}`, bindings)
  return rows.map(attachmentOf)
}

interface AttachmentRow extends BlobRow {
  readonly id: number
  readonly uuid: string
  readonly release_id: number
  readonly name: string
  readonly downloads: number
  readonly created_at: number
  readonly repository_id: number
  readonly is_draft: number
}

function attachmentOf(row: AttachmentRow): Attachment {
  return {
    id: row.id,
    uuid: row.uuid,
    releaseId: row.release_id,
    repositoryId: row.repository_id,
    isOfDraft: row.is_draft === 1,
    name: row.name,
    ...blobOf(row),
    downloads: row.downloads,
    createdAtMs: row.created_at,
  }
}
