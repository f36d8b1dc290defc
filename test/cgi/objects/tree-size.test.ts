/** Paths of trees are counted without walking them. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { ObjectReader } from '../../../cgi/objects/objects.js'
import { areWalkable } from '../../../cgi/objects/tree-size.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import { commitTreeBomb } from '../../helpers/git-bombs.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

/** Wraps a reader that counts its reads. */
function counting(objects: ObjectReader): ObjectReader & { readonly reads: number } {
  let reads = 0
  return {
    readSizes: objects.readSizes,
    get reads() {
      return reads
    },
    read(...args) {
      reads += 1
      return objects.read(...args)
    },
  }
}

t.test(
  'a tree of ten nested levels with ten entries each takes ten reads and has ten billion paths',
  async (t) => {
    const copy = await newWorkingCopy(t)
    const commit = await commitTreeBomb(copy, { width: 10, depth: 10, content: 'x' })
    const after = await copy.git('rev-parse', `${commit}^{tree}`)
    await withObjects(ours, copy.path, async (reader) => {
      const objects = counting(reader)
      t.equal(await areWalkable(objects, [{ before: undefined, after }], 1e9), false)
      t.equal(objects.reads, 10)
      t.equal(await areWalkable(objects, [{ before: undefined, after }], 1.2e10), true)
      t.equal(await areWalkable(objects, [{ before: after, after }], 0), true)
    })
  },
)

t.test('paths of all pairs are counted together, and long paths count more', async (t) => {
  const copy = await newWorkingCopy(t)
  await mkdir(join(copy.path, 'd'))
  await copy.commit('d/one')
  const before = await copy.git('rev-parse', 'HEAD^{tree}')
  await copy.commit('d/two')
  await copy.commit('f'.repeat(250))
  const after = await copy.git('rev-parse', 'HEAD^{tree}')
  await withObjects(ours, copy.path, async (objects) => {
    // Paths: d, d/two and the long name, which is so long that it counts almost twice.
    const pair = { before, after }
    t.equal(await areWalkable(objects, [pair], 4), true)
    t.equal(await areWalkable(objects, [pair], 3), false)
    t.equal(await areWalkable(objects, [pair, pair], 8), true)
    t.equal(await areWalkable(objects, [pair, pair], 7), false)
    t.equal(await areWalkable(objects, [], 0), true)
  })
})

t.test('folders nested deeper than git reads are refused', async (t) => {
  const copy = await newWorkingCopy(t)
  const file = (depth: number) =>
    `blob\nmark :1\ndata 1\nx\ncommit refs/heads/deep\nmark :2\ncommitter A <a@b> 1 +0000\n` +
    `data 0\nM 100644 :1 ${'d/'.repeat(depth)}f\n\n`
  for (const [depth, isWalkable] of [
    [1_900, true],
    [2_100, false],
  ] as const) {
    const { exitCode, errorText } = await copy.try(['fast-import', '--quiet', '--force'], {
      input: file(depth),
    })
    t.equal(exitCode, 0, errorText)
    const after = await copy.git('rev-parse', 'deep^{tree}')
    await withObjects(ours, copy.path, async (objects) => {
      const pairs = [{ before: undefined, after }]
      t.equal(await areWalkable(objects, pairs, 1_000_000), isWalkable, String(depth))
    })
  }
})
