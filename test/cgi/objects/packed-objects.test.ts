/** Objects that are read from packs have the bytes that git reads; the others are left to git. */

import { randomBytes } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { array, asyncProperty, assert as check, double, nat } from 'fast-check'
import t from 'tap'
import type { GitObject } from '../../../cgi/objects/cat-file.js'
import { type PackedObject, PackedObjects } from '../../../cgi/objects/packed-objects.js'
import { readByGit } from '../../helpers/read-by-git.js'
import { newWorkingCopy, type WorkingCopy } from '../../helpers/working-copy.js'

const gitOf = ({ path }: WorkingCopy) => join(path, '.git')
const packsOf = (copy: WorkingCopy) => join(gitOf(copy), 'objects', 'pack')

/** Opens all packs for `use`. */
async function usePacks<T>(copy: WorkingCopy, use: (objects: PackedObjects) => Promise<T>) {
  const names = (await readdir(packsOf(copy))).filter((name) => name.endsWith('.pack'))
  const objects = new PackedObjects(gitOf(copy), new Set(names))
  return await use(objects).finally(() => objects.close())
}

/** Reads an object from the packs in a request of its own. */
const readAlone = (copy: WorkingCopy, id: string) =>
  usePacks(copy, (packs) => objectOf(packs.read(id)))

async function objectOf(reading: Promise<PackedObject | undefined>) {
  return (await reading)?.object
}

async function idsOf(copy: WorkingCopy): Promise<readonly string[]> {
  const format = '--batch-check=%(objectname)'
  return (await copy.git('cat-file', '--batch-all-objects', format)).split('\n')
}

/** Commits versions of a long file and of a folder with many files, so that deltas are long. */
async function writeVersions(copy: WorkingCopy, versions: number): Promise<void> {
  const lines = Array.from({ length: 400 }, () => randomBytes(20).toString('hex'))
  for (let version = 0; version < versions; version += 1) {
    lines[(version * 37) % lines.length] = `version ${version}`
    await writeFile(join(copy.path, `file-${version}`), `${version}`)
    await copy.git('add', '.')
    await copy.commit('long', lines.join('\n'))
  }
}

const DELTAS = {
  'deltas by offset': ['-c', 'repack.useDeltaBaseOffset=true'],
  'deltas by id': ['-c', 'repack.useDeltaBaseOffset=false'],
} as const

for (const format of ['sha1', 'sha256'] as const) {
  for (const [kind, config] of Object.entries(DELTAS)) {
    t.test(`all objects of two packs are read in ${format}, with ${kind}`, async (t) => {
      const copy = await newWorkingCopy(t, format)
      await writeVersions(copy, 12)
      await copy.git('tag', '-m', 'A tag', 'v1')
      await copy.git(...config, 'repack', '-a', '-d', '-f', '--depth=50', '--window=50', '--quiet')
      await copy.commit('empty', '')
      await copy.commit('random', randomBytes(200_000))
      await copy.git(...config, 'repack', '-d', '--quiet')
      const ids = await idsOf(copy)
      const deltas = (await copy.git('verify-pack', '-v', ...(await indexesOf(copy))))
        .split('\n')
        .filter((line) => /^[0-9a-f]+ \S+ +\d+ \d+ \d+ \d+ /.test(line))
      t.ok(deltas.length > 10, 'the packs have deltas')
      const expected = await Promise.all(ids.map((id) => readByGit(gitOf(copy), id)))
      const found = await usePacks(copy, (packs) =>
        Promise.all(ids.map((id) => objectOf(packs.read(id)))),
      )
      t.strictSame(found, expected)
      const infos = await usePacks(copy, (packs) =>
        Promise.all(ids.map((id) => objectOf(packs.readInfo(id)))),
      )
      t.strictSame(
        infos,
        expected.map((object) => object && { ...object, content: undefined }),
      )
    })
  }
}

async function indexesOf(copy: WorkingCopy): Promise<readonly string[]> {
  const names = (await readdir(packsOf(copy))).filter((name) => name.endsWith('.idx'))
  return names.map((name) => join(packsOf(copy), name))
}

