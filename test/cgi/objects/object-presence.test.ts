/** An object is found in the places where git finds it, loose or packed. */

import { rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { hasBitmapOf, hasOwnObjects } from '../../../cgi/objects/object-presence.js'
import { git } from '../../helpers/git-client.js'
import { newWorkingCopy, writeHistory } from '../../helpers/working-copy.js'

t.test('objects are found while a repack writes and deletes indexes', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.commit('first')
  await copy.git('repack', '-adq')
  const folder = join(copy.path, '.git')
  const packs = join(folder, 'objects', 'pack')
  // Both names are listed, but cannot be opened, as if they had been deleted after the listing.
  await symlink('deleted', join(packs, `.tmp-1-pack-${'0'.repeat(40)}.idx`))
  await symlink('deleted', join(packs, `pack-${'0'.repeat(40)}.idx`))
  const oid = await copy.git('rev-parse', 'HEAD')
  t.equal(hasOwnObjects(folder, [oid]), true)
  t.equal(hasOwnObjects(folder, ['f'.repeat(40)]), false)
})

for (const objectFormat of ['sha1', 'sha256'] as const) {
  t.test(`${objectFormat}: objects are in a bitmap if they are in its packs`, async (t) => {
    const copy = await newWorkingCopy(t, objectFormat)
    await writeHistory(copy, { commits: 120 })
    const folder = join(copy.path, '.git')
    const [first, last, absent] = [
      await copy.git('rev-parse', 'HEAD~100'),
      await copy.git('rev-parse', 'HEAD'),
      'f'.repeat((await copy.git('rev-parse', 'HEAD')).length),
    ]
    await copy.git('repack', '-adq', '--no-write-bitmap-index')
    t.equal(hasBitmapOf(folder, [first]), false, 'without a bitmap')
    await copy.git('repack', '-adq', '--write-bitmap-index')
    const later = await copy.commit('later')
    await copy.git('repack', '-dq')
    const results = () => [[first], [last], [absent, last], [later, absent], []].map(isIn)
    const isIn = (oids: readonly string[]) => hasBitmapOf(folder, oids)
    t.strictSame(results(), [true, true, true, false, false], 'a bitmap of one pack')
    await copy.git('repack', '-dq', '--geometric=2', '--write-midx', '--write-bitmap-index')
    t.strictSame(results(), [true, true, true, true, false], 'a bitmap of several packs')
    const many = Array.from({ length: 256 }, () => absent)
    t.strictSame([isIn([...many.slice(1), first]), isIn([...many, first])], [true, false], 'limit')
    await rm(join(folder, 'objects', 'pack', 'multi-pack-index'))
    t.strictSame(results(), [false, false, false, false, false], 'the index was deleted')
  })

  t.test(
    `${objectFormat}: existing objects are found, loose and packed, and missing ones are not`,
    async (t) => {
      const copy = await newWorkingCopy(t, objectFormat)
      await writeHistory(copy, { commits: 120 })
      const folder = join(copy.path, '.git')
      const oids = (
        await git(['rev-list', '--objects', '--all', '--no-object-names'], { cwd: folder })
      )
        .split('\n')
        .filter((oid) => oid !== '')
      t.ok(oids.length > 300)
      const absent = oids.map((oid) => `${oid.slice(0, -1)}${oid.endsWith('0') ? '1' : '0'}`)
      const missing = () => oids.filter((oid) => !hasOwnObjects(folder, [oid]))
      t.strictSame(missing(), [])
      await copy.git('repack', '-adq')
      t.strictSame(missing(), [])
      await copy.commit('later')
      await copy.git('repack', '-dq')
      t.ok(
        hasOwnObjects(folder, [await copy.git('rev-parse', 'HEAD')]),
        'found in one of several packs',
      )
      await copy.commit('loose')
      const all = [
        ...oids,
        await copy.git('rev-parse', 'HEAD'),
        await copy.git('rev-parse', 'HEAD~'),
      ]
      t.equal(hasOwnObjects(folder, all), true, 'in two packs and loose')
      for (const oid of absent.slice(0, 9)) t.equal(hasOwnObjects(folder, [...all, oid]), false)
      t.equal(hasOwnObjects(folder, []), true)
      t.strictSame(
        absent.filter((oid) => hasOwnObjects(folder, [oid])),
        [],
      )
    },
  )
}
