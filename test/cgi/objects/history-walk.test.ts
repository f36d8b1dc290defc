/** Walks through a reader return what `git rev-list` prints, in a random history with merges. */

import { join } from 'node:path'
import t from 'tap'
import type { Repository } from '../../../cgi/objects/commit-changes.js'
import { lastCommitOf, pageOfHistory } from '../../../cgi/objects/history.js'
import { walkHistory, walkToChange } from '../../../cgi/objects/history-walk.js'
import { lastCommits } from '../../../cgi/objects/last-commits.js'
import { withObjects } from '../../../cgi/objects/objects.js'
import { findGit } from '../../../cgi/process/git.js'
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
const path = join(copy.path, '.git')
const ids = await writeMerges(copy)
const revList = async (...words: readonly string[]) =>
  (await copy.git('rev-list', ...words)).split('\n').filter(Boolean)

const inside = <T>(use: (repository: Repository) => Promise<T>) =>
  withObjects(ours, path, (objects) => use({ git: ours, path, objects }))

t.test('the first commits are listed in the order of git', async (t) => {
  for (const from of ids.slice(-5)) {
    const all = await revList(from)
    await inside(async ({ objects }) => {
      for (const count of [1, 7, 30, 500]) {
        const walked = await walkHistory(objects, from, count)
        const ids = walked?.map(({ id }) => id)
        t.strictSame(ids, all.slice(0, count), `${count} from ${from}`)
      }
    })
  }
  await inside(async ({ objects }) => {
    t.equal(await walkHistory(objects, '0'.repeat(40), 1), undefined, 'a missing commit')
  })
})

t.test('commits are counted from known counts of ancestors', async (t) => {
  for (const from of ids.slice(-12)) {
    const all = await revList(from)
    const page = await inside(async (repository) => {
      const { ids, total } = await pageOfHistory(repository, { from, offset: 0, limit: 3 })
      return { ids, total: await total() }
    })
    t.strictSame(page, { ids: all.slice(0, 3), total: all.length }, from)
  }
})

t.test('the last commit of a path is that of git, or is left to git', async (t) => {
  let walked = 0
  for (const from of ids.slice(-12)) {
    for (const file of [...FILES, 'd', 'absent']) {
      const [last] = await revList('--max-count=1', from, '--', file)
      const segments = file.split('/')
      await inside(async (repository) => {
        const found = await walkToChange(repository.objects, { from, segments })
        if (found !== undefined) t.equal(found, last, `${file} at ${from}`)
        walked += found === undefined ? 0 : 1
        t.equal(await lastCommitOf(repository, { from, file }), last)
      })
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
