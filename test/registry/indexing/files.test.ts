/** Index files are assembled from bytes, new texts, and blobs. */

import { createHash, randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { FileContent, Span } from '../../../registry/index-maker.js'
import { type IndexFiles, openIndexFiles } from '../../../registry/indexing/files.js'
import { createPrefixes } from '../../../registry/indexing/prefixes.js'
import { openScratch } from '../../../registry/indexing/scratch.js'
import { openFileStorage } from '../../../registry/storage/files.js'
import { collect } from '../../helpers/byte-chunks.js'
import { temporaryFolder } from '../../helpers/temporary.js'

async function openScene(t: Test) {
  const storage = await openFileStorage(await temporaryFolder(t))
  const scratch = await openScratch(storage.incomingFolder)
  t.teardown(() => scratch.close())
  const prefixes = createPrefixes()
  const append = async (bytes: Uint8Array): Promise<Span> => {
    const id = createHash('sha256').update(bytes).digest('hex')
    const start = await scratch.append(bytes)
    return { id, blobKey: undefined, start, bytes: bytes.length }
  }
  return { storage, append, open: () => openIndexFiles({ storage, scratch, prefixes }) }
}

const textOf = (spans: readonly Span[]) => ({ name: 'list', form: 'plain' as const, spans })

async function isWritten(t: Test, files: IndexFiles, content: FileContent, wanted: Buffer) {
  const path = `list ${files.written.size}`
  const { bytes, digests } = await files.write(path, content)
  t.ok((await readFile(files.written.get(path)?.file ?? '')).equals(wanted))
  t.ok((await collect(files.read(content))).equals(wanted))
  const digest = (algorithm: string) => createHash(algorithm).update(wanted).digest('hex')
  t.strictSame([bytes, digests.md5, digests.sha1], [wanted.length, digest('md5'), digest('sha1')])
  t.strictSame([digests.sha256, digests.sha512], [digest('sha256'), digest('sha512')])
}

t.test('a file has its pieces in order, and the positions of texts are known', async (t) => {
  const { storage, append, open } = await openScene(t)
  const blobKey = `${'a'.repeat(64)}-${'b'.repeat(16)}`
  const path = join(storage.incomingFolder, 'former')
  await writeFile(path, 'of the former one')
  await storage.put(blobKey, { path, bytes: 17 })
  const made = await append(Buffer.from('just made'))
  const former = { id: 'former', blobKey, start: 7, bytes: 6 }
  const text = textOf([former, { ...made, id: 'made', start: made.start + 5, bytes: 4 }])
  const files = open()
  const content = [Buffer.from('<'), text, Buffer.from('>')]
  await isWritten(t, files, content, Buffer.from('<formermade>'))
  t.strictSame([...files.places], [['list', { plain: { path: 'list 0', start: 1 } }]])
  await t.rejects(files.write('list 0', []), { message: 'an index has two files list 0' })
  await files.discard()
  t.strictSame(await readdir(storage.incomingFolder), [])
})

t.test('digests cover all bytes, whichever prefix another file shares', async (t) => {
  const { append, open } = await openScene(t)
  const pieces = Array.from({ length: 6 }, (_, at) => randomBytes(at * 40_000 + 10))
  const spans: Span[] = []
  for (const piece of pieces) spans.push(await append(piece))
  const [head, otherHead, tail] = ['head', 'another head', 'tail'].map((text) => Buffer.from(text))
  const files = open()
  for (const [from, numbers, to] of [
    [head, [0, 1, 2], tail],
    [head, [0, 1, 2, 3], tail],
    [head, [0, 1, 4], tail],
    [head, [0, 5, 2, 3], undefined],
    [otherHead, [0, 1, 2, 3], tail],
    [head, [0, 1, 2, 3, 4, 5], tail],
    [undefined, [0], undefined],
    [head, [], tail],
    [undefined, [1, 0, 2], undefined],
    [undefined, [1, 0], tail],
  ] as const) {
    const [before, after] = [from ?? Buffer.alloc(0), to ?? Buffer.alloc(0)]
    const some = numbers.flatMap((number) => spans[number] ?? [])
    const wanted = Buffer.concat([before, ...numbers.flatMap((at) => pieces[at] ?? []), after])
    await isWritten(t, files, [before, textOf(some), after], wanted)
  }
  await files.discard()
})
