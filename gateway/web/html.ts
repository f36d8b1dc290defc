/** The answer that a page is: its headers forbid what no page of ours needs. */

import { gzipSync } from 'node:zlib'
import type { JSX } from 'preact/jsx-runtime'
import { render } from 'preact-render-to-string'
import type { Reply, Request } from '../../conf/http.js'

/** No script at all, no style but our own, and forms that are sent to us alone. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' https:",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

const HEADERS: NonNullable<Reply['headers']> = [
  ['Content-Type', 'text/html; charset=utf-8'],
  ['Content-Security-Policy', POLICY],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'same-origin'],
  ['Cache-Control', 'private, no-cache'],
  ['Vary', 'Cookie, Accept-Encoding'],
]

const GZIP_BYTES_MIN = 1_024
/** Half the time of the default level, for a twentieth more bytes. */
const GZIP_LEVEL = 4

/** A whole document as an answer. */
export function htmlReply(
  request: Request,
  document: JSX.Element,
  { status = 200, headers = [] }: Partial<Pick<Reply, 'status' | 'headers'>> = {},
): Reply {
  const html = `<!doctype html>${render(document)}`
  const all = [...HEADERS, ...headers]
  if (html.length < GZIP_BYTES_MIN || !takesGzip(request)) {
    return { status, headers: all, body: html }
  }
  const body = gzipSync(html, { level: GZIP_LEVEL })
  return { status, headers: [...all, ['Content-Encoding', 'gzip']], body }
}

/** Whether the client takes gzip (RFC 9110 §12.5.3). */
export function takesGzip({ headers }: Request): boolean {
  return /(?:^|,)\s*gzip\s*(?:;\s*q=(?!0(?:\.0+)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)/.test(
    headers.get('accept-encoding') ?? '',
  )
}
