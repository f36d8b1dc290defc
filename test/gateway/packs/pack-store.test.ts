/** Stored answers: found in memory and on disk, limited in size, and never damaged. */

import {
  lutimes,
  mkdir,
  open,
  readdir,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { checksumsPath } from '../../../gateway/packs/pack-file.js'
import {
  PackStore,
  type PackStoreOptions,
  type StoredPack,
} from '../../../gateway/packs/pack-store.js'
import { mountSmallDisk } from '../../helpers/small-disk.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { incompressible } from '../../helpers/working-copy.js'

const keyOf = (number: number) => number.toString(16).padStart(2, '0').repeat(32)

/** Memory of an answer beside its bytes. */
const ENTRY_BYTES = 700

interface Shop {
  readonly folder: string
  readonly lines: string[]
  /** Creates a store of another process with the same folder. */
  newStore(): PackStore
  pathOf(number: number): string
  /** Stores an answer under that number and returns its content. */
  keep(store: PackStore, number: number, bytes: number): Promise<Buffer>
  /** Names of all files, without those of checksums beside an answer. */
  names(): Promise<readonly string[]>
}

async function storeFixture(t: Test, more: Partial<PackStoreOptions> = {}): Promise<Shop> {
  const { folder = join(await temporaryFolder(t), 'packs') } = more
  const options = {
    folder,
    diskBytesMax: 1 << 30,
    diskBytesFree: 0,
    memoryBytesMax: 1_000_000,
    heldBytesMax: 1_000_000,
    graceMs: 0,
    ...more,
  }
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line: string) => lines.push(line) })
  return {
    folder,
    lines,
    newStore: () => new PackStore(options, log),
    pathOf: (number) => join(folder, keyOf(number).slice(0, 2), keyOf(number)),
    async keep(store, number, bytes) {
      t.ok(await store.canFit(bytes))
      const content = Buffer.from(incompressible(bytes))
      const path = join(folder, `${keyOf(number)}.1.part`)
      await writeFile(path, content)
      await store.keep(keyOf(number), { path, bytes })
      return content
    },
    async names() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name)
      const checksums = new Set(names.map(checksumsPath))
      return names.filter((name) => !checksums.has(name))
    },
  }
}

