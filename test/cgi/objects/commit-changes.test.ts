/** Changes of many commits are read together, each relative to its first parent. */

import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { isBounded, readChanges } from '../../../cgi/objects/commit-changes.js'
import { parseCommit } from '../../../cgi/objects/commit-object.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import { git } from '../../helpers/git-client.js'
import { cloneInto, newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

t.test(
  "files and line counts of each commit are read, whatever the files' names are",
  async (t) => {
    const copy = await newWorkingCopy(t)
    const odd = `${'a'.repeat(40)}`
    const first = await copy.commit(odd, 'one\n')
    const second = await copy.commit('./:x\ty', 'one\ntwo\n')
    await copy.git('mv', odd, 'moved')
    await copy.git('commit', '--quiet', '-m', 'Move')
    const third = await copy.git('rev-parse', 'HEAD')
    const tree = await copy.git('rev-parse', 'HEAD^{tree}')
    const fourth = await git(['commit-tree', tree, '-p', third, '-m', 'x'], { cwd: copy.path })
    const binary = await copy.commit('b', new Uint8Array([0, 1, 2]))
    const ids = [binary, fourth, third, second, first]
    await withObjects(ours, copy.path, async (objects) => {
      const repository = { git: ours, path: copy.path, objects }
      const commits = await Promise.all(
        ids.map(async (id) =>
          parseCommit(id, (await objects.read(id))?.content ?? Buffer.alloc(0)),
        ),
      )
      const changes = await readChanges(repository, { commits, hasLines: true })
      t.strictSame([...changes.keys()], ids)
      t.strictSame(changes.get(first), {
        files: [{ path: odd, status: 'added' }],
        lines: { additions: 1, deletions: 0 },
      })
      const added = [{ path: ':x\ty', status: 'added' }]
      t.match(changes.get(second), { lines: { additions: 2 }, files: added })
      t.strictSame(changes.get(third)?.files, [
        { path: odd, status: 'removed' },
        { path: 'moved', status: 'added' },
      ])
      t.strictSame(changes.get(fourth), { files: [], lines: { additions: 0, deletions: 0 } })
      t.match(changes.get(binary), { lines: { additions: 0 }, files: [{ path: 'b' }] })
      const alone = await readChanges(repository, { commits, hasLines: false })
      t.match(alone.get(second), { lines: undefined, files: added })
      t.equal((await readChanges(repository, { commits: [], hasLines: true })).size, 0)
    })
  },
)

t.test('the changes of a commit are read once per repository', async (t) => {
  const copy = await newWorkingCopy(t)
  const id = await copy.commit('a', 'one\n')
  const tree = await copy.git('rev-parse', 'HEAD^{tree}')
  const other = await cloneInto(t, copy.path)
  const read = (path: string, hasLines: boolean) =>
    withObjects(ours, path, (objects) =>
      readChanges({ git: ours, path, objects }, { commits: [{ id, tree, parents: [] }], hasLines }),
    )
  const files = [{ path: 'a', status: 'added' }]
  const lines = { additions: 1, deletions: 0 }
  t.strictSame((await read(copy.path, false)).get(id), { files, lines: undefined })
  t.strictSame(
    (await read(copy.path, true)).get(id),
    { files, lines },
    'lines were not read before',
  )
  for (const path of [copy.path, other.path]) {
    await rm(join(path, '.git', 'objects'), { recursive: true })
    await mkdir(join(path, '.git', 'objects'))
  }
  t.strictSame((await read(copy.path, true)).get(id), { files, lines })
  t.strictSame((await read(copy.path, false)).get(id), { files, lines: undefined })
  t.strictSame(
    (await read(other.path, false)).get(id)?.files,
    [],
    'the other repository has its own cache',
  )
})

t.test('a commit with more changed files than the limit is left out', async (t) => {
  const copy = await newWorkingCopy(t)
  const blob = await git(['hash-object', '-w', '--stdin'], { cwd: copy.path, input: 'x' })
  const many = Array.from({ length: 300 }, (_, at) => at)
  const mktree = (entry: string) =>
    git(['mktree'], { cwd: copy.path, input: many.map((at) => `${entry}\t${at}\n`).join('') })
  const tree = await mktree(`040000 tree ${await mktree(`100644 blob ${blob}`)}`)
  const id = await copy.git('commit-tree', '-m', 'x', tree)
  const commit = { id, tree, parents: [] }
  await withObjects(ours, copy.path, async (objects) => {
    const repository = { git: ours, path: copy.path, objects }
    t.equal((await readChanges(repository, { commits: [commit], hasLines: true })).size, 0)
    t.equal(await isBounded(objects, commit), false)
    t.equal(await isBounded(objects, { ...commit, parents: [commit.id] }), true)
  })
})
