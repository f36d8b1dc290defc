/** Gzip is decompressed, and damaged data and bombs are refused. */

import { gzipSync } from 'node:zlib'
import t from 'tap'
import { bounded, gunzip } from '../../../registry/archive/compress.js'
import { chunksOf, collect } from '../../helpers/byte-chunks.js'
import { gzipBomb } from '../../helpers/gzip-bomb.js'

const TEXT = Buffer.from('one package after the other\n'.repeat(10_000))
const refused = (message: RegExp) => ({ failure: 'bad_request', message })

t.test('data of one or several members is decompressed', async (t) => {
  t.ok((await collect(gunzip(chunksOf(gzipSync(TEXT)), TEXT.length))).equals(TEXT))
  const members = Buffer.concat([gzipSync(TEXT.subarray(0, 7)), gzipSync(TEXT.subarray(7))])
  t.ok((await collect(gunzip(chunksOf(members, 11), TEXT.length))).equals(TEXT))
  t.equal((await collect(gunzip(chunksOf(gzipSync('')), 0))).length, 0)
})

t.test('damaged and truncated data is refused at every position', async (t) => {
  const packed = gzipSync(TEXT)
  for (const bytes of [0, 1, 9, 10, 11, packed.length - 9, packed.length - 1]) {
    const cut = gunzip(chunksOf(packed.subarray(0, bytes)), TEXT.length)
    await t.rejects(collect(cut), refused(/gzip data is damaged or truncated/), `${bytes} bytes`)
  }
  for (const at of [0, 2, 100, packed.length - 8, packed.length - 1]) {
    const damaged = Buffer.from(packed)
    damaged[at] = (damaged[at] ?? 0) ^ 0xff
    const unpacked = collect(gunzip(chunksOf(damaged), TEXT.length))
    await t.rejects(unpacked, refused(/gzip data is damaged or truncated/), `byte ${at}`)
  }
})

t.test('more output than the limit is refused', async (t) => {
  const packed = gzipSync(TEXT)
  await t.rejects(
    collect(gunzip(chunksOf(packed), TEXT.length - 1)),
    refused(/contains more than 279999 bytes/),
  )
  const bomb = await gzipBomb({ head: '', piece: '\0'.repeat(65_536), bytes: 1 << 28 })
  let bytes = 0
  const read = async () => {
    for await (const chunk of gunzip(chunksOf(bomb), 1 << 20)) bytes += chunk.byteLength
  }
  await t.rejects(read(), refused(/contains more than 1048576 bytes/))
  t.ok(bytes <= 1 << 20)
})

t.test('uncompressed data has the same limit', async (t) => {
  t.ok((await collect(bounded(chunksOf(TEXT), TEXT.length))).equals(TEXT))
  await t.rejects(collect(bounded(chunksOf(TEXT), 5)), refused(/contains more than 5 bytes/))
})

t.test('an error of the source is thrown, and a reader that stops ends the source', async (t) => {
  const packed = gzipSync(TEXT)
  async function* broken() {
    yield packed.subarray(0, 50)
    throw new Error('the disk failed')
  }
  await t.rejects(collect(gunzip(broken(), TEXT.length)), { message: /^the disk failed$/ })

  let isEnded: () => void
  const ended = new Promise<void>((resolve) => {
    isEnded = resolve
  })
  async function* endless() {
    try {
      for (;;) yield packed
    } finally {
      isEnded()
    }
  }
  for await (const _ of gunzip(endless(), Number.MAX_SAFE_INTEGER)) break
  await ended
})
