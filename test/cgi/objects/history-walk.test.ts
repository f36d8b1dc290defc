/** Walks through a reader return what `git rev-list` prints, in a random history with merges. */

import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { hashesOf } from '../../../cgi/objects/changed-path-filters.js'
import type { Repository } from '../../../cgi/objects/commit-changes.js'
import { type CommitSource, openCommits } from '../../../cgi/objects/commit-source.js'
import { lastCommitOf, pageOfHistory } from '../../../cgi/objects/history.js'
import { walkHistory, walkToChange } from '../../../cgi/objects/history-walk.js'
import { lastCommits } from '../../../cgi/objects/last-commits.js'
import type { ObjectReader } from '../../../cgi/objects/objects.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import { tryGit } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy, type WorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

const COMMITS = 120
const FILES = ['a', 'b', 'd/e', 'd/f']

/** Writes a history with merges, equal times, and times before those of the parents. */
async function writeMerges(copy: WorkingCopy): Promise<readonly string[]> {
  let seed = 7
  const random = (max: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((seed / 2_147_483_648) * max)
  }
  const commands: string[] = []
  for (let at = 1; at <= COMMITS; at += 1) {
    const seconds = 1_700_000_000 + at * 10 + random(5) * 10 - 20
    const parent = at - 1 - random(Math.min(3, Math.max(0, at - 2)))
    const other = at > 10 && random(3) === 0 ? at - 4 - random(5) : 0
    commands.push(`commit refs/heads/c${at}\nmark :${at}\ncommitter A <a@b> ${seconds} +0000`)
    commands.push(`data 1\nx${at > 1 ? `\nfrom :${parent}` : ''}`)
    if (other > 0 && other !== parent) commands.push(`merge :${other}`)
    const file = FILES[random(FILES.length)]
    commands.push(`M 100644 inline ${file}\ndata 1\n${random(4)}`)
    if (at > 5 && random(8) === 0) commands.push('D b')
  }
  const input = `${commands.join('\n')}\n`
  const { exitCode } = await copy.try(['fast-import', '--quiet'], { input })
  if (exitCode !== 0) throw new Error('git fast-import failed')
  const tips = Array.from({ length: COMMITS }, (_, index) => `c${index + 1}`)
  return (await copy.git('rev-parse', ...tips)).split('\n')
}

const copy = await newWorkingCopy(t)
const ids = await writeMerges(copy)
const revList = async (...words: readonly string[]) =>
  (await copy.git('rev-list', ...words)).split('\n').filter(Boolean)

/** Copies the repository; with a graph, it has a commit-graph of all but the newest commits. */
async function copyOf(hasGraph: boolean): Promise<string> {
  const path = join(await temporaryFolder(t), 'copy.git')
  await cp(join(copy.path, '.git'), path, { recursive: true })
  if (!hasGraph) return path
  const args = ['commit-graph', 'write', '--stdin-commits', '--changed-paths']
  const input = `${ids.slice(0, -3).join('\n')}\n`
  const { exitCode } = await tryGit(args, { cwd: path, input })
  t.equal(exitCode, 0, 'the commit-graph is written')
  return path
}

const copies = [
  { name: 'without a commit-graph', path: await copyOf(false) },
  { name: 'with a commit-graph', path: await copyOf(true) },
]

/** Opens the commits of a repository without grafts. */
async function opened(path: string, objects: ObjectReader): Promise<CommitSource> {
  const source = await openCommits(path, objects)
  if (source === undefined) throw new Error(`${path} has grafts`)
  return source
}

/** Runs a test in both copies, because results are cached by the path of a repository. */
function inBothCopies(
  name: string,
  test: (t: Test, inside: <T>(use: Use<T>) => Promise<T>) => Promise<void>,
): void {
  for (const copy of copies) {
    const inside = <T>(use: Use<T>) =>
      withObjects(ours, copy.path, async (objects) => {
        const source = await opened(copy.path, objects)
        t.equal(source.hasGraph, copy.name.startsWith('with '))
        return use({ git: ours, path: copy.path, objects, source })
      })
    t.test(`${name}, ${copy.name}`, (t) => test(t, inside))
  }
}

