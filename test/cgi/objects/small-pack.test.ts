/** Packs of few objects: git accepts them, and they have what one commit has and another lacks. */

import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { withPacks } from '../../../cgi/objects/packed-objects.js'
import { type SmallContents, smallPack } from '../../../cgi/objects/small-pack.js'
import { objectsOf } from '../../helpers/fetch-answers.js'
import { conflictingTreeBombs } from '../../helpers/git-bombs.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy, type WorkingCopy } from '../../helpers/working-copy.js'

type Pairs = SmallContents['pairs']

const LIMITS = { objectsMax: 100, bytesMax: 100_000 }

const make = (copy: WorkingCopy, pairs: Pairs, limits: Partial<SmallContents> = {}) =>
  withPacks(join(copy.path, '.git'), (packs) => smallPack(packs, { pairs, ...LIMITS, ...limits }))

/** Returns the objects of a commit that the others do not have, as git lists them. */
async function listByGit(copy: WorkingCopy, commit: string, other?: string) {
  const without = other === undefined ? [] : [`^${other}`]
  const args = ['rev-list', '--objects', '--no-object-names', '--no-walk', commit, ...without]
  return (await copy.git(...args)).split('\n').toSorted()
}

/** Writes files, in folders that are created, and commits all. */
async function commitFiles(copy: WorkingCopy, files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(join(copy.path, name, '..'), { recursive: true })
    await writeFile(join(copy.path, name), text)
  }
  await copy.git('add', '--all')
  await copy.git('commit', '--quiet', '-m', 'Change files')
  return await copy.git('rev-parse', 'HEAD')
}

const LINES = Array.from({ length: 300 }, (_, line) => `line ${line} ${line * line}`)

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`git reads a pack of whole objects and of former deltas in ${format}`, async (t) => {
    const [copy, folder] = [await newWorkingCopy(t, format), await temporaryFolder(t)]
    const files = { 'deep/er/file': 'x', 'deep/long': LINES.join('\n'), empty: '' }
    const first = await commitFiles(copy, files)
    await commitFiles(copy, { 'deep/long': [...LINES, 'one'].join('\n') })
    const tip = await commitFiles(copy, { 'deep/long': [...LINES, 'one', 'two'].join('\n') })
    await copy.git('repack', '-a', '-d', '-f', '--quiet')
    for (const commit of [first, tip]) {
      const pack = await make(copy, [[commit, undefined]])
      t.same([...(pack?.ids ?? [])].toSorted(), await listByGit(copy, commit))
      if (format === 'sha256') continue
      t.same(await objectsOf(pack?.bytes ?? Buffer.alloc(0), folder), await listByGit(copy, commit))
    }
    const bytes = (await make(copy, [[tip, first]]))?.bytes ?? Buffer.alloc(0)
    const { exitCode } = await copy.try(['index-pack', '--strict', '--stdin'], { input: bytes })
    t.equal(exitCode, 0, 'as git itself says')
  })
}

t.test('a pack has the trees and files that differ from those of the other commit', async (t) => {
  const [copy, folder] = [await newWorkingCopy(t), await temporaryFolder(t)]
  const first = await commitFiles(copy, {
    'same/file': 'same',
    'changed/kept': 'kept',
    'changed/file': 'one',
    'becomes-file/a': 'a',
    'becomes-folder': 'b',
    program: 'p',
  })
  await rm(join(copy.path, 'becomes-file'), { recursive: true })
  await rm(join(copy.path, 'becomes-folder'))
  await chmod(join(copy.path, 'program'), 0o755)
  // Git keeps a submodule that is not checked out if its folder exists.
  await mkdir(join(copy.path, 'module'))
  await copy.git('update-index', '--add', '--cacheinfo', `160000,${first},module`)
  const tip = await commitFiles(copy, {
    'changed/file': 'two',
    'becomes-file': 'new file',
    'becomes-folder/c': 'new folder',
  })
  await copy.git('repack', '-a', '-d', '--quiet')
  const pack = await make(copy, [[tip, first]])
  const expected = await listByGit(copy, tip, first)
  t.same(await objectsOf(pack?.bytes ?? Buffer.alloc(0), folder), expected)
  const both: Pairs = [
    [first, undefined],
    [tip, first],
  ]
  const all = [...(await listByGit(copy, first)), ...expected].toSorted()
  t.same([...((await make(copy, both))?.ids ?? [])].toSorted(), all)
  t.match(await copy.git('ls-tree', tip), /^160000 commit/m, 'with a submodule')
  t.same([...((await make(copy, [[tip, tip]]))?.ids ?? [])], [tip], 'nothing but the commit')
})

