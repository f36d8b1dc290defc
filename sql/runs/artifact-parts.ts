/** Parts of artifacts that are being uploaded, and the files that are made of them. */

import { Failure } from '../../conf/failures.js'
import { checkText } from '../database/bindings.js'
import { type Database, transaction } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import {
  BLOB_COLUMNS,
  type BlobRow,
  blobOf,
  type NewBlob,
  placeBlob,
  retryPlacing,
} from '../packages/blobs.js'
import { lockOwner } from '../repositories/owner-lock.js'
import { type Artifact, countBytes } from './artifacts.js'

type Upload = Pick<Artifact, 'id' | 'repositoryId'>

/** Part of a file, whose name is unique within the file. */
export interface ArtifactPart extends ReturnType<typeof blobOf> {
  readonly name: string
}

export interface NewPart {
  readonly artifact: Upload
  /** Path of the file. */
  readonly path: string
  readonly name: string
}

export interface UploadLimits {
  readonly artifactBytesMax: number
  /** Maximum total size of the artifacts of the repository. */
  readonly repositoryBytesMax: number
  /** Maximum total size of the artifacts of the owner's repositories; undefined for no limit. */
  readonly ownerBytesMax: number | undefined
  /** Maximum number of parts of the artifact. */
  readonly partsMax: number
}

/** Returns the number of bytes that can be added to an artifact. */
export async function freeBytes(
  db: Database,
  { id, repositoryId }: Upload,
  limits: Omit<UploadLimits, 'partsMax'>,
): Promise<number> {
  const [row] = await selectRows<{ own: number; total: number }>(
    db,
    `select coalesce(sum(case when a.id = ? then a.bytes else 0 end), 0) as own,
      coalesce(sum(a.bytes), 0) as total from workflow_artifacts a where a.repository_id = ?`,
    [id, repositoryId],
  )
  const ofArtifact = limits.artifactBytesMax - Number(row?.own ?? 0)
  const ofRepository = limits.repositoryBytesMax - Number(row?.total ?? 0)
  const ofOwner = await freeBytesOfOwner(db, repositoryId, limits)
  return Math.max(0, Math.min(ofArtifact, ofRepository, ofOwner))
}

async function freeBytesOfOwner(
  db: Database,
  repositoryId: number,
  { ownerBytesMax }: Pick<UploadLimits, 'ownerBytesMax'>,
): Promise<number> {
  if (ownerBytesMax === undefined) return Number.POSITIVE_INFINITY
  const [row] = await selectRows<{ total: number }>(
    db,
    `select coalesce(sum(a.bytes), 0) as total from workflow_artifacts a
      join repositories r on r.id = a.repository_id
      where r.owner_id = (select o.owner_id from repositories o where o.id = ?)`,
    [repositoryId],
  )
  return ownerBytesMax - Number(row?.total ?? 0)
}

/**
 * Inserts a part whose blob is stored already, or replaces the one with its name. Returns the
 * storage key of its bytes, which is another one if they were stored before. Throws `not_found` if
 * the artifact does not exist or is complete, and `payload_too_large` beyond the limits.
 */
export async function addPart(
  db: Database,
  { artifact, path, name }: NewPart,
  { blob, limits }: { readonly blob: NewBlob; readonly limits: UploadLimits },
): Promise<{ readonly blobKey: string }> {
  const { id } = artifact
  const place = { artifact_id: id, path: checkText(path), name: checkText(name) }
  return await retryPlacing(db, async (trx) => {
    if (limits.ownerBytesMax !== undefined) await lockOwner(trx, artifact.repositoryId)
    await lockUpload(trx, artifact)
    const [known] = await selectRows<{ parts: number; replaced: number }>(
      trx,
      `select count(*) as parts, coalesce(sum(case when p.path = ? and p.name = ? then b.bytes
          else 0 end), 0) as replaced
        from workflow_artifact_parts p join blobs b on b.id = p.blob_id where p.artifact_id = ?`,
      [path, name, id],
    )
    const added = blob.bytes - Number(known?.replaced)
    if (added > (await freeBytes(trx, artifact, limits))) throw tooLarge(limits)
    if (Number(known?.parts) >= limits.partsMax) {
      throw new Failure('payload_too_large', `An upload has at most ${limits.partsMax} parts.`)
    }
    await trx('workflow_artifact_parts').where(place).delete()
    const kept = await placeBlob(trx, blob)
    await trx('workflow_artifact_parts').insert({ ...place, blob_id: kept.id })
    await trx('workflow_artifacts').where({ id }).increment('bytes', added)
    return { blobKey: kept.key }
  })
}

