/** Stored answers are read back unchanged, or are an error. */

import { closeSync, type Stats } from 'node:fs'
import { open, readFile, stat, truncate, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  checksumsPath,
  DamagedPack,
  openPack,
  packIdentity,
  placePack,
  readPack,
} from '../../../gateway/packs/pack-file.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { incompressible } from '../../helpers/working-copy.js'

const PIECE_BYTES = 65_536

/** Writes an answer of that many bytes with its checksums. */
async function aPack(t: Test, bytes: number) {
  const path = join(await temporaryFolder(t), 'pack')
  const content = Buffer.from(incompressible(bytes))
  await writeFile(`${path}.part`, content)
  await placePack({ path: `${path}.part`, bytes }, path)
  return { path, content, checksums: await readFile(checksumsPath(path)) }
}

/** Returns all bytes that were read from a file, and the error that ended the read. */
async function sent(path: string, checkedIdentity?: string) {
  const pack = openPack(path, checkedIdentity)
  if (pack === undefined) throw new Error('no pack')
  const chunks: Buffer[] = []
  try {
    for await (const chunk of readPack(pack)) chunks.push(Buffer.from(chunk))
    return { bytes: Buffer.concat(chunks), error: undefined }
  } catch (error) {
    return { bytes: Buffer.concat(chunks), error }
  } finally {
    closeSync(pack.file)
  }
}

function identityOf(path: string): string {
  const pack = openPack(path)
  if (pack === undefined) throw new Error('no pack')
  closeSync(pack.file)
  return pack.identity
}

async function flip(path: string, position: number): Promise<void> {
  const handle = await open(path, 'r+')
  const byte = Buffer.alloc(1)
  await handle.read(byte, 0, 1, position)
  byte.writeUInt8(byte.readUInt8() ^ 0x10)
  await handle.write(byte, 0, 1, position)
  await handle.close()
}

t.test('an answer of any size is read back with its length', async (t) => {
  for (const bytes of [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 1_400_000]) {
    const { path, content } = await aPack(t, bytes)
    const pack = openPack(path)
    t.equal(pack?.bytes, bytes)
    t.ok((await readFile(path)).equals(content), 'the file has nothing else')
    closeSync(pack?.file ?? -1)
    const read = await sent(path)
    t.ok(read.error === undefined && read.bytes.equals(content), `${bytes} bytes`)
  }
})

t.test('a file that was not written does not exist', async (t) => {
  t.equal(openPack(join(await temporaryFolder(t), 'pack')), undefined)
})

t.test('a file of another length is detected before its first byte', async (t) => {
  const { path, content } = await aPack(t, 200_000)
  for (const left of [199_999, 100_000, 1, 0]) {
    // The same inode: another one has no checksums.
    await writeFile(path, content)
    await truncate(path, left)
    t.throws(() => openPack(path), DamagedPack, `${left} bytes are left`)
  }
  await writeFile(path, Buffer.concat([content, Buffer.from('x')]))
  t.throws(() => openPack(path), DamagedPack, 'one extra byte')
})

t.test('truncated or changed checksums are detected before the first byte', async (t) => {
  const { path, checksums } = await aPack(t, 200_000)
  const file = checksumsPath(path)
  for (let left = 0; left < checksums.length; left += 1) {
    await writeFile(file, checksums.subarray(0, left))
    t.throws(() => openPack(path), DamagedPack, `${left} bytes are left`)
  }
  for (let position = 0; position < checksums.length; position += 1) {
    await writeFile(file, checksums)
    await flip(file, position)
    t.throws(() => openPack(path), DamagedPack, `at ${position} of ${checksums.length}`)
  }
  await writeFile(file, Buffer.alloc(checksums.length))
  t.throws(() => openPack(path), DamagedPack, 'only zeros, as after a crash')
})

t.test('a file without checksums, or with those of another file, is not opened', async (t) => {
  const [one, other] = [await aPack(t, 1_000), await aPack(t, 1_000)]
  await writeFile(checksumsPath(one.path), other.checksums)
  t.equal(openPack(one.path), undefined)
  await unlink(checksumsPath(one.path))
  t.equal(openPack(one.path), undefined)
})

t.test('one flipped bit in a piece is detected before its chunk', async (t) => {
  const bytes = 2_000_000
  const { path, content } = await aPack(t, bytes)
  for (const position of [0, PIECE_BYTES, 1_000_000, 1_999_999]) {
    await writeFile(path, content)
    await flip(path, position)
    const read = await sent(path)
    t.type(read.error, DamagedPack, `at ${position}`)
    t.ok(read.bytes.length <= position, 'no damaged byte was sent')
    t.ok(read.bytes.equals(content.subarray(0, read.bytes.length)))
  }
})

t.test('a file that was checked is opened without its checksums until it changes', async (t) => {
  const { path } = await aPack(t, 200_000)
  const identity = identityOf(path)
  await flip(path, 100_000)
  t.type((await sent(path, identity)).error, DamagedPack)
  await unlink(checksumsPath(path))
  const read = await sent(path, packIdentity(await stat(path)))
  t.equal(read.error, undefined)
  t.equal(read.bytes.length, 200_000)
})

t.test('a file that is truncated during the read is an error', async (t) => {
  const { path } = await aPack(t, 3_000_000)
  const pack = openPack(path)
  if (pack === undefined) throw new Error('no pack')
  const chunks = readPack(pack)
  t.notOk((await chunks.next()).done)
  await truncate(path, 600_000)
  const readOn = async () => {
    for await (const _ of chunks);
  }
  await t.rejects(readOn(), DamagedPack)
  closeSync(pack.file)
})

t.test('a file that is unlinked during the read is read to its end', async (t) => {
  const { path, content } = await aPack(t, 3_000_000)
  const pack = openPack(path)
  if (pack === undefined) throw new Error('no pack')
  await unlink(path)
  const chunks: Buffer[] = []
  for await (const chunk of readPack(pack)) chunks.push(Buffer.from(chunk))
  t.ok(Buffer.concat(chunks).equals(content))
  closeSync(pack.file)
})

t.test('each file and each state of it has a different identity', async (t) => {
  const { path } = await aPack(t, 1_000)
  const before = identityOf(path)
  t.equal(identityOf(path), before)
  await writeFile(`${path}.part`, incompressible(1_000))
  await placePack({ path: `${path}.part`, bytes: 1_000 }, path)
  t.not(identityOf(path), before)
  const stats = await stat(path)
  for (const name of ['ino', 'size', 'mtimeMs'] as const) {
    const other = Object.assign(Object.create(stats) as Stats, { [name]: stats[name] + 1 })
    t.not(packIdentity(other), packIdentity(stats), name)
  }
})

t.test('many concurrent readers get their bytes, also if large buffers are in use', async (t) => {
  const { path, content } = await aPack(t, 1_200_000)
  const all = await Promise.all(Array.from({ length: 60 }, () => sent(path)))
  t.ok(all.every(({ bytes, error }) => error === undefined && bytes.equals(content)))
})
