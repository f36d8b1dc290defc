/** Blobs in files: conformance of the storage, and no open or stale files. */

import { mkdir, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openFileStorage } from '../../../registry/storage/files.js'
import { objectNameOf } from '../../../registry/storage/object-name.js'
import { blobStorageConforms, contentOf, keep, read } from '../../conformance/blob-storage.js'
import { openFilesBelow } from '../../helpers/open-files.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const open = async (t: Test) => openFileStorage(join(await temporaryFolder(t), 'data', 'blobs'))

blobStorageConforms(t, { open, largeBytes: 6_000_000 })

t.test('a reader that ends, stops or fails leaves no open file', async (t) => {
  const folder = await temporaryFolder(t)
  const storage = await openFileStorage(folder)
  const content = contentOf(2_000_000)
  const key = await keep(storage, content)
  const range = { start: 0, end: content.length }

  await storage.open(key, range).then((chunks) => chunks[Symbol.asyncIterator]().return?.())
  t.equal(await openFilesBelow(folder), 0, 'stopped before the first chunk')

  for await (const _chunk of await storage.open(key, range)) {
    t.equal(await openFilesBelow(folder), 1, 'one while it is read')
    break
  }
  t.equal(await openFilesBelow(folder), 0, 'stopped after a chunk')

  const reader = (await storage.open(key, range))[Symbol.asyncIterator]()
  const pending = reader.next()
  await reader.return?.()
  await pending
  t.equal(await openFilesBelow(folder), 0, 'stopped during a read')

  t.ok((await read(storage, key, 0, content.length)).equals(content))
  t.equal(await openFilesBelow(folder), 0, 'read to the end')

  await truncate(join(folder, objectNameOf(key)), 1_000_000)
  await t.rejects(read(storage, key, 0, content.length), { message: /shorter/ })
  t.equal(await openFilesBelow(folder), 0, 'the file was too short')
})

t.test('folders of blobs are accessible to their owner and the group only', async (t) => {
  const folder = join(await temporaryFolder(t), 'blobs')
  const storage = await openFileStorage(folder)
  const key = await keep(storage, contentOf(10))
  const [outer = '', inner = ''] = objectNameOf(key).split('/')
  for (const named of [folder, join(folder, outer), join(folder, outer, inner)]) {
    t.equal((await stat(named)).mode & 0o777, 0o750, named.slice(folder.length))
  }
})

t.test('a put that fails removes the received file and stores no blob', async (t) => {
  const folder = await temporaryFolder(t)
  const storage = await openFileStorage(folder)
  await writeFile(join(folder, 'aa'), 'a file where a folder belongs')
  const path = join(storage.incomingFolder, 'file')
  await writeFile(path, 'text')
  const key = `${'a'.repeat(64)}-${'0'.repeat(16)}`
  await t.rejects(storage.put(key, { path, bytes: 4 }))
  t.strictSame(await readdir(storage.incomingFolder), [])
})

t.test('a folder of blobs that was removed is created again after one failed put', async (t) => {
  const folder = await temporaryFolder(t)
  const storage = await openFileStorage(folder)
  const put = async (last: string) => {
    const path = join(storage.incomingFolder, 'file')
    await writeFile(path, 'text')
    const key = `${'a'.repeat(64)}-${last.repeat(16)}`
    await storage.put(key, { path, bytes: 4 })
    return String(await read(storage, key, 0, 4))
  }
  t.equal(await put('0'), 'text')
  await rm(join(folder, 'aa'), { recursive: true })
  await t.rejects(put('1'), { code: 'ENOENT' })
  t.strictSame(await readdir(storage.incomingFolder), [])
  t.equal(await put('2'), 'text')
})

t.test('foreign files are not listed', async (t) => {
  const folder = await temporaryFolder(t)
  const storage = await openFileStorage(folder)
  const key = await keep(storage, contentOf(10))
  await mkdir(join(folder, 'aa', 'bb'), { recursive: true })
  await writeFile(join(folder, 'aa', 'bb', key), 'not its place')
  await writeFile(join(folder, 'aa', 'bb', 'README'), 'no blob')
  await writeFile(join(folder, 'bb'), 'no folder')
  const keys = []
  for await (const blob of storage.list()) keys.push(blob.key)
  t.strictSame(keys, [key])
})

t.test('an existing storage is opened unchanged', async (t) => {
  const folder = await temporaryFolder(t)
  const key = await keep(await openFileStorage(folder), Buffer.from('text'))
  t.equal(String(await read(await openFileStorage(folder), key, 0, 4)), 'text')
})
