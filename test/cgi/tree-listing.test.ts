/** Whole trees are listed and counted up to a bound, and sizes are told without reading. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findGit } from '../../cgi/git.js'
import { hasMorePaths, listTree, readSizes } from '../../cgi/tree-listing.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

const ours = await findGit()

t.test('all paths, with folders or without, or cut', async (t) => {
  const copy = await newWorkingCopy(t)
  await mkdir(join(copy.path, 'd'))
  for (const name of ['a\nb', 'd/ü', 'z']) await copy.commit(name)
  const tree = await copy.git('rev-parse', 'HEAD^{tree}')
  const paths = async (wish: Parameters<typeof listTree>[3]) => {
    const { count, entries, isCut } = await listTree(ours, copy.path, tree, wish)
    t.equal(count, entries().length)
    t.strictSame(entries(1, 2), entries().slice(1, 2), 'a part')
    return [entries().map(({ path }) => path), isCut]
  }
  t.strictSame(await paths({ entriesMax: 4 }), [['a\nb', 'd', 'd/ü', 'z'], false])
  t.strictSame(await paths({ entriesMax: 3 }), [['a\nb', 'd', 'd/ü'], true])
  const files = { entriesMax: 9, hasFolders: false }
  t.strictSame(await paths(files), [['a\nb', 'd/ü', 'z'], false])
  t.equal(await hasMorePaths(ours, copy.path, tree, { entriesMax: 4 }), false)
  t.equal(await hasMorePaths(ours, copy.path, tree, { entriesMax: 3 }), true)
  const id = await copy.git('rev-parse', 'HEAD:z')
  const missing = '0'.repeat(40)
  const sizes = await readSizes(ours, copy.path, [id, missing, id])
  t.strictSame([...sizes], [[id, 2]])
  t.equal((await readSizes(ours, copy.path, [])).size, 0)
  await t.rejects(listTree(ours, copy.path, 'HEAD', { entriesMax: 1 }), { message: /full id/ })
})