t.test('files of one folder at two places are compared with both former folders', async (t) => {
  const copy = await newWorkingCopy(t)
  const before = { 'one/a': 'a', 'one/b': 'former', 'two/a': 'former', 'two/b': 'b' }
  const first = await commitFiles(copy, before)
  const tip = await commitFiles(copy, { 'one/a': 'a', 'one/b': 'b', 'two/a': 'a', 'two/b': 'b' })
  await copy.git('repack', '-a', '-d', '--quiet')
  const { ids = new Set() } = (await make(copy, [[tip, first]])) ?? {}
  for (const file of ['one/a', 'one/b', 'two']) {
    const id = await copy.git('rev-parse', `${tip}:${file}`)
    t.equal(ids.has(id), true, file)
  }
})

t.test('packs with many or long objects, and unreadable objects, are left to git', async (t) => {
  const copy = await newWorkingCopy(t)
  const first = await commitFiles(copy, { a: 'a', b: 'b' })
  await copy.git('repack', '-a', '-d', '--quiet')
  const loose = await commitFiles(copy, { a: 'new' })
  t.equal((await make(copy, [[first, undefined]], { objectsMax: 4 }))?.ids.size, 4)
  t.equal(await make(copy, [[first, undefined]], { objectsMax: 3 }), undefined, 'many')
  t.equal(await make(copy, [[first, undefined]], { bytesMax: 20 }), undefined, 'long')
  t.equal(await make(copy, [[loose, first]]), undefined, 'loose')
  t.equal(await make(copy, [['1'.repeat(40), undefined]]), undefined, 'missing')
  const tree = await copy.git('rev-parse', `${first}^{tree}`)
  t.equal(await make(copy, [[tree, undefined]]), undefined, 'not a commit')
  t.equal(await make(copy, [[first, tree]]), undefined, 'compared with a tree')
})

t.test('a tree that names another one many times is read once', async (t) => {
  const copy = await newWorkingCopy(t)
  const { main } = await conflictingTreeBombs(copy, { width: 10, depth: 10 })
  await copy.git('update-ref', 'refs/heads/main', main)
  await copy.git('repack', '-a', '-d', '--quiet')
  const pack = await make(copy, [[main, undefined]])
  t.same([...(pack?.ids ?? [])].toSorted(), await listByGit(copy, main))
})

t.test('trees are compared up to a size', async (t) => {
  const copy = await newWorkingCopy(t)
  const blob = await copy.git('hash-object', '-w', '--stdin')
  const lines = Array.from({ length: 5_000 }, (_, at) => `100644 blob ${blob}\tfile-${at}\n`)
  const commits: string[] = []
  for (let at = 0; at < 15; at += 1) {
    const input = lines.toSpliced(at, 1).join('')
    const tree = (await copy.try(['mktree'], { input })).output
    commits.push(await copy.git('commit-tree', tree, '-m', 'x'))
  }
  await copy.git('update-ref', 'refs/heads/main', commits[0] ?? '')
  for (const [at, id] of commits.entries()) await copy.git('tag', `v${at}`, id)
  await copy.git('repack', '-a', '-d', '--quiet')
  const pairs = commits.map((id, at) => [id, commits[at - 1]] as const)
  const limits = { bytesMax: 10_000_000 }
  t.not(await make(copy, pairs.slice(0, 8), limits), undefined)
  t.equal(await make(copy, pairs, limits), undefined)
})