type Use<T> = (repository: Repository & { readonly source: CommitSource }) => Promise<T>

inBothCopies('the first commits are listed in the order of git', async (t, inside) => {
  for (const from of ids.slice(-5)) {
    const all = await revList(from)
    await inside(async ({ source }) => {
      for (const count of [1, 7, 30, 90]) {
        const walked = await walkHistory(source, from, count)
        const ids = walked?.map(({ id }) => id)
        t.strictSame(ids, all.slice(0, count), `${count} from ${from}`)
      }
    })
  }
  await inside(async ({ source }) => {
    t.equal(await walkHistory(source, '0'.repeat(40), 1), undefined, 'a missing commit')
  })
})

inBothCopies('pages of commits and their counts are those of git', async (t, inside) => {
  for (const from of ids.slice(-6)) {
    const all = await revList(from)
    for (const offset of [0, 60]) {
      const page = await inside(async (repository) => {
        const { ids, total } = await pageOfHistory(repository, { from, offset, limit: 3 })
        return { ids, total: await total() }
      })
      const expected = { ids: all.slice(offset, offset + 3), total: all.length }
      t.strictSame(page, expected, `${from} from ${offset}`)
    }
  }
})

inBothCopies('commits that another one reaches are left out as by git', async (t, inside) => {
  for (const from of ids.slice(-5)) {
    for (const not of [from, ids[0], ids[50], ids.at(-3)]) {
      const all = await revList(from, `^${not}`)
      const page = await inside(async (repository) => {
        const { ids, total } = await pageOfHistory(repository, { from, not, offset: 0, limit: 5 })
        return { ids, total: await total() }
      })
      t.strictSame(page, { ids: all.slice(0, 5), total: all.length }, `${from} without ${not}`)
    }
  }
})

inBothCopies('the last commit of a path is that of git', async (t, inside) => {
  let walked = 0
  for (const from of ids.slice(-12)) {
    for (const file of [...FILES, 'd', 'absent']) {
      const [last] = await revList('--max-count=1', from, '--', file)
      const segments = file.split('/')
      await inside(async ({ objects, source }) => {
        const found = await walkToChange({ objects, source }, { from, segments })
        if (found !== undefined) t.equal(found, last, `${file} at ${from}`)
        walked += found === undefined ? 0 : 1
      })
      t.equal(await inside((repository) => lastCommitOf(repository, { from, file })), last)
    }
  }
  t.ok(walked > 40, `${walked} paths were walked`)
})

/** Merges a branch with a file of its own, whose commit counts, and not the merge. */
async function mergeSide(copy: WorkingCopy): Promise<void> {
  await copy.git('checkout', '--quiet', '-b', 'other', 'HEAD~2')
  await copy.commit('side')
  await copy.git('checkout', '--quiet', 'main')
  await copy.git('merge', '--quiet', '--no-edit', 'other')
}

t.test('last commits of a folder that are derived from an ancestor are those of git', async (t) => {
  const linear = await newWorkingCopy(t)
  const place = join(linear.path, '.git')
  for (let at = 0; at < 12; at += 1) {
    await linear.commit(`f${at % 4}`, `${at}`)
    if (at === 7) await linear.git('rm', '--quiet', 'f3')
    if (at === 7) await linear.git('commit', '--quiet', '-m', 'remove')
    if (at === 9) await mergeSide(linear)
    const from = await linear.git('rev-parse', 'HEAD')
    const names = new Set((await linear.git('ls-tree', '--name-only', 'HEAD')).split('\n'))
    const found = await withObjects(ours, place, (objects) =>
      lastCommits({ git: ours, path: place, objects }, { from, folder: [], names, isWhole: true }),
    )
    const expected = new Map<string, string>()
    for (const name of names) expected.set(name, await linear.git('log', '-1', '--format=%H', name))
    t.strictSame(new Map([...found].sort()), new Map([...expected].sort()), `commit ${at}`)
  }
})

