/** Files that people attach: taken in, kept and sent as the files of packages are. */

import { randomUUID } from 'node:crypto'
import { Failure } from '../conf/failures.js'
import type { Reply, Request } from '../conf/http.js'
import { type Attachment, addAttachment, type NewAttachment } from '../sql/releases/attachments.js'
import { holdBlob } from '../sql/repositories/repository-imports.js'
import { lastModifiedTime } from './conditions.js'
import { storeBlob } from './keep-blob.js'
import { type ReceivedFile, receiveFile } from './received-file.js'
import type { Registry } from './registry.js'
import { serveFile } from './serve.js'

/**
 * Takes in the bytes of a file; whoever asks for it discards it in the end. Throws
 * `payload_too_large` as soon as they are more than the limit.
 */
export async function receiveAttachment(
  { storage }: Registry,
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<ReceivedFile> {
  const folder = storage.incomingFolder
  return await receiveFile(limited(body, bytesMax), { folder, bytesMax: undefined })
}

async function* limited(
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) {
      throw new Failure('payload_too_large', `A file has at most ${bytesMax} bytes here.`)
    }
    yield chunk
  }
}

/** Keeps a received file. Throws `not_found` when its release has gone meanwhile. */
export async function keepAttachment(
  { db, storage }: Registry,
  file: ReceivedFile,
  of: Omit<NewAttachment, 'uuid'>,
): Promise<Attachment> {
  return await storeBlob(storage, file, (blob) =>
    addAttachment(db, { ...of, uuid: randomUUID() }, blob),
  )
}

/** Keeps a received file whose release comes when its import ends; answers the id of the blob. */
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

/** Answers a GET or a HEAD for an attachment, and counts it as a download where it is one. */
export async function serveAttachment(
  registry: Registry,
  attachment: Attachment,
  request: Pick<Request, 'method' | 'headers'>,
): Promise<Reply> {
  const file = { ...attachment, changedAtMs: lastModifiedTime(attachment.createdAtMs) }
  const { reply, isDownload } = await serveFile(registry, { file, request, options: {} })
  if (isDownload) registry.attachmentDownloads.count(attachment.id)
  return reply
}
