/** Entries of a streamed zip are renamed, removed and added, whatever the sizes of its chunks. */

import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { changeZip, type ZipChange } from '../../../registry/archive/changed-zip.js'
import { openZip } from '../../../registry/archive/zip.js'
import { sourceOf } from '../../helpers/byte-sources.js'
import { handMadeZip, zipContents } from '../../helpers/zips.js'

const LONG = 'text '.repeat(5_000)
const ENTRIES = [
  { path: 'a/', content: '' },
  { path: 'a/größe.txt', content: LONG, both: { method: 8, flags: 2_048 } },
  { path: 'empty', content: '' },
  { path: 'gone', content: 'gone' },
  { path: 'z', content: 'last' },
]

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const CHANGE: ZipChange = {
  pathOf: (path) => (path === 'gone' || path.endsWith('/') ? undefined : `m@v1.0.0/${path}`),
  additions: [{ path: 'm@v1.0.0/ä', content: Buffer.from('added') }],
  check: () => {},
}

t.test('the changed archive has the files that were kept and those that were added', async (t) => {
  const zip = handMadeZip(ENTRIES)
  for (const size of [1, 7, 4_096, zip.length]) {
    const changed = await buffer(changeZip(chunksOf(zip, size), CHANGE))
    t.strictSame(await zipContents(await openZip(sourceOf(changed))), {
      'm@v1.0.0/a/größe.txt': LONG,
      'm@v1.0.0/empty': '',
      'm@v1.0.0/z': 'last',
      'm@v1.0.0/ä': 'added',
    })
  }
})

t.test('the sizes of the files that are kept are checked before their contents', async (t) => {
  const sizes: number[] = []
  const check = (bytes: number) => sizes.push(bytes)
  await buffer(changeZip(chunksOf(handMadeZip(ENTRIES), 100), { ...CHANGE, check }))
  t.strictSame(sizes, [LONG.length, 0, 4])
})

t.test('an archive that git would not write, or that is truncated, is an error', async (t) => {
  const change = (zip: Buffer) => buffer(changeZip(chunksOf(zip, 100), CHANGE))
  const descriptor = handMadeZip([{ path: 'a', content: 'a', both: { flags: 8 } }])
  await t.rejects(change(descriptor), { message: /an entry without sizes/ })
  await t.rejects(change(handMadeZip(ENTRIES, { before: Buffer.from('x') })), {
    message: /an unknown record/,
  })
  await t.rejects(change(handMadeZip(ENTRIES).subarray(0, 200)), { message: /truncated/ })
})
