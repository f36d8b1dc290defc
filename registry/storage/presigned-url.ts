/** An address that lets whoever has it read one object of S3 for a while (AWS SigV4, by query). */

import { createHash, createHmac } from 'node:crypto'
import type { S3Location } from '../../conf/blob-location.js'

export interface PresignOptions {
  readonly method: 'GET' | 'HEAD'
  /** Where the object is, in characters that stand in an address as they are. */
  readonly address: string
  readonly query: Readonly<Record<string, string>>
  readonly expiresSeconds: number
  readonly now: Date
}

/**
 * The address. The client library of s3.ts signs one as well, but leaves `'`, `(`, `)` and `*` as
 * they are: every server then refuses the name of a file that has letters other than ASCII.
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

/** As SigV4 spells it: all but letters, digits, `-`, `.`, `_` and `~` in percents. */
function encoded(text: string): string {
  const percent = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(text).replace(/[!'()*]/g, percent)
}