async function readAll({ body }: StoredPack): Promise<Buffer> {
  if (body instanceof Uint8Array) return Buffer.from(body)
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

async function flip(path: string, position: number): Promise<void> {
  const handle = await open(path, 'r+')
  const byte = Buffer.alloc(1)
  await handle.read(byte, 0, 1, position)
  byte.writeUInt8(byte.readUInt8() ^ 1)
  await handle.write(byte, 0, 1, position)
  await handle.close()
}

t.test('a stored answer is found by every process, small or large', async (t) => {
  const { newStore, keep, names } = await storeFixture(t)
  const writer = newStore()
  t.equal(await writer.find(keyOf(1)), undefined)
  const [small, large] = [await keep(writer, 1, 400_000), await keep(writer, 2, 3_000_000)]
  for (const store of [writer, newStore()]) {
    for (const round of ['first', 'second']) {
      const [one, two] = [await store.find(keyOf(1)), await store.find(keyOf(2))]
      if (one === undefined || two === undefined) throw new Error('not found')
      t.ok(one.body instanceof Uint8Array, 'the small one is in memory')
      t.notOk(two.body instanceof Uint8Array, 'the large one is not')
      t.strictSame([one.bytes, two.bytes], [400_000, 3_000_000])
      t.ok((await readAll(one)).equals(small), round)
      t.ok((await readAll(two)).equals(large), round)
    }
  }
  t.strictSame((await names()).toSorted(), [keyOf(1), keyOf(2)])
})

t.test('a long answer is held in memory when it is used twice in succession', async (t) => {
  const { newStore, keep } = await storeFixture(t)
  const writer = newStore()
  const sizes = { 1: 600_000, 2: 900_000, 3: 1_000_001, 4: 400_000 }
  for (const [number, bytes] of Object.entries(sizes)) await keep(writer, Number(number), bytes)
  const isHeld = async (store: PackStore, number: number) => {
    const found = await store.find(keyOf(number))
    if (found === undefined) throw new Error('not found')
    t.equal((await readAll(found)).length, found.bytes)
    return found.body instanceof Uint8Array
  }
  const store = newStore()
  for (const number of [1, 2, 1, 2]) t.notOk(await isHeld(store, number), 'in turn with another')
  t.ok(await isHeld(store, 4))
  t.ok(await isHeld(store, 2), 'a short answer in between does not matter')
  t.equal(store.memoryBytes, 900_000 + ENTRY_BYTES, 'the short one made room')
  t.notOk(await isHeld(store, 3))
  t.notOk(await isHeld(store, 3), 'too long')
  const { newStore: newOther, keep: keepOther } = await storeFixture(t, { heldBytesMax: 0 })
  const other = newOther()
  await keepOther(other, 1, 600_000)
  await isHeld(other, 1)
  t.notOk(await isHeld(other, 1), 'long answers are not held')
})

t.test('short answers count with the memory of their keys and buffers', async (t) => {
  const { newStore, keep } = await storeFixture(t, { memoryBytesMax: 10 * (ENTRY_BYTES + 100) })
  const store = newStore()
  for (let number = 1; number <= 12; number += 1) {
    await keep(store, number, 100)
    await store.find(keyOf(number))
  }
  const held = [1, 2, 3, 12].map((number) => store.held(keyOf(number)) !== undefined)
  t.strictSame(held, [false, false, true, true], 'the last ten are held')
  t.equal(store.memoryBytes, 10 * (ENTRY_BYTES + 100))
})

t.test('concurrent requests share one load', async (t) => {
  const { newStore, keep } = await storeFixture(t)
  const content = await keep(newStore(), 1, 400_000)
  const store = newStore()
  const found = await Promise.all(Array.from({ length: 20 }, () => store.find(keyOf(1))))
  t.equal(new Set(found.map((pack) => pack?.body)).size, 1)
  t.ok(content.equals(found[0]?.body as Uint8Array))
})

t.test('concurrent requests for different answers do not', async (t) => {
  const { newStore, keep } = await storeFixture(t)
  const contents = [await keep(newStore(), 1, 1_000), await keep(newStore(), 2, 1_000)]
  const store = newStore()
  const found = await Promise.all([1, 2].map((number) => store.find(keyOf(number))))
  for (const [at, content] of contents.entries()) {
    t.ok(content.equals(found[at]?.body as Uint8Array))
  }
})

t.test(
  'the memory is limited: the least recently used answer is read from disk again',
  async (t) => {
    const { newStore, keep, pathOf } = await storeFixture(t)
    const store = newStore()
    for (const number of [1, 2, 3]) await keep(store, number, 400_000)
    const bodyOf = async (number: number) => (await store.find(keyOf(number)))?.body
    const [first, second] = [await bodyOf(1), await bodyOf(2)]
    t.equal(await bodyOf(1), first, 'in memory')
    await bodyOf(3)
    t.equal(await bodyOf(1), first, 'still in memory, because it was used after the second')
    t.not(await bodyOf(2), second, 'evicted')
    t.ok(await stat(pathOf(2)))
  },
)

t.test('a damaged answer is deleted and counts as missing', async (t) => {
  for (const bytes of [400_000, 3_000_000]) {
    const { newStore, keep, pathOf, names, lines } = await storeFixture(t)
    const damages = {
      'truncated at its end': () => truncate(pathOf(1), bytes - 1),
      'truncated to zero': () => truncate(pathOf(1), 0),
      'a bit of its first bytes': () => flip(pathOf(1), 10),
      'a bit of its checksums': () => flip(checksumsPath(pathOf(1)), 1),
      'a bit of the end of its checksums': async () => {
        const file = checksumsPath(pathOf(1))
        await flip(file, (await stat(file)).size - 1)
      },
    }
    for (const [name, damage] of Object.entries(damages)) {
      await keep(newStore(), 1, bytes)
      await damage()
      const store = newStore()
      t.equal(await store.find(keyOf(1)), undefined, `${name}, of ${bytes}`)
      t.strictSame(await names(), [])
      t.match(lines.at(-1), 'stored answer is damaged and is removed')
      const content = await keep(store, 1, bytes)
      const again = await store.find(keyOf(1))
      t.ok(again && (await readAll(again)).equals(content), 'the next one is intact')
    }
  }
})

t.test('damage inside a small answer is detected before anything is sent', async (t) => {
  const { newStore, keep, pathOf } = await storeFixture(t)
  await keep(newStore(), 1, 400_000)
  await flip(pathOf(1), 399_999)
  t.equal(await newStore().find(keyOf(1)), undefined)
})

t.test('damage further into a large answer ends it with an error and deletes it', async (t) => {
  const { newStore, keep, pathOf, names } = await storeFixture(t)
  const content = await keep(newStore(), 1, 3_000_000)
  const store = newStore()
  const good = await store.find(keyOf(1))
  t.ok(good && (await readAll(good)).equals(content), 'after a complete read')
  await sleep(10)
  await flip(pathOf(1), 2_500_000)
  const found = await store.find(keyOf(1))
  if (found === undefined || found.body instanceof Uint8Array) throw new Error('not a stream')
  let bytes = 0
  const read = async () => {
    for await (const chunk of found.body as AsyncIterable<Uint8Array>) bytes += chunk.byteLength
  }
  await t.rejects(read(), { name: 'DamagedPack' })
  t.ok(bytes <= 2_500_000)
  t.strictSame(await names(), [])
  t.equal(await store.find(keyOf(1)), undefined)
})

t.test(
  'an answer that was read completely is not checked again while its file is unchanged',
  async (t) => {
    const { newStore, keep, pathOf } = await storeFixture(t)
    const content = await keep(newStore(), 1, 3_000_000)
    const store = newStore()
    // A reader that knows the length does not read beyond the last byte.
    const readBytes = async () => {
      const found = await store.find(keyOf(1))
      if (found === undefined || found.body instanceof Uint8Array) throw new Error('not a stream')
      const chunks: Uint8Array[] = []
      let left = found.bytes
      for await (const chunk of found.body) {
        chunks.push(Buffer.from(chunk))
        left -= chunk.byteLength
        if (left === 0) break
      }
      return Buffer.concat(chunks)
    }
    t.ok((await readBytes()).equals(content))
    const { atime, mtime } = await stat(pathOf(1))
    await utimes(pathOf(1), atime, mtime)
    t.ok((await readBytes()).equals(content), 'and its state is recorded')
    await flip(pathOf(1), 2_500_000)
    await utimes(pathOf(1), atime, mtime)
    t.notOk(
      (await readBytes()).equals(content),
      "a change that keeps the file's time is not detected",
    )
  },
)

t.test('an answer that was not read to its end is checked again', async (t) => {
  const { newStore, keep, pathOf } = await storeFixture(t)
  await keep(newStore(), 1, 3_000_000)
  await flip(pathOf(1), 2_500_000)
  const store = newStore()
  const read = async (bytesMax: number) => {
    const { body } = (await store.find(keyOf(1))) ?? {}
    if (body === undefined || body instanceof Uint8Array) throw new Error('not a stream')
    let bytes = 0
    for await (const chunk of body) {
      bytes += chunk.byteLength
      if (bytes > bytesMax) break
    }
  }
  await read(1)
  await t.rejects(read(3_000_000), { name: 'DamagedPack' })
})

t.test('an unreadable answer counts as missing', async (t) => {
  const { newStore, pathOf } = await storeFixture(t)
  await mkdir(pathOf(1), { recursive: true })
  t.equal(await newStore().find(keyOf(1)), undefined)
})

t.test('beyond the limit of the disk the least recently used answers are deleted', async (t) => {
  const { newStore, keep, pathOf, names } = await storeFixture(t, { diskBytesMax: 1_000_000 })
  for (const number of [1, 2, 3]) await keep(newStore(), number, 300_000)
  const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000)
  await utimes(pathOf(1), hoursAgo(3), hoursAgo(3))
  await utimes(pathOf(2), hoursAgo(2), hoursAgo(9))
  await utimes(pathOf(3), hoursAgo(1), hoursAgo(1))
  // Uses count, also if later ones are answered from memory.
  const user = newStore()
  t.ok(await user.find(keyOf(1)))
  for (
    let waits = 0;
    waits < 200 && (await stat(pathOf(1))).atimeMs < Date.now() - 60_000;
    waits += 1
  )
    await sleep(10)
  await keep(newStore(), 4, 300_000)
  t.strictSame((await names()).toSorted(), [keyOf(1), keyOf(3), keyOf(4)])
  await keep(newStore(), 5, 900_000)
  t.strictSame(await names(), [keyOf(5)])
  await utimes(pathOf(5), hoursAgo(-1), hoursAgo(-1))
  await keep(newStore(), 6, 900_000)
  t.strictSame(await names(), [keyOf(6)], 'the newest is kept, whatever the clocks say')
})

