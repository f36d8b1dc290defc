/** Trees are listed recursively up to a limit. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { listTree } from '../../../cgi/objects/tree-listing.js'
import { findGit } from '../../../cgi/process/git.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

t.test('paths are listed with or without folders and up to the limit', async (t) => {
  const copy = await newWorkingCopy(t)
  await mkdir(join(copy.path, 'd'))
  for (const name of ['a\nb', 'd/ü', 'z']) await copy.commit(name)
  const tree = await copy.git('rev-parse', 'HEAD^{tree}')
  const paths = async (input: Parameters<typeof listTree>[3]) => {
    const { count, entries, isCut } = await listTree(ours, copy.path, tree, input)
    t.equal(count, entries().length)
    t.strictSame(entries(1, 2), entries().slice(1, 2), 'a page of the entries')
    return [entries().map(({ path }) => path), isCut]
  }
  t.strictSame(await paths({ entriesMax: 4 }), [['a\nb', 'd', 'd/ü', 'z'], false])
  t.strictSame(await paths({ entriesMax: 3 }), [['a\nb', 'd', 'd/ü'], true])
  const files = { entriesMax: 9, hasFolders: false }
  t.strictSame(await paths(files), [['a\nb', 'd/ü', 'z'], false])
  await t.rejects(listTree(ours, copy.path, 'HEAD', { entriesMax: 1 }), { message: /full id/ })
})

t.test('a listing ends if its paths exceed the length limit', async (t) => {
  const copy = await newWorkingCopy(t)
  const path = `${`${'n'.repeat(200)}/`.repeat(700)}f`
  const commit = 'commit refs/heads/deep\ncommitter A <a@b> 1 +0000\ndata 0\n'
  const input = `blob\nmark :1\ndata 1\nx\n${commit}M 100644 :1 ${path}\n\n`
  t.match(await copy.try(['fast-import', '--quiet'], { input }), { exitCode: 0 })
  const tree = await copy.git('rev-parse', 'deep^{tree}')
  const { isCut, count } = await listTree(ours, copy.path, tree, { entriesMax: 100_000 })
  t.equal(isCut, true)
  t.ok(count > 400 && count < 700, `${count} of 701 entries`)
})