t.test('missing, loose and large objects, and those of many packs, are left to git', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('large', randomBytes(300_000))
  const tip = await copy.commit('a')
  const large = await copy.git('rev-parse', 'main:large')
  t.equal(await readAlone(copy, tip), undefined, 'loose')
  await copy.git('repack', '-a', '-d', '--quiet')
  t.equal((await readAlone(copy, tip))?.type, 'commit')
  t.equal(await readAlone(copy, '0'.repeat(40)), undefined, 'missing')
  t.equal(await readAlone(copy, large), undefined, 'large')
  const info = await usePacks(copy, (packs) => objectOf(packs.readInfo(large)))
  t.match(info, { type: 'blob', sizeBytes: 300_000, content: undefined })
  for (let packs = 0; packs < 16; packs += 1) {
    await copy.commit('a', `${packs}`)
    await copy.git('repack', '-d', '--quiet')
  }
  t.equal(await readAlone(copy, tip), undefined, 'many packs')
})

/** Commits twenty files of 250 kB in one pack; returns their ids. */
async function writeLongFiles(copy: WorkingCopy): Promise<readonly string[]> {
  for (let at = 0; at < 20; at += 1) {
    await writeFile(join(copy.path, `f${at}`), randomBytes(250_000))
  }
  await copy.git('add', '.')
  const tip = await copy.commit('a')
  await copy.git('repack', '-a', '-d', '--quiet')
  return (await copy.git('ls-tree', '--format=%(objectname)', tip)).split('\n')
}

t.test('a request that reads more than 4 MiB leaves the rest to git', async (t) => {
  const copy = await newWorkingCopy(t)
  const ids = await writeLongFiles(copy)
  const found = await usePacks(copy, (packs) =>
    Promise.all(ids.map((id) => objectOf(packs.read(id)))),
  )
  t.equal(found.filter((object) => object?.sizeBytes === 250_000).length, 16)
  t.equal((await readAlone(copy, ids.at(-1) ?? ''))?.type, 'blob', 'in another request')
})

t.test('all requests together hold at most 64 MiB until they are closed', async (t) => {
  const copy = await newWorkingCopy(t)
  const ids = await writeLongFiles(copy)
  const names = new Set((await readdir(packsOf(copy))).filter((name) => name.endsWith('.pack')))
  const open: PackedObjects[] = []
  let bytes = 0
  for (let found = 1; found > 0; ) {
    const packs = new PackedObjects(gitOf(copy), names)
    open.push(packs)
    const objects = await Promise.all(ids.map((id) => objectOf(packs.read(id))))
    found = objects.filter((object) => object !== undefined).length
    bytes += found * 250_000
  }
  // Beside the objects, the read parts of the pack are held.
  t.ok(bytes > 2 ** 24 && bytes < 2 ** 26, `${bytes} bytes`)
  t.equal(await readAlone(copy, ids[0] ?? ''), undefined)
  for (const packs of open) await packs.close()
  t.equal((await readAlone(copy, ids[0] ?? ''))?.type, 'blob')
})

t.test(
  'a request of 2,000 reads lets others have their turn, and leaves more to git',
  async (t) => {
    const copy = await newWorkingCopy(t)
    const tip = await copy.commit('a')
    await copy.git('repack', '-a', '-d', '--quiet')
    let turns = 0
    const interval = setInterval(() => {
      turns += 1
    })
    const ids = Array.from({ length: 2_010 }, () => tip)
    const found = await usePacks(copy, (packs) =>
      Promise.all(ids.map((id) => objectOf(packs.readInfo(id)))),
    )
    clearInterval(interval)
    t.equal(found.filter((object) => object?.id === tip).length, 2_000)
    t.ok(turns > 3, `${turns} turns of others`)
  },
)