t.test('a burst of answers does not exceed the limit of the disk', async (t) => {
  const { newStore, keep, names } = await storeFixture(t, { diskBytesMax: 1_000_000 })
  const store = newStore()
  for (let number = 1; number <= 12; number += 1) {
    await keep(store, number, 300_000)
    t.ok((await names()).length <= 3, `after ${number}`)
  }
})

t.test('an answer that is deleted during a read is read to its end', async (t) => {
  const { newStore, keep, names } = await storeFixture(t, { diskBytesMax: 3_500_000 })
  const content = await keep(newStore(), 1, 3_000_000)
  const store = newStore()
  const [found, left] = [await store.find(keyOf(1)), await store.find(keyOf(1))]
  await keep(newStore(), 2, 3_000_000)
  t.strictSame(await names(), [keyOf(2)])
  t.ok(found && (await readAll(found)).equals(content))
  if (left !== undefined && !(left.body instanceof Uint8Array)) {
    const chunks = left.body[Symbol.asyncIterator]()
    await chunks.next()
    await chunks.return?.()
  }
  t.equal(await store.find(keyOf(1)), undefined)
})

t.test('no answer is stored if the disk has too little space or the cache is off', async (t) => {
  const room = async (more: Partial<PackStoreOptions>) =>
    (await storeFixture(t, more)).newStore().canFit(1_000)
  t.equal(await room({}), true)
  t.equal(await room({ diskBytesFree: Number.MAX_SAFE_INTEGER }), false)
  t.equal(await room({ diskBytesMax: 0 }), false)
  const store = (await storeFixture(t)).newStore()
  t.equal(await store.canFit(1e15), false, 'an answer that is larger than the disk')
  t.equal(await store.canFit(1_000), true)
  store.noteFull()
  t.equal(await store.canFit(1_000), false, 'after one did not fit')
  const file = join(await temporaryFolder(t), 'file')
  await writeFile(file, '')
  t.equal(await room({ folder: join(file, 'packs') }), false, 'the folder cannot be created')
})

