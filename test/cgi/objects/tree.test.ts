/** Trees of a commit are parsed as git writes them, and paths are resolved in them. */

import { symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findEntry, modeOf, parseTree, pathSegments, readTree } from '../../../cgi/objects/tree.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import { git } from '../../helpers/git-client.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`a tree of ${format} lists what git ls-tree lists`, async (t) => {
    const copy = await newWorkingCopy(t, format)
    const commit = await copy.commit('plain ☃')
    await writeFile(join(copy.path, 'script'), 'x', { mode: 0o755 })
    await symlink('plain ☃', join(copy.path, 'link'))
    await copy.git('add', '.')
    await copy.git('update-index', '--add', '--cacheinfo', `160000,${commit},module`)
    const inner = await git(['hash-object', '-w', '--stdin'], { cwd: copy.path, input: 'deep' })
    await copy.git('update-index', '--add', '--cacheinfo', `100644,${inner},a/b/c`)
    const tree = await copy.git('write-tree')
    const listed = (await copy.git('-c', 'core.quotePath=false', 'ls-tree', tree)).split('\n')
    await withObjects(ours, copy.path, async (objects) => {
      const entries = await readTree(objects, tree)
      const kinds = { file: 'blob', symlink: 'blob', directory: 'tree', submodule: 'commit' }
      t.strictSame(
        entries.map(({ mode, kind, id, name }) => `${mode} ${kinds[kind]} ${id}\t${name}`),
        listed,
      )
      t.match(await findEntry(objects, tree, ['a', 'b', 'c']), { kind: 'file', id: inner })
      t.match(await findEntry(objects, tree, []), { kind: 'directory', id: tree })
      t.match(await findEntry(objects, tree, ['link']), { kind: 'symlink' })
      for (const path of [['a', 'x'], ['script', 'x'], ['link', 'x'], ['module', 'x'], ['A']]) {
        t.equal(await findEntry(objects, tree, path), undefined, path.join('/'))
      }
    })
  })
}

t.test('a path is split into segments and an invalid one is refused', async (t) => {
  t.strictSame(pathSegments(''), [])
  t.strictSame(pathSegments('//'), [])
  t.strictSame(pathSegments('/a/b/'), ['a', 'b'])
  t.strictSame(pathSegments('--output=x'), ['--output=x'])
  t.strictSame(pathSegments('.git/..x'), ['.git', '..x'])
  for (const text of ['a//b', 'a/../b', '..', '.', './a', 'a\0b', 'x/'.repeat(3_000)]) {
    t.equal(pathSegments(text), undefined, JSON.stringify(text.slice(0, 20)))
  }
})

t.test('a truncated tree is parsed as far as possible', async (t) => {
  const id = 'a'.repeat(40)
  const entry = Buffer.concat([Buffer.from('40000 x\0'), Buffer.alloc(20, 1)])
  const [one] = parseTree({ id, content: entry })
  t.match(one, { mode: '040000', kind: 'directory', name: 'x', id: '01'.repeat(20) })
  for (let cut = 1; cut < entry.length; cut += 1) {
    t.strictSame(parseTree({ id, content: entry.subarray(0, cut) }), [], `${cut}`)
  }
  t.equal(parseTree({ id, content: Buffer.concat([entry, entry]) }).length, 2)
  t.equal(modeOf('100664').kind, 'file')
  t.throws(() => parseTree({ id, content: undefined }), { message: 'The folder is too large.' })
})