async function firstOf<T>(values: readonly T[], isWanted: (value: T) => Promise<boolean>) {
  for (const value of values) if (await isWanted(value)) return value
  return undefined
}

inBothCopies('the last commits of folders are those of git', async (t, inside) => {
  for (const from of ids.slice(-5)) {
    for (const folder of [[], ['d']]) {
      const place = [from, ...folder].join(':')
      const listed = await copy.git('ls-tree', '--name-only', folder.length > 0 ? place : from)
      const names = new Set(listed.split('\n'))
      const found = await inside((repository) =>
        lastCommits(repository, { from, folder, names, isWhole: false }),
      )
      for (const name of names) {
        const file = [...folder, name].join('/')
        const log = await copy.git(
          'log',
          '--no-merges',
          '--full-history',
          '--format=%H',
          from,
          '--',
          file,
        )
        // Commits that delete the entry do not count.
        const last = await firstOf(
          log.split('\n'),
          async (id) => (await copy.try(['cat-file', '-e', `${id}:${file}`])).exitCode === 0,
        )
        t.equal(found.get(name), last, `${file} at ${from}`)
      }
    }
  }
})

t.test('old commits are found without git if they are in the commit-graph', async (t) => {
  const linear = await newWorkingCopy(t)
  const first = await linear.commit('old')
  const input = Array.from(
    { length: 250 },
    (_, at) =>
      `commit refs/heads/main\ncommitter A <a@b> ${2_000_000_000 + at} +0000\ndata 0\n` +
      `${at === 0 ? 'from refs/heads/main^0\n' : ''}M 100644 inline f${at}\ndata 1\nx\n`,
  ).join('')
  t.equal((await linear.try(['fast-import', '--quiet'], { input })).exitCode, 0)
  const from = await linear.git('rev-parse', 'main')
  const path = join(linear.path, '.git')
  const walk = () =>
    withObjects(ours, path, async (objects) => {
      const source = await opened(path, objects)
      return walkToChange({ objects, source }, { from, segments: ['old'] })
    })
  t.equal(await walk(), undefined)
  const args = ['commit-graph', 'write', '--stdin-commits']
  t.equal((await linear.try(args, { input: `${first}\n` })).exitCode, 0)
  const ancestors = await withObjects(ours, path, async (objects) => {
    const source = await opened(path, objects)
    t.equal(source.hasGraph, true)
    return await source.ancestorsOf(from)
  })
  t.equal(ancestors, undefined, 'too many commits are not in the graph')
  await linear.git('commit-graph', 'write', '--reachable', '--changed-paths')
  t.equal(await walk(), first)
})

t.test('walks of many commits let other requests have their turn', async (t) => {
  const long = await newWorkingCopy(t)
  const path = join(long.path, '.git')
  const commit = 'commit refs/heads/main\ncommitter A <a@b> 1 +0000\ndata 0\n'
  const input = commit.repeat(5_000)
  t.equal((await long.try(['fast-import', '--quiet'], { input })).exitCode, 0)
  await long.git('commit-graph', 'write', '--reachable', '--changed-paths')
  const from = await long.git('rev-parse', 'main')
  const first = await long.git('rev-list', '--max-parents=0', 'main')
  const hashes = hashesOf(['unchanged'])
  if (hashes === undefined) throw new Error('the path has no hashes')
  const walks: ReadonlyArray<readonly [unknown, (source: CommitSource) => Promise<unknown>]> = [
    [5_000, async (source) => (await source.ancestorsOf(from))?.count],
    [first, (source) => source.skipUnchanged(from, hashes)],
  ]
  for (const [expected, walk] of walks) {
    let turns = 0
    const found = await withObjects(ours, path, async (objects) => {
      const source = await opened(path, objects)
      const next = () => {
        turns += 1
        waiting = setImmediate(next)
      }
      let waiting = setImmediate(next)
      return await walk(source).finally(() => clearImmediate(waiting))
    })
    t.equal(found, expected)
    t.ok(turns >= 2, `${turns} turns of others`)
  }
})
