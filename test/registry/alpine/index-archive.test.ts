/** The index file is assembled and signed as apk verifies it. */

import { generateKeyPairSync } from 'node:crypto'
import { crc32 } from 'node:zlib'
import t from 'tap'
import { indexArchive } from '../../../registry/alpine/index-archive.js'
import { keyFileName, signatureMember } from '../../../registry/alpine/signing-key.js'
import { deflatePart } from '../../../registry/archive/gzip-file.js'
import type { FileContent } from '../../../registry/index-maker.js'
import { alpineKey } from '../../helpers/alpine-key.js'
import { readIndex } from '../../helpers/apks.js'
import { pmbBlocks } from '../../helpers/pmbootstrap.js'

const key = await alpineKey()

/** Returns an index file with this number of records and its signature. */
async function pack(count: number): Promise<Buffer> {
  const records = Array.from(
    { length: count },
    (_, at) => `P:hello-${at}\nV:1.0-r0\nA:x86\nT:ä\n\n`,
  )
  const text = Buffer.from(records.join(''))
  const deflated = { name: 'x86', form: 'deflated', spans: [] } as const
  const sums = { bytes: text.length, crc32: crc32(text), count, xzBlocks: [] }
  const content = indexArchive({ ...sums, forms: { deflated } })
  const bytes = read(content, await deflatePart(text))
  return Buffer.concat([await signatureMember([key], bytes), ...(await gathered(bytes))])
}

function read(content: FileContent, deflated: Buffer): AsyncIterable<Uint8Array> {
  return {
    async *[Symbol.asyncIterator]() {
      for (const piece of content) yield piece instanceof Uint8Array ? piece : deflated
    },
  }
}

async function gathered(chunks: AsyncIterable<Uint8Array>): Promise<readonly Uint8Array[]> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}

t.test('an index of few or many records is complete and correctly signed', async (t) => {
  for (const count of [1, 2, 9_000]) {
    const bytes = await pack(count)
    const index = await readIndex(t, bytes)
    const records = index.text.split('\n\n')
    t.equal(records.length, count + 1)
    t.equal(records.at(-2), `P:hello-${count - 1}\nV:1.0-r0\nA:x86\nT:ä`)
    t.equal(index.signatureName, `.SIGN.RSA.${keyFileName(key)}`)
    t.ok(await index.isSignedBy(key.publicKey), 'openssl verifies the signature')
    t.equal((await pmbBlocks(t, bytes)).length, count, 'pmbootstrap reads as many records')
  }
})

t.test('equal records give equal bytes, and another key gives another signature', async (t) => {
  const bytes = await pack(100)
  t.ok(bytes.equals(await pack(100)))
  // A small key, because the server's take about a second.
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1_024 })
  const other = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  t.notOk(await (await readIndex(t, bytes)).isSignedBy(other))
})