t.test('leftovers of a crash are deleted after an hour without changes', async (t) => {
  const { folder, newStore, keep, names, pathOf } = await storeFixture(t)
  await keep(newStore(), 1, 1_000)
  const old = [`${keyOf(2)}.7.part`, `${keyOf(2)}.7.part.sums`, `${keyOf(5)}.sums`]
  const young = `${keyOf(3)}.8.part`
  for (const name of [...old, young]) await writeFile(join(folder, name), 'half')
  const twoHoursAgo = new Date(Date.now() - 2 * 3_600_000)
  const leases = [6, 7].map((number) => `${keyOf(number)}.lease`)
  for (const lease of leases) await symlink('removed', join(folder, lease))
  await lutimes(join(folder, leases[0] ?? ''), twoHoursAgo, twoHoursAgo)
  for (const name of [...old, keyOf(1)]) {
    const path = name === keyOf(1) ? pathOf(1) : join(folder, name)
    await utimes(path, twoHoursAgo, twoHoursAgo)
  }
  await keep(newStore(), 4, 1_000)
  const left = [keyOf(1), young, keyOf(4), leases[1]]
  t.strictSame((await names()).toSorted(), left.toSorted())
})

t.test('after a sweep that took long, the next one waits fifty times as long', async (t) => {
  const { folder, newStore, keep, names } = await storeFixture(t)
  const { now } = Date
  t.teardown(() => {
    Date.now = now
  })
  const leftover = `${keyOf(9)}.7.part`
  const store = newStore()
  let clockMs = now() + 24 * 3_600_000
  /** Keeps an answer while each look at the clock takes this long; returns if it swept. */
  const sweepsAt = async (afterMs: number, lookMs: number) => {
    clockMs += afterMs
    await writeFile(join(folder, leftover), 'half')
    Date.now = () => (clockMs += lookMs)
    await keep(store, 1, 1_000)
    Date.now = now
    return !(await names()).includes(leftover)
  }
  await keep(newStore(), 2, 1_000)
  t.equal(await sweepsAt(0, 1_000), true)
  t.equal(await sweepsAt(30_000, 0), false)
  t.equal(await sweepsAt(500_000, 0), true)
  t.equal(await sweepsAt(6_000, 0), true)
})

