/** Attachments of releases, issues and comments, which are stored like files of packages. */

import { randomUUID } from 'node:crypto'
import { Failure } from '../conf/failures.js'
import type { Reply, Request } from '../conf/http.js'
import {
  addIssueAttachment,
  type IssueAttachment,
  type NewIssueAttachment,
} from '../sql/issues/issue-attachments.js'
import { type Attachment, addAttachment, type NewAttachment } from '../sql/releases/attachments.js'
import { holdBlob } from '../sql/repositories/repository-imports.js'
import { lastModifiedTime } from './conditions.js'
import { storeBlob } from './keep-blob.js'
import { limitBody } from './limited-body.js'
import { type ReceivedFile, receiveFile } from './received-file.js'
import type { Registry } from './registry.js'
import { serveFile } from './serve.js'

/**
 * Receives a file, which the caller must discard. Throws `payload_too_large` as soon as it exceeds
 * the limit.
 */
export async function receiveAttachment(
  { storage, digest }: Registry,
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<ReceivedFile> {
  const folder = storage.incomingFolder
  const tooLarge = () =>
    new Failure('payload_too_large', `The file is larger than ${bytesMax} bytes.`)
  const limited = limitBody(body, bytesMax, tooLarge)
  return await receiveFile(limited, { folder, bytesMax: undefined, digest })
}

/** Stores a received file. Throws `not_found` if its release was deleted meanwhile. */
export async function keepAttachment(
  { db, storage }: Registry,
  file: ReceivedFile,
  of: Omit<NewAttachment, 'uuid'>,
): Promise<Attachment> {
  return await storeBlob(storage, file, (blob) =>
    addAttachment(db, { ...of, uuid: randomUUID() }, blob),
  )
}

/** Stores a received file. Throws `not_found` if its issue or comment was deleted meanwhile. */
export async function keepIssueAttachment(
  { db, storage }: Registry,
  file: ReceivedFile,
  of: Omit<NewIssueAttachment, 'uuid'>,
): Promise<IssueAttachment> {
  return await storeBlob(storage, file, (blob) =>
    addIssueAttachment(db, { ...of, uuid: randomUUID() }, blob),
  )
}

/** Stores a received file for a release that is created later in an import. Returns the blob id. */
export async function keepForImport(
  { db, storage }: Registry,
  file: ReceivedFile,
  importId: number,
): Promise<number> {
  const { id } = await storeBlob(storage, file, async (blob) => {
    const held = await holdBlob(db, importId, blob)
    return { id: held.id, blobKey: held.key }
  })
  return id
}

/** Returns the reply to a GET or HEAD for an attachment, and counts a download. */
export async function serveAttachment(
  registry: Registry,
  attachment: Attachment | IssueAttachment,
  request: Pick<Request, 'method' | 'headers'>,
): Promise<Reply> {
  const file = { ...attachment, changedAtMs: lastModifiedTime(attachment.createdAtMs) }
  const { reply, isDownload } = await serveFile(registry, { file, request, options: {} })
  if (isDownload) {
    const isOfIssue = 'issueId' in attachment
    const counts = isOfIssue ? registry.issueAttachmentDownloads : registry.attachmentDownloads
    counts.count(attachment.id)
  }
  return reply
}
