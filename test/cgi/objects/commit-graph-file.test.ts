/** Commits in a commit-graph of git are those of the objects; damaged graphs are refused. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { hashesOf } from '../../../cgi/objects/changed-path-filters.js'
import { CommitGraphFile } from '../../../cgi/objects/commit-graph-file.js'
import { newWorkingCopy, type WorkingCopy } from '../../helpers/working-copy.js'

/** Commits changes of one file each, and a merge of three branches. */
async function writeHistory(copy: WorkingCopy): Promise<void> {
  await copy.commit('first')
  for (const name of ['one', 'two', 'three']) {
    await copy.git('checkout', '--quiet', '-b', name, 'main')
    await copy.commit(name)
  }
  await copy.git('checkout', '--quiet', 'main')
  await copy.commit('main')
  await copy.git('merge', '--quiet', '--no-edit', 'one', 'two', 'three')
  await copy.git('merge', '--quiet', '--no-edit', '--no-ff', '-s', 'ours', 'three')
  for (let at = 0; at < 20; at += 1) await copy.commit(`file-${at}`)
}

/** Writes and parses the graph of all commits, of which so many get filters. */
async function graphOf(copy: WorkingCopy, filters = 1_000): Promise<CommitGraphFile> {
  const args = ['--reachable', '--changed-paths', `--max-new-filters=${filters}`]
  await copy.git('commit-graph', 'write', ...args)
  return new CommitGraphFile(await readFile(join(copy.path, '.git/objects/info/commit-graph')))
}

async function readsCommits(t: Test, objectFormat: 'sha1' | 'sha256'): Promise<void> {
  const copy = await newWorkingCopy(t, objectFormat)
  await writeHistory(copy)
  const graph = await graphOf(copy)
  const lines = (await copy.git('log', '--all', '--format=%H %T %ct %P')).split('\n')
  t.equal(graph.count, lines.length)
  for (const line of lines) {
    const [id = '', tree, seconds, ...parents] = line.trim().split(' ')
    const position = graph.find(id)
    const expected = { id, tree, parents, committedAtMs: Number(seconds) * 1_000 }
    t.strictSame(position === undefined ? undefined : graph.commitAt(position), expected)
  }
  for (const digit of ['0', '7', 'f']) t.equal(graph.find(digit.repeat(40)), undefined)
}

for (const objectFormat of ['sha1', 'sha256'] as const) {
  t.test(`${objectFormat}: all commits are found with their parents`, (t) =>
    readsCommits(t, objectFormat),
  )
}

t.test('filters have the paths that git lists, and few others', async (t) => {
  const copy = await newWorkingCopy(t)
  for (let at = 0; at < 40; at += 1) {
    const input = `commit refs/heads/main\ncommitter A <a@b> ${at} +0000\ndata 0\n${
      at === 0 ? '' : 'from refs/heads/main^0\n'
    }M 100644 inline folder-${at % 5}/below/${'x'.repeat(at + 1)}\ndata 1\n${at % 10}\n`
    t.equal((await copy.try(['fast-import', '--quiet'], { input })).exitCode, 0)
  }
  const graph = await graphOf(copy)
  let [others, wrong] = [0, 0]
  const commits = (await copy.git('rev-list', 'main')).split('\n')
  const paths = (await copy.git('ls-tree', '-r', '-t', '--name-only', 'main')).split('\n')
  for (const id of commits) {
    const diff = ['diff-tree', '-r', '-t', '--root', '--no-commit-id', '--name-only', id]
    const changed = new Set((await copy.git(...diff)).split('\n'))
    for (const path of paths) {
      const [position, hashes] = [graph.find(id), hashesOf(path.split('/'))]
      const mayChange = graph.mayChange(position ?? -1, hashes ?? [0, 0])
      if (changed.has(path)) t.ok(mayChange, `${id} ${path}`)
      else if (mayChange) wrong += 1
      else others += 1
    }
  }
  t.ok(wrong < others / 20, `${wrong} of ${wrong + others} unchanged paths may have changed`)
})

t.test('a commit without a filter may change every path', async (t) => {
  const copy = await newWorkingCopy(t)
  for (const name of ['first', 'second', 'third']) await copy.commit(name)
  const graph = await graphOf(copy, 2)
  const without = [0, 1, 2].filter((position) => graph.mayChange(position, [1, 1]))
  t.equal(without.length, 1)
})

t.test('paths with other characters than ASCII, and the top folder, have no hashes', async (t) => {
  for (const segments of [['ä'], ['folder', '日本'], []]) t.equal(hashesOf(segments), undefined)
  t.equal(hashesOf(['a', 'b'])?.length, 2)
})

t.test('damaged graphs and graphs of another form are refused', async (t) => {
  const copy = await newWorkingCopy(t)
  await writeHistory(copy)
  await graphOf(copy)
  const bytes = await readFile(join(copy.path, '.git/objects/info/commit-graph'))
  for (let at = 0; at < bytes.length; at += 97) {
    const damaged = Buffer.from(bytes)
    damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at)
    t.throws(() => new CommitGraphFile(damaged), `byte ${at}`)
    t.throws(() => new CommitGraphFile(bytes.subarray(0, at)), `${at} bytes`)
  }
  await copy.git('commit-graph', 'write', '--reachable', '--split')
  await copy.commit('later')
  await copy.git('commit-graph', 'write', '--reachable', '--split=no-merge')
  const folder = join(copy.path, '.git/objects/info/commit-graphs')
  const chain = (await readFile(join(folder, 'commit-graph-chain'), 'utf8')).trim().split('\n')
  const top = await readFile(join(folder, `graph-${chain.at(-1)}.graph`))
  t.equal(chain.length, 2)
  t.throws(() => new CommitGraphFile(top), { message: 'a part of a chain' })
})
