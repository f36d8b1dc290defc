/** Files that are attached to releases: their names, and the blobs that hold their bytes. */

import { Failure } from '../../conf/failures.js'
import type { Digests } from '../../conf/package.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isReferenceViolation } from '../database/errors.js'
import { BLOB_COLUMNS, type BlobRow, blobOf, type NewBlob, placeBlob } from '../packages/blobs.js'

export interface Attachment {
  readonly id: number
  /** By which it is downloaded, whatever it and its release are called. */
  readonly uuid: string
  readonly releaseId: number
  readonly repositoryId: number
  /** Whether its release is one. */
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
 * Makes an attachment known, whose blob is in its place. The bytes of what it returns are under
 * another key where they were known before. Throws `not_found` when the release has gone.
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
        if (added === undefined) throw new Error('an attachment just made cannot be found')
        return added
      })
    } catch (error) {
      // The release, or a blob that nobody needed any more, went at this very moment.
      if (!isReferenceViolation(error)) throw error
      if (attempt === TRIES_MAX) {
        throw new Failure('not_found', 'The release does not exist any more.', { cause: error })
      }
    }
  }
}

/** The attachments of these releases, in the order in which they came. */
export async function listAttachments(
  db: Database,
  releaseIds: readonly number[],
): Promise<readonly Attachment[]> {
  if (releaseIds.length === 0) return []
  const places = releaseIds.map(() => '?').join()
  return await selectAttachments(db, `a.release_id in (${places}) order by a.id`, releaseIds)
}

/** The attachment of that id, if it is one of the release's. */
export async function findAttachment(
  db: Database,
  releaseId: number,
  attachmentId: number,
): Promise<Attachment | undefined> {
  const bindings = [releaseId, attachmentId]
  return (await selectAttachments(db, 'a.release_id = ? and a.id = ?', bindings))[0]
}

/** The attachment of that UUID, of whatever repository it is. */
export async function findAttachmentByUuid(
  db: Database,
  uuid: string,
): Promise<Attachment | undefined> {
  return (await selectAttachments(db, 'a.uuid = ?', [checkText(uuid)]))[0]
}

/** The attachment of that name; the last one that came where there are several. */
export async function findAttachmentByName(
  db: Database,
  releaseId: number,
  name: string,
): Promise<Attachment | undefined> {
  const condition = 'a.release_id = ? and a.name = ? order by a.id desc limit 1'
  return (await selectAttachments(db, condition, [releaseId, checkText(name)]))[0]
}

/** Gives an attachment another name. */
export async function renameAttachment(
  db: Database,
  attachmentId: number,
  name: string,
): Promise<void> {
  await db('attachments')
    .where({ id: attachmentId })
    .update({ name: checkText(name) })
}

/** Forgets an attachment; its bytes are swept. Returns whether there was one. */
export async function deleteAttachment(db: Database, attachmentId: number): Promise<boolean> {
  return (await db('attachments').where({ id: attachmentId }).delete()) > 0
}

/** Adds to the numbers of downloads, all or none: the id of an attachment → how many more. */
export async function addAttachmentDownloads(
  db: Database,
  downloads: ReadonlyMap<number, number>,
): Promise<void> {
  if (downloads.size === 0) return
  await transaction(db, async (trx) => {
    for (const [id, count] of downloads) {
      await trx('attachments').where({ id }).increment('downloads', count)
    }
  })
}

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
