/** Replies with a file of a repository, with headers that keep browsers from executing it. */

import { streamBlob } from '../../../cgi/objects/archive.js'
import { findEntry, pathSegments } from '../../../cgi/objects/tree.js'
import { findRevision } from '../../../cgi/refs/revision.js'
import { notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import { serveLfsObject } from '../../../registry/lfs-objects.js'
import { type Caller, enterQueue } from '../../actions/code/git-queue.js'
import type { GitReader } from '../../actions/code/git-reader.js'
import { DOWNLOAD_BYTES_MAX } from '../../actions/code/git-stream.js'
import { findPointedObject, POINTER_BYTES_MAX } from '../../actions/code/lfs-pointer.js'
import type { Context } from '../../request/context.js'

type Headers = NonNullable<Reply['headers']>

/** Files up to this size are read into memory; larger ones are streamed from git. */
const SMALL_BYTES_MAX = 1_048_576

export interface SentFile {
  readonly id: string
  /** Path whose last segment is the name of the downloaded file. */
  readonly path: string
}

/** Finds the blob at a path of a revision. The content of a symbolic link is its target. */
export async function findFile(
  { objects }: GitReader,
  revisionText: string,
  path: string,
): Promise<SentFile | undefined> {
  const segments = pathSegments(path)
  if (segments === undefined || segments.length === 0) return undefined
  const revision = await findRevision(objects, revisionText)
  const tree = revision && (await objects.read(`${revision.commitId}^{tree}`))
  const entry = tree && (await findEntry(objects, tree.id, segments))
  const isFile = entry?.kind === 'file' || entry?.kind === 'symlink'
  return isFile ? { id: entry.id, path: segments.join('/') } : undefined
}

interface SendOptions {
  readonly reader: GitReader
  readonly file: SentFile | undefined
  /** True to send the object of Git LFS in place of its pointer. */
  readonly isMedia?: boolean
}

/** Returns a reply with the content of a blob. Throws `not_found` if there is no file. */
export async function sendFile(
  context: Context,
  caller: Caller,
  { reader, file, isMedia = false }: SendOptions,
): Promise<Reply> {
  if (file === undefined) throw notFound()
  const { git, path, objects } = reader
  const { signal, headers, method } = caller.request
  const sizeBytes = (await objects.readSizes([file.id], signal)).get(file.id)
  if (sizeBytes === undefined) throw notFound()
  const name = file.path.slice(file.path.lastIndexOf('/') + 1)
  if (isMedia && sizeBytes <= POINTER_BYTES_MAX) {
    const { content = Buffer.alloc(0) } = (await objects.read(file.id)) ?? {}
    const object = await findPointedObject(context, caller.grant.repository, content)
    const { request } = caller
    if (object !== undefined) return serveLfsObject(context.registry, object, { request, name })
  }
  const etag = `"${file.id}"`
  const isKnown = (headers.get('if-none-match') ?? '').split(/\s*,\s*/).includes(etag)
  const same: Headers = [...SAFE_HEADERS, ['ETag', etag]]
  if (isKnown) return { status: 304, headers: same }
  if (sizeBytes <= SMALL_BYTES_MAX) {
    const { content = Buffer.alloc(0) } = (await objects.read(file.id)) ?? {}
    return { status: 200, headers: [...same, ...describe(content, name)], body: content }
  }
  const all: Headers = [...same, ...describe(undefined, name)]
  if (method === 'HEAD') return { status: 200, headers: all, bodyBytes: sizeBytes }
  const leave = await enterQueue(context, caller)
  const { timeoutMs } = context.settings.git
  const bounds = { signal, timeoutMs, bytesMax: DOWNLOAD_BYTES_MAX }
  try {
    const { body, ended } = await streamBlob(git, path, { blobId: file.id, ...bounds })
    void ended.finally(leave)
    return { status: 200, headers: all, body, bodyBytes: sizeBytes }
  } catch (error) {
    leave()
    throw error
  }
}

/**
 * Headers of replies with content that users pushed: browsers must not guess its type, execute it
 * or use a cached copy without revalidation.
 */
export const SAFE_HEADERS: Headers = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; sandbox"],
  ['Cache-Control', 'private, max-age=0, must-revalidate'],
]

/** Returns headers that show text as plain text and download binary or large files. */
function describe(content: Buffer | undefined, name: string): Headers {
  const isText = content !== undefined && !content.subarray(0, 8_000).includes(0)
  return [
    ['Content-Type', isText ? 'text/plain; charset=utf-8' : 'application/octet-stream'],
    ['Content-Disposition', disposition(isText ? 'inline' : 'attachment', name)],
  ]
}

/**
 * Returns a Content-Disposition (RFC 6266): an ASCII file name, and the exact name if it differs.
 */
export function disposition(kind: 'inline' | 'attachment', name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  if (plain === name) return `${kind}; filename="${name}"`
  const exact = encodeURIComponent(name).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${kind}; filename="${plain}"; filename*=UTF-8''${exact}`
}
