/** Checksums that a client sends with an upload. */

import { Failure } from '../../conf/failures.js'
import type { RequestHeaders } from '../../conf/http.js'
import type { Digests } from '../../conf/package.js'
import { quote } from '../archive/zip-paths.js'

/** Header of each digest, and its number of hexadecimal digits. */
const HEADERS = [
  ['sha256', 'X-Checksum-Sha256', 64],
  ['sha512', 'X-Checksum-Sha512', 128],
  ['sha1', 'X-Checksum-Sha1', 40],
  ['md5', 'X-Checksum-Md5', 32],
] as const

export type SentChecksums = Partial<Digests>

/** Reads the checksums, in lower case. Throws `bad_request` for one that is malformed. */
export function readChecksums(headers: RequestHeaders): SentChecksums {
  const sent: { -readonly [K in keyof Digests]?: string } = {}
  for (const [name, header, digits] of HEADERS) {
    const text = headers.get(header.toLowerCase())?.trim()
    if (text === undefined) continue
    if (text.length !== digits || !/^[0-9a-f]+$/i.test(text)) {
      const rule = `must be a digest of ${digits} hexadecimal digits`
      throw new Failure('bad_request', `The header ${header} ${rule}: ${quote(text)}.`)
    }
    sent[name] = text.toLowerCase()
  }
  return sent
}

/** Throws `bad_request` with both digests if the upload differs from a checksum of the client. */
export function refuseOtherBytes(sent: SentChecksums, digests: Digests): void {
  for (const [name, header] of HEADERS) {
    const expected = sent[name]
    if (expected === undefined || expected === digests[name]) continue
    throw new Failure(
      'bad_request',
      `The upload differs from its checksum. ${header}: ${expected}, received: ${digests[name]}.`,
    )
  }
}
