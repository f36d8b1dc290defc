/** Serving of a file: conditions, ranges, and headers that protect browsers. */

import { Failure } from '../conf/failures.js'
import type { Reply, Request } from '../conf/http.js'
import { readByteRange } from '../conf/lib/byte-range.js'
import type { PackageFile } from '../conf/package.js'
import { conditionStatus, entityTag, lastModifiedTime } from './conditions.js'
import type { ServeOptions } from './package-store.js'
import type { Registry } from './registry.js'

/** Headers of all files, which browsers must save and never render, because users upload them. */
const ALWAYS: NonNullable<Reply['headers']> = [
  ['Accept-Ranges', 'bytes'],
  // A file can be private or deleted later, so caches must revalidate it for each request.
  ['Cache-Control', 'private, no-cache'],
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "sandbox; default-src 'none'"],
  ['Access-Control-Expose-Headers', 'Content-Disposition'],
]

/** A file to serve. */
export interface ServedFile extends Pick<PackageFile, 'name' | 'bytes' | 'digests' | 'blobKey'> {
  /** Time for `Last-Modified`; undefined to omit it. */
  readonly changedAtMs: number | undefined
}

export interface Served {
  readonly reply: Reply
  /** True if the reply contains the file from its first byte. */
  readonly isDownload: boolean
}

/** Returns the reply to a GET or HEAD for a file of a package, and counts a download. */
export async function servePackageFile(
  registry: Registry,
  {
    file,
    request,
    options,
  }: {
    readonly file: PackageFile
    readonly request: Pick<Request, 'method' | 'headers'>
    readonly options: ServeOptions
  },
): Promise<Reply> {
  const dated = { ...file, changedAtMs: lastModifiedTime(file.createdAtMs) }
  const { reply, isDownload } = await serveFile(registry, { file: dated, request, options })
  if (isDownload && options.isReported !== true) registry.downloads.count(file.id)
  return reply
}

/** Returns the reply to a GET or HEAD for a file (RFC 9110 §13 and §14). */
export async function serveFile(
  { storage, bodies }: Pick<Registry, 'storage' | 'bodies'>,
  {
    file,
    request,
    options,
  }: {
    readonly file: ServedFile
    readonly request: Pick<Request, 'method' | 'headers'>
    readonly options: ServeOptions
  },
): Promise<Served> {
  const { bytes, blobKey, changedAtMs } = file
  const tag = entityTag(file.digests.sha256)
  const lastModified = changedAtMs === undefined ? '' : new Date(changedAtMs).toUTCString()
  const headers: Array<readonly [string, string]> = [
    ['ETag', tag],
    ...(changedAtMs === undefined ? [] : [['Last-Modified', lastModified] as const]),
    ...(options.headers ?? []),
    ...ALWAYS,
  ]
  const isHead = request.method === 'HEAD'
  const validators = changedAtMs === undefined ? { tag } : { tag, changedAtMs }
  const status = conditionStatus(request.headers, validators)
  if (status !== undefined) return { reply: { status, headers }, isDownload: false }
  const contentType = options.contentType ?? 'application/octet-stream'
  const contentDisposition = dispositionOf(options.downloadName ?? file.name)
  const method = isHead ? 'HEAD' : 'GET'
  const location = await storage.directUrl(blobKey, { method, contentType, contentDisposition })
  if (location !== undefined) {
    // The URL is valid for a few minutes and for every client, so it must not be cached.
    const headers = [['Location', location] as const, ['Cache-Control', 'no-store'] as const]
    return { reply: { status: 303, headers }, isDownload: !isHead }
  }
  headers.push(['Content-Type', contentType], ['Content-Disposition', contentDisposition])
  if (isHead) return { reply: { status: 200, headers, bodyBytes: bytes }, isDownload: false }
  const wanted = isRangeValid(request.headers.get('if-range'), tag, lastModified)
    ? readByteRange(request.headers.get('range'), bytes)
    : undefined
  if (wanted === 'outside') {
    return {
      reply: { status: 416, headers: [['Content-Range', `bytes */${bytes}`], ...ALWAYS] },
      isDownload: false,
    }
  }
  const range = wanted ?? { start: 0, end: bytes }
  const bodyBytes = range.end - range.start
  if (wanted !== undefined) {
    headers.push(['Content-Range', `bytes ${range.start}-${range.end - 1}/${bytes}`])
  }
  const body = await bodies.bodyOf(file, range).catch(async (error: unknown) => {
    throw (await storage.sizeOf(blobKey)) === undefined ? lostContent(file.name, error) : error
  })
  const servedStatus = wanted === undefined ? 200 : 206
  const bodyFile = () => storage.pathOf(blobKey)
  const reply = { status: servedStatus, headers, body, bodyBytes, bodyFile }
  return { reply, isDownload: range.start === 0 }
}

/** Returns the error for a file whose bytes the storage has lost, so that a client tries again. */
function lostContent(name: string, cause: unknown): Failure {
  const message = `The stored content of ${name} is missing on the server. Ask an administrator to check the storage.`
  return new Failure('unavailable', message, { cause, retryAfterSeconds: LOST_RETRY_SECONDS })
}

const LOST_RETRY_SECONDS = 60

/** Returns true if the `If-Range` of the client matches the current file (RFC 9110 §13.1.5). */
function isRangeValid(ifRange: string | undefined, tag: string, lastModified: string): boolean {
  return ifRange === undefined || ifRange === tag || ifRange === lastModified
}

/**
 * Returns a `Content-Disposition` with which browsers save a file under that name (RFC 6266). In
 * the parameter `filename`, for clients without support for `filename*`, special characters are
 * replaced.
 */
export function dispositionOf(name: string): string {
  const fileName = name.replace(/\p{Surrogate}/gu, '_')
  const plain = fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(fileName).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`
}