t.test('an object behind more than 64 deltas is left to git', async (t) => {
  const copy = await newWorkingCopy(t)
  const lines = Array.from({ length: 200 }, () => randomBytes(20).toString('hex'))
  const blobs = Array.from({ length: 70 }, (_, version) => {
    const text = [...lines, `version ${version}`].join('\n')
    return `blob\ndata ${text.length}\n${text}\n`
  })
  // It makes a delta of each blob to the one before.
  const args = ['-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet', '--depth=100']
  await copy.try(args, { input: blobs.join('') })
  const listed = (await copy.git('verify-pack', '-v', ...(await indexesOf(copy)))).split('\n')
  const depths = listed.flatMap((line) => {
    const [, id, depth = '0'] = /^([0-9a-f]+) blob +\d+ \d+ \d+(?: (\d+) )?/.exec(line) ?? []
    return id === undefined ? [] : [{ id, depth: Number(depth) }]
  })
  t.equal(depths.length, 70)
  for (const { id, depth } of depths) {
    const expected = depth > 64 ? undefined : await readByGit(gitOf(copy), id)
    t.strictSame(await readAlone(copy, id), expected, `${depth} deltas`)
    const info = await usePacks(copy, (packs) => objectOf(packs.readInfo(id)))
    t.strictSame(info, expected && { ...expected, content: undefined })
  }
  t.ok(depths.some(({ depth }) => depth > 64))
})

t.test('damaged packs and indexes never give other bytes', async (t) => {
  const copy = await newWorkingCopy(t)
  await writeVersions(copy, 6)
  await copy.git('repack', '-a', '-d', '-f', '--quiet')
  const ids = await idsOf(copy)
  const objects = new Map<string, GitObject | undefined>()
  for (const id of ids) objects.set(id, await readByGit(gitOf(copy), id))
  const files = (await readdir(packsOf(copy))).filter((name) => /\.(?:pack|idx)$/.test(name))
  const originals = new Map<string, Buffer>()
  for (const name of files) originals.set(name, await readFile(join(packsOf(copy), name)))
  let refused = 0
  const damage = asyncProperty(
    nat({ max: files.length - 1 }),
    array(double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1 }),
    nat({ max: 255 }),
    async (file, places, byte) => {
      const name = files[file] ?? ''
      const path = join(packsOf(copy), name)
      const bytes = Buffer.from(originals.get(name) ?? [])
      for (const place of places) bytes[Math.floor(place * bytes.length)] = byte
      await writeFile(path, bytes)
      const found = await usePacks(copy, (packs) =>
        Promise.all(ids.map((id) => objectOf(packs.read(id)))),
      )
      await writeFile(path, originals.get(name) ?? '')
      for (const object of found) {
        if (object === undefined) refused += 1
        else t.strictSame(object, objects.get(object.id))
      }
    },
  )
  await check(damage, { numRuns: 60, seed: 7 })
  t.ok(refused > 0)
})

t.test('an index that gives the place of another object is not believed', async (t) => {
  const copy = await newWorkingCopy(t)
  const tip = await copy.commit('a')
  await copy.git('repack', '-a', '-d', '--quiet')
  const [path = ''] = await indexesOf(copy)
  const index = await readFile(path)
  const count = index.readUInt32BE(8 + 255 * 4)
  // After the header, the fanout, the ids and the checksums (gitformat-pack(5)).
  const offsets = index.subarray(8 + 256 * 4 + count * 24, 8 + 256 * 4 + count * 28)
  const moved = Buffer.concat([offsets.subarray(4), offsets.subarray(0, 4)])
  t.equal((await readAlone(copy, tip))?.id, tip)
  moved.copy(offsets)
  await writeFile(path, index)
  t.equal(await readAlone(copy, tip), undefined)
})

t.test('a read after the files were closed does not read those of others', async (t) => {
  const copy = await newWorkingCopy(t)
  const tip = await copy.commit('a')
  await copy.git('repack', '-a', '-d', '--quiet')
  const names = (await readdir(packsOf(copy))).filter((name) => name.endsWith('.pack'))
  const packs = new PackedObjects(gitOf(copy), new Set(names))
  t.equal((await objectOf(packs.read(tip)))?.id, tip)
  await packs.close()
  // These have the numbers of the closed files.
  const paths = names.flatMap((name) => [name.replace(/pack$/, 'idx'), name])
  const files = paths.map((name) => openSync(join(packsOf(copy), name), 'r'))
  const tree = await copy.git('rev-parse', `${tip}^{tree}`)
  t.equal(await packs.read(tree), undefined)
  for (const file of files) closeSync(file)
})
