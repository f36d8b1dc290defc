/** Bodies that nginx sends from a file itself, by the header X-Accel-Redirect. */

import { join, relative } from 'node:path'
import type { Reply } from '../../conf/http.js'
import type { SendfileTarget } from '../../conf/sendfile-target.js'

export interface SendfileOptions {
  readonly target: SendfileTarget
  /** Folder that the location of the proxy has; other files are not left to it. */
  readonly folder: string
}

/** Minimum size of a body that is left to the proxy: it costs less to copy smaller ones. */
const BYTES_MIN = 524_288

/** Bodies of `/sendfilez`, which `gatehouse doctor` requests: they say who sent them. */
export const SENT_BY_GATEWAY = 'sent by the gateway\n'.padEnd(BYTES_MIN)
export const SENT_BY_PROXY = 'sent by the proxy\n'.padEnd(BYTES_MIN)

/** Returns the path of the file that a proxy sends for `/sendfilez`; doctor writes it. */
export function probePath(dataDir: string): string {
  return join(dataDir, 'cache', 'sendfile-probe')
}

/**
 * Headers that reach the client: nginx keeps some of a reply, and conf/nginx.example.conf adds the
 * others. A reply with any other header is sent by the gateway.
 */
const PASSED_HEADERS: ReadonlySet<string> = new Set([
  'accept-ranges',
  'access-control-expose-headers',
  'cache-control',
  'content-disposition',
  'content-security-policy',
  'content-type',
  'content-version',
  'digest',
  'etag',
  'last-modified',
  'link',
  'x-checksum-sha256',
  'x-content-type-options',
])

/**
 * Returns the reply with which a proxy sends the body of `reply`, whose stream is then closed.
 * Returns undefined if the gateway must send the body.
 */
export function leaveToProxy(reply: Reply, { target, folder }: SendfileOptions): Reply | undefined {
  const { status, headers = [], body, bodyBytes, bodyFile, ...rest } = reply
  const bytes = body instanceof Uint8Array ? body.byteLength : (bodyBytes ?? 0)
  if (bodyFile === undefined || status !== 200 || bytes < BYTES_MIN) return undefined
  if (headers.some(([name]) => !PASSED_HEADERS.has(name.toLowerCase()))) return undefined
  const path = bodyFile()
  if (path === undefined) return undefined
  const inside = relative(folder, path)
  if (inside.startsWith('..')) return undefined
  const uri = target.prefix + inside.split('/').map(encodeURIComponent).join('/')
  if (typeof body === 'object' && Symbol.asyncIterator in body) {
    void body[Symbol.asyncIterator]().return?.()
  }
  return { ...rest, status, headers: [...headers, ['X-Accel-Redirect', uri]] }
}
