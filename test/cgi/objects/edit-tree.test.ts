/** Edits of a tree give the tree that git's index would give. */

import { join } from 'node:path'
import t, { type Test } from 'tap'
import { editTree } from '../../../cgi/objects/edit-tree.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

async function scene(t: Test) {
  const copy = await newWorkingCopy(t)
  const bare = join(copy.path, '.git')
  await copy.commit('f')
  const id = await copy.git('rev-parse', 'HEAD:f')
  const edit = (treeId: string | undefined, edits: Readonly<Record<string, string | undefined>>) =>
    withObjects(ours, bare, (objects) =>
      editTree(ours, bare, {
        objects,
        treeId,
        edits: Object.entries(edits).map(([path, mode]) => ({
          names: path.split('/'),
          entry: mode === undefined ? undefined : { mode, id },
        })),
      }),
    )
  const list = (treeId: string) =>
    copy.git('ls-tree', '-r', '-t', '--format=%(objectmode) %(path)', treeId)
  return { edit, list, copy, id }
}

t.test(
  'files are added, changed and removed, and folders that become empty are removed',
  async (t) => {
    const { edit, list } = await scene(t)
    const first = await edit(undefined, { 'a/b/c': '100644', 'a/d': '100755', e: '100644' })
    t.equal(await list(first), '040000 a\n040000 a/b\n100644 a/b/c\n100755 a/d\n100644 e')
    t.equal(await edit(first, {}), first)
    t.equal(await list(await edit(first, { 'a/b/c': undefined })), '040000 a\n100755 a/d\n100644 e')
    const none = await edit(first, { 'a/b/c': undefined, 'a/d': undefined, e: undefined })
    t.equal(await list(none), '')
    const turned = await edit(first, { e: undefined, 'e/f/g': '100644', 'a/b/c': '120000' })
    t.match(await list(turned), /^120000 a\/b\/c$/m)
    t.match(await list(turned), /^040000 e\n040000 e\/f\n100644 e\/f\/g$/m)
    t.equal(
      await edit(first, { 'x/y': undefined }),
      first,
      'removing a missing file changes nothing',
    )
  },
)

t.test('an edit that would make one path both a file and a folder is refused', async (t) => {
  const { edit } = await scene(t)
  const tree = await edit(undefined, { 'a/b': '100644', link: '120000' })
  const refused = (edits: Record<string, string | undefined>, message: string) =>
    t.rejects(edit(tree, edits), { failure: 'invalid', message })
  await refused(
    { a: '100644' },
    "a directory exists where you're trying to create a file [path: a]",
  )
  await refused(
    { a: undefined },
    "a directory exists where you're trying to create a file [path: a]",
  )
  await refused(
    { 'a/b/c': '100644' },
    "a file exists where you're trying to create a subdirectory [path: a/b]",
  )
  await refused(
    { 'link/x': '100644' },
    "a symbolic link exists where you're trying to create a subdirectory [path: link]",
  )
  await refused(
    { n: '100644', 'n/x': '100644' },
    "a file exists where you're trying to create a subdirectory [path: n]",
  )
})

t.test('a missing tree is an error and is not treated as empty', async (t) => {
  const { edit, id } = await scene(t)
  await t.rejects(edit('1'.repeat(40), { a: '100644' }), /is missing/)
  await t.rejects(edit(id, { a: '100644' }), /is missing/)
})
