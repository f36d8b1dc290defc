/** Differences of two trees are those that git finds; too many are not listed. */

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { changedPaths, differingEntries } from '../../../cgi/objects/tree-changes.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

t.test('the changes of two trees equal those of git diff-tree', async (t) => {
  const copy = await newWorkingCopy(t)
  for (const folder of ['d/e', 'gone', 'becomes'])
    await mkdir(join(copy.path, folder), { recursive: true })
  for (const name of ['a', 'd/e/f', 'gone/x', 'gone/y', 'becomes/z', 'file'])
    await copy.commit(name)
  const before = await copy.git('rev-parse', 'HEAD^{tree}')
  for (const name of ['gone', 'becomes', 'file'])
    await rm(join(copy.path, name), { recursive: true })
  await mkdir(join(copy.path, 'file'))
  for (const name of ['becomes', 'file/n', 'd/e/new']) await copy.commit(name)
  await copy.commit('d/e/f', 'changed')
  await copy.git('add', '--all')
  await copy.git('update-index', '--chmod=+x', 'a')
  await copy.git('commit', '--quiet', '-m', 'x')
  const after = await copy.git('rev-parse', 'HEAD^{tree}')
  const said = await copy.git('diff-tree', '-r', '--no-renames', '--name-status', before, after)
  const letters = { added: 'A', removed: 'D', modified: 'M' }
  await withObjects(ours, copy.path, async (objects) => {
    const all = await changedPaths(objects, { before, after }, { entries: 100 })
    const listed = all?.map(({ path, status }) => `${letters[status]}\t${path}`)
    t.strictSame(listed, said.split('\n'))
    const fresh = await changedPaths(objects, { before: undefined, after }, { entries: 100 })
    t.strictSame(
      fresh?.map(({ status }) => status),
      Array(5).fill('added'),
    )
    t.strictSame(await changedPaths(objects, { before, after: before }, { entries: 0 }), [])
    t.equal(await changedPaths(objects, { before, after }, { entries: 3 }), undefined)
    const names = (await differingEntries(objects, { before, after })).map(
      ([a, b]) => (b ?? a)?.name,
    )
    t.strictSame(names, ['a', 'becomes', 'd', 'file', 'gone'])
  })
})