t.test('the path of an answer is given only while its file is one that was checked', async (t) => {
  for (const bytes of [400_000, 3_000_000]) {
    const { newStore, keep, pathOf } = await storeFixture(t)
    const writer = newStore()
    const content = await keep(writer, 1, bytes)
    t.equal((await writer.find(keyOf(1)))?.file(), pathOf(1), 'the writer has checked it')
    const store = newStore()
    const found = await store.find(keyOf(1))
    t.equal(found?.file(), bytes > 1_000_000 ? undefined : pathOf(1), `before a read of ${bytes}`)
    if (found === undefined) throw new Error('not found')
    t.ok((await readAll(found)).equals(content))
    t.equal(found.file(), pathOf(1), 'after a complete read')
    await sleep(10)
    await flip(pathOf(1), 300_000)
    t.equal(found.file(), undefined, 'after a change')
    await rm(pathOf(1))
    t.equal(found.file(), undefined, 'after it was removed')
  }
})

t.test('an answer that was used just now is not deleted', async (t) => {
  const limits = { diskBytesMax: 1_000_000, graceMs: 60_000 }
  const { newStore, keep, names, pathOf } = await storeFixture(t, limits)
  for (const number of [1, 2]) await keep(newStore(), number, 900_000)
  t.equal((await names()).length, 2)
  const twoMinutesAgo = new Date(Date.now() - 120_000)
  await utimes(pathOf(1), twoMinutesAgo, twoMinutesAgo)
  await keep(newStore(), 3, 900_000)
  t.strictSame((await names()).toSorted(), [keyOf(2), keyOf(3)])
})

t.test('the oldest answers are deleted if other data fills the disk', async (t) => {
  const disk = await mountSmallDisk(t, 'size=4m')
  if (disk === undefined)
    return t.comment('skipped: a small disk cannot be mounted on this machine')
  const fixture = await storeFixture(t, {
    folder: join(disk.path, 'packs'),
    diskBytesFree: 2_097_152,
  })
  for (const number of [1, 2, 3]) {
    await fixture.keep(fixture.newStore(), number, 500_000)
    await sleep(20)
  }
  await fixture.newStore().evictToFit()
  t.equal((await fixture.names()).length, 3, 'the configured space is free')
  await disk.fill(1_300_000)
  await fixture.newStore().evictToFit()
  t.strictSame(await fixture.names(), [keyOf(3)])
  await fixture.newStore().evictToFit()
  t.strictSame(await fixture.names(), [keyOf(3)], 'no more than needed is deleted')
})