/** Returns the error for bytes beyond the limits. */
export function tooLarge({
  artifactBytesMax,
  repositoryBytesMax,
  ownerBytesMax,
}: Omit<UploadLimits, 'partsMax'>): Failure {
  const ofOwner = ownerBytesMax === undefined ? '' : `, and those of its owner ${ownerBytesMax}`
  const message =
    `An artifact has at most ${artifactBytesMax} bytes, and all artifacts of the repository ` +
    `have at most ${repositoryBytesMax} bytes${ofOwner}.`
  return new Failure('payload_too_large', message)
}

/** Returns the parts of a file of an artifact. */
export async function listParts(
  db: Database,
  artifactId: number,
  path: string,
): Promise<readonly ArtifactPart[]> {
  const rows = await selectRows<BlobRow & { readonly name: string }>(
    db,
    `select p.name, ${BLOB_COLUMNS} from workflow_artifact_parts p
      join blobs b on b.id = p.blob_id where p.artifact_id = ? and p.path = ?`,
    [artifactId, checkText(path)],
  )
  return rows.map((row) => ({ name: row.name, ...blobOf(row) }))
}

export interface NewFile {
  readonly artifact: Upload
  readonly path: string
  readonly isGzip: boolean
}

/**
 * Inserts a file whose blob is stored already, or replaces the one with its path. Returns the
 * storage key of its bytes. Throws `not_found` if the artifact does not exist or is complete.
 */
export async function placeFile(
  db: Database,
  { artifact, path, isGzip }: NewFile,
  blob: NewBlob,
): Promise<{ readonly blobKey: string }> {
  const place = { artifact_id: artifact.id, path: checkText(path) }
  return await retryPlacing(db, async (trx) => {
    await lockUpload(trx, artifact)
    const kept = await placeBlob(trx, blob)
    await trx('workflow_artifact_files').where(place).delete()
    await trx('workflow_artifact_files').insert({ ...place, is_gzip: isGzip, blob_id: kept.id })
    return { blobKey: kept.key }
  })
}

/** Deletes the parts of a file that was made of them. */
export async function dropParts(db: Database, { id }: Upload, path: string): Promise<void> {
  await transaction(db, async (trx) => {
    await trx('workflow_artifact_parts')
      .where({ artifact_id: id, path: checkText(path) })
      .delete()
    await countBytes(trx, id)
  })
}

/** Returns the number of files of an artifact. */
export async function countFiles(db: Database, artifactId: number): Promise<number> {
  const [row] = await selectRows<{ total: number }>(
    db,
    'select count(*) as total from workflow_artifact_files f where f.artifact_id = ?',
    [artifactId],
  )
  return Number(row?.total ?? 0)
}

/**
 * Locks the repository, so that concurrent uploads cannot exceed its limit together. Only
 * locks precede it in a transaction, because later reads see what was committed before its first
 * read. Throws `not_found` unless the artifact is being uploaded.
 */
async function lockUpload(trx: Database, { id, repositoryId }: Upload): Promise<void> {
  await trx('repositories').where({ id: repositoryId }).forUpdate().first('id')
  const row = await trx('workflow_artifacts').where({ id }).whereNull('complete_name').first('id')
  if (row === undefined) throw new Failure('not_found', 'The artifact is not being uploaded.')
}
