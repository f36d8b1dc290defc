/** Presigned URLs: temporary read access to one S3 object (AWS SigV4 query parameters). */

import { createHash, createHmac } from 'node:crypto'
import type { S3Location } from '../../conf/blob-location.js'

export interface PresignOptions {
  readonly method: 'GET' | 'HEAD'
  /** URL of the object, which must not need percent-encoding. */
  readonly address: string
  readonly query: Readonly<Record<string, string>>
  readonly expiresSeconds: number
  readonly now: Date
}

/**
 * Returns a presigned URL. That of s3.ts's client library is not used, because it does not encode
 * `'`, `(`, `)` and `*`, so servers refuse the signature of a non-ASCII file name.
 */
export function presignedUrl(location: S3Location, options: PresignOptions): string {
  const { method, address, query, expiresSeconds, now } = options
  const url = new URL(address)
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const scope = `${time.slice(0, 8)}/${location.region}/s3/aws4_request`
  const parameters = Object.entries({
    ...query,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${location.accessKey}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(expiresSeconds),
    'X-Amz-SignedHeaders': 'host',
  })
  const signed = parameters
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&')
  const host = `host:${url.host}\n`
  const request = [method, url.pathname, signed, host, 'host', 'UNSIGNED-PAYLOAD'].join('\n')
  const digest = createHash('sha256').update(request).digest('hex')
  const text = ['AWS4-HMAC-SHA256', time, scope, digest].join('\n')
  const key = scope.split('/').reduce<Buffer | string>(hmac, `AWS4${location.secretKey}`)
  return `${url.href}?${signed}&X-Amz-Signature=${hmac(key, text).toString('hex')}`
}

const hmac = (key: Buffer | string, text: string): Buffer =>
  createHmac('sha256', key).update(text).digest()

/** Percent-encodes a text for SigV4: all except letters, digits, `-`, `.`, `_` and `~`. */
function encoded(text: string): string {
  const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(text).replace(/[!'()*]/g, percent)
}
