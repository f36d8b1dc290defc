/** Stored answers are read back unchanged, or are an error. */

import { closeSync } from 'node:fs'
import { open, readFile, truncate, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DamagedPack, openPack, readPack, sealPack } from '../../../gateway/packs/pack-file.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { incompressible } from '../../helpers/working-copy.js'

const PIECE_BYTES = 65_536

/** Creates a sealed file of that many bytes. */
async function aPack(t: Test, bytes: number) {
  const path = join(await temporaryFolder(t), 'pack')
  const content = Buffer.from(incompressible(bytes))
  await writeFile(path, content)
  await sealPack(path, bytes)
  return { path, content, whole: await readFile(path) }
}

/** Returns all bytes that were read from a file, and the error that ended the read. */
async function sent(path: string, isChecked = true) {
  const pack = openPack(path)
  if (pack === undefined) throw new Error('no pack')
  const chunks: Buffer[] = []
  try {
    for await (const chunk of readPack(pack, isChecked)) chunks.push(Buffer.from(chunk))
    return { bytes: Buffer.concat(chunks), error: undefined }
  } catch (error) {
    return { bytes: Buffer.concat(chunks), error }
  } finally {
    closeSync(pack.file)
  }
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
    closeSync(pack?.file ?? -1)
    const read = await sent(path)
    t.ok(read.error === undefined && read.bytes.equals(content), `${bytes} bytes`)
  }
})

t.test('a file that was not written does not exist', async (t) => {
  t.equal(openPack(join(await temporaryFolder(t), 'pack')), undefined)
})

t.test('a truncated file is detected before its first byte', async (t) => {
  const { path, whole } = await aPack(t, 200_000)
  const { length } = whole
  for (const left of [length - 1, length - 16, 200_000, 100_000, 16, 15, 1, 0]) {
    await writeFile(path, whole)
    await truncate(path, left)
    t.throws(() => openPack(path), DamagedPack, `${left} bytes are left`)
  }
  await writeFile(path, Buffer.concat([whole, Buffer.from('x')]))
  t.throws(() => openPack(path), DamagedPack, 'one extra byte')
  await writeFile(path, Buffer.alloc(length))
  t.throws(() => openPack(path), DamagedPack, 'only zeros, as after a crash')
})

t.test('one flipped bit in the trailer is detected before the first byte', async (t) => {
  const { path, whole } = await aPack(t, 200_000)
  for (let position = 200_000; position < whole.length; position += 1) {
    await writeFile(path, whole)
    await flip(path, position)
    t.throws(() => openPack(path), DamagedPack, `at ${position} of ${whole.length}`)
  }
})

t.test('one flipped bit in a piece is detected before its chunk', async (t) => {
  const bytes = 2_000_000
  const { path, content, whole } = await aPack(t, bytes)
  for (const position of [0, PIECE_BYTES, 1_000_000, 1_999_999]) {
    await writeFile(path, whole)
    await flip(path, position)
    const read = await sent(path)
    t.type(read.error, DamagedPack, `at ${position}`)
    t.ok(read.bytes.length <= position, 'no damaged byte was sent')
    t.ok(read.bytes.equals(content.subarray(0, read.bytes.length)))
  }
})

t.test('a file that was checked before can be read without checking again', async (t) => {
  const { path } = await aPack(t, 200_000)
  await flip(path, 100_000)
  const read = await sent(path, false)
  t.equal(read.error, undefined)
  t.equal(read.bytes.length, 200_000)
})

t.test('a file that is truncated during the read is an error', async (t) => {
  const { path } = await aPack(t, 3_000_000)
  const pack = openPack(path)
  if (pack === undefined) throw new Error('no pack')
  const chunks = readPack(pack, false)
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
  for await (const chunk of readPack(pack, true)) chunks.push(Buffer.from(chunk))
  t.ok(Buffer.concat(chunks).equals(content))
  closeSync(pack.file)
})

t.test('each file and each state of it has a different identity', async (t) => {
  const { path, whole } = await aPack(t, 1_000)
  const identity = () => {
    const pack = openPack(path)
    closeSync(pack?.file ?? -1)
    return pack?.identity
  }
  const before = identity()
  t.equal(identity(), before)
  await unlink(path)
  await writeFile(`${path}x`, 'takes the old number')
  await writeFile(path, whole)
  t.not(identity(), before)
})

t.test('many concurrent readers get their bytes, also if large buffers are in use', async (t) => {
  const { path, content } = await aPack(t, 1_200_000)
  const all = await Promise.all(Array.from({ length: 60 }, () => sent(path)))
  t.ok(all.every(({ bytes, error }) => error === undefined && bytes.equals(content)))
})
