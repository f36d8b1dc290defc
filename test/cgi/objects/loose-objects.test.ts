/** Loose objects are read with the bytes that git reads; the others are left to git. */

import { randomBytes } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { array, asyncProperty, assert as check, double, nat } from 'fast-check'
import t from 'tap'
import { LooseObjects } from '../../../cgi/objects/loose-objects.js'
import { readByGit } from '../../helpers/read-by-git.js'
import { newWorkingCopy, type WorkingCopy } from '../../helpers/working-copy.js'

const gitOf = ({ path }: WorkingCopy) => join(path, '.git')
const fileOf = (copy: WorkingCopy, id: string) =>
  join(gitOf(copy), 'objects', id.slice(0, 2), id.slice(2))
const readAlone = (copy: WorkingCopy, id: string) => new LooseObjects(gitOf(copy)).read(id)

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`objects of all types in ${format} are those of git`, async (t) => {
    const copy = await newWorkingCopy(t, format)
    const sizes = [0, 1, 57, 8_000, 262_144]
    for (const size of sizes) await copy.commit(`f${size}`, randomBytes(size))
    await copy.commit('text', 'line\n'.repeat(20_000))
    await copy.git('tag', '-m', 'A tag', 'v1')
    const listed = await copy.git('cat-file', '--batch-all-objects', '--batch-check=%(objectname)')
    const ids = listed.split('\n')
    t.equal(ids.length, 3 * (sizes.length + 1) + 1)
    for (const id of ids) t.strictSame(await readAlone(copy, id), await readByGit(gitOf(copy), id))
  })
}

t.test('missing, packed and large objects are left to git', async (t) => {
  const copy = await newWorkingCopy(t)
  const tip = await copy.commit('large', randomBytes(262_145))
  const large = await copy.git('rev-parse', 'HEAD:large')
  t.equal(await readAlone(copy, large), undefined, 'large')
  await writeFile(join(copy.path, 'zeros'), Buffer.alloc(262_145))
  const zeros = await copy.git('hash-object', '-w', 'zeros')
  t.equal(await readAlone(copy, zeros), undefined, 'large, in a short file')
  t.equal(await readAlone(copy, '0'.repeat(40)), undefined, 'missing')
  t.equal((await readAlone(copy, tip))?.type, 'commit')
  await copy.git('repack', '-a', '-d', '--quiet')
  t.equal(await readAlone(copy, tip), undefined, 'packed')
})

t.test('a request that reads more than 4 MiB leaves the rest to git', async (t) => {
  const copy = await newWorkingCopy(t)
  const names = Array.from({ length: 20 }, (_, at) => `f${at}`)
  for (const name of names) await writeFile(join(copy.path, name), randomBytes(250_000))
  const ids = (await copy.git('hash-object', '-w', ...names)).split('\n')
  const objects = new LooseObjects(gitOf(copy))
  const found = await Promise.all(ids.map((id) => objects.read(id)))
  t.equal(found.filter(Boolean).length, 16)
})

t.test('a request that reads more than 2,000 objects leaves the rest to git', async (t) => {
  const copy = await newWorkingCopy(t)
  const tip = await copy.commit('a')
  const objects = new LooseObjects(gitOf(copy))
  const found = await Promise.all(Array.from({ length: 2_010 }, () => objects.read(tip)))
  t.equal(found.filter(Boolean).length, 2_000)
})

t.test('an object with damaged bytes is left to git', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('a', 'some text\n'.repeat(30))
  const id = await copy.git('rev-parse', 'HEAD:a')
  const file = fileOf(copy, id)
  const right = await readFile(file)
  await chmod(file, 0o644)
  const damage = asyncProperty(
    array(double({ min: 0, max: 0.999, noNaN: true }), { minLength: 1 }),
    nat(254),
    async (places, change) => {
      const bytes = Buffer.from(right)
      const changed = new Set(places.map((place) => Math.floor(place * bytes.length)))
      for (const at of changed) bytes[at] = ((bytes[at] ?? 0) + 1 + change) % 256
      await writeFile(file, bytes)
      const found = await readAlone(copy, id)
      // Some bits of deflate's header change nothing.
      return found === undefined || found.content?.toString() === 'some text\n'.repeat(30)
    },
  )
  await t.resolves(check(damage, { numRuns: 200 }))
  for (let length = 0; length < right.length; length += 3) {
    await writeFile(file, right.subarray(0, length))
    t.equal(await readAlone(copy, id), undefined, `cut to ${length} bytes`)
  }
  await writeFile(file, await readFile(fileOf(copy, await copy.git('rev-parse', 'HEAD'))))
  t.equal(await readAlone(copy, id), undefined, 'another object')
})
