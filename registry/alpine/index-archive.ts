/** An APKINDEX.tar.gz: a gzip member with a signature, and the one with the index that it signs. */

import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createGzip, gzipSync } from 'node:zlib'
import { TAR_END, tarHeader, tarPadding } from '../archive/tar-header.js'
import type { SigningKey } from '../format.js'
import { signWithSha1 } from '../sign/rsa.js'
import { keyFileName } from './signing-key.js'

/** The chunks of the file that holds these records. All of them are in memory for a while. */
export async function packIndex(
  records: AsyncIterable<string>,
  key: SigningKey,
): Promise<readonly Buffer[]> {
  const text = await gather(records)
  const index = await pack(text)
  const signature = signWithSha1(key.privateKey, index)
  const signed = [
    tarHeader(`.SIGN.RSA.${keyFileName(key)}`, signature.length),
    ...[signature, tarPadding(signature.length)],
  ]
  // Without the mark of its end: the next member goes on with the same archive.
  return [gzipSync(Buffer.concat(signed)), ...index]
}

const CHUNK_CHARACTERS = 65_536

/** The size stands before the text, so that all of it must be known. */
async function gather(records: AsyncIterable<string>): Promise<Buffer[]> {
  const chunks: Buffer[] = []
  let ready = ''
  for await (const record of records) {
    ready += record
    if (ready.length < CHUNK_CHARACTERS) continue
    chunks.push(Buffer.from(ready))
    ready = ''
    // There may be very many, each made at a stretch: in between it is the turn of others.
    await nextTurn()
  }
  return [...chunks, Buffer.from(ready)]
}

async function pack(text: Buffer[]): Promise<readonly Buffer[]> {
  const bytes = text.reduce((sum, { length }) => sum + length, 0)
  const tar = [tarHeader('APKINDEX', bytes), ...text, tarPadding(bytes), TAR_END]
  return await Readable.from(tar).pipe(createGzip()).toArray()
}
