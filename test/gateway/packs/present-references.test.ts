/** The list of refs follows the files of a repository directly after a change, without git. */

import { readFileSync, renameSync, type Stats, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { git as runGit } from '../../helpers/git-client.js'
import { replaceStats } from '../../helpers/mounts.js'
import { EVERYTHING, listBy, someLists } from '../../helpers/reference-lists.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

t.test('a short packed-refs is compared directly after it was written', async (t) => {
  const path = join(await temporaryFolder(t), 'one.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  const server = (...args: readonly string[]) => runGit(args, { cwd: path })
  const copy = await newWorkingCopy(t)
  let commits = 0
  const push = async (...names: readonly string[]) => {
    commits += 1
    const id = await copy.commit(`number ${commits}`)
    await copy.git('push', '--quiet', path, ...names)
    return id
  }
  const { asked, get, followed } = await someLists(t, async (_question, body) => {
    return await listBy(path, body)
  })
  const first = await push('main', 'main:a/topic', 'main:z')
  await get(path)
  const asksOfStart = asked.length
  const isFollowed = async (name: string) => {
    const expected = (await listBy(path)).toString()
    t.equal(followed(path)?.answer(EVERYTHING).toString(), expected, name)
  }
  await server('pack-refs', '--all')
  await isFollowed('refs that only moved into the file')
  await push('main:a/topic')
  await server('pack-refs', '--all')
  await isFollowed('a branch that was pushed and packed')
  await server('update-ref', 'refs/heads/z', first)
  await push('main')
  await isFollowed('loose branches over packed ones')
  t.equal(asked.length, asksOfStart)
  await server('update-ref', '-d', 'refs/heads/a/topic')
  t.equal(followed(path), undefined, 'a deleted branch')
  await get(path)
  await server('config', 'transfer.hideRefs', 'refs/heads/z')
  await get(path)
  await server('pack-refs', '--all')
  t.equal(followed(path), undefined, 'settings that hide refs')
  await server('config', '--unset', 'transfer.hideRefs')
  await get(path)
  await server('symbolic-ref', 'HEAD', 'refs/heads/z')
  await server('pack-refs', '--all')
  t.equal(followed(path), undefined, 'another default branch')
})

const TICK_MS = 20

/** Rounds times as on a file system whose clock has ticks of 20 ms; some have ticks of 10 ms. */
function roundTime(stats: Stats): Stats {
  return Object.assign(stats, { ctimeMs: stats.ctimeMs - (stats.ctimeMs % TICK_MS) })
}

interface ChangesOfTick {
  readonly prepare: () => void
  readonly changes: readonly (() => void)[]
  /** Returns the time of the last change. */
  readonly timeOf: () => number
}

/** Makes changes until all are made in one tick of the clock. */
function inOneTick({ prepare, changes, timeOf }: ChangesOfTick): void {
  for (let times = new Set<number>(); times.size !== 1; ) {
    prepare()
    times = new Set()
    // The kernel's own clock may be some milliseconds late.
    while (Date.now() % TICK_MS !== TICK_MS / 2);
    for (const change of changes) {
      change()
      times.add(timeOf())
    }
  }
}

for (const [kind, isDirect] of [
  ['loose', true],
  ['loose', false],
  ['packed', true],
  ['packed', false],
] as const) {
  const when = isDirect ? 'directly' : 'later'
  t.test(`two changes of ${kind} refs in one tick of the clock are seen ${when}`, async (t) => {
    const path = join(await temporaryFolder(t), 'one.git')
    await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha1' })
    const copy = await newWorkingCopy(t)
    const ids = [await copy.commit('one'), await copy.commit('two'), await copy.commit('three')]
    await copy.git('push', '--quiet', path, 'main')
    const [first = '', second = '', third = ''] = ids
    await runGit(['update-ref', 'refs/heads/main', first], { cwd: path })
    await runGit(['pack-refs', '--all'], { cwd: path })
    const packed = join(path, 'packed-refs')
    const header = readFileSync(packed, 'utf8').replace(/\n.*/s, '')
    const main = join(path, 'refs/heads/main')
    const write = (oid: string) => {
      if (kind === 'packed') writeFileSync(packed, `${header}\n${oid} refs/heads/main\n`)
      else {
        writeFileSync(`${main}.lock`, `${oid}\n`)
        renameSync(`${main}.lock`, main)
      }
    }
    const { get, followed } = await someLists(t, async (_question, body) => {
      return await listBy(path, body)
    })
    await get(path)
    t.teardown(replaceStats(roundTime))
    const file = kind === 'packed' ? packed : join(path, 'refs/heads')
    inOneTick({
      prepare() {
        write(first)
        followed(path)
      },
      changes: [
        () => {
          write(second)
          t.ok(followed(path)?.areTips([second]))
        },
        () => write(third),
      ],
      timeOf: () => statSync(file).ctimeMs,
    })
    if (isDirect) t.ok(followed(path)?.areTips([third]), 'directly after both')
    t.ok((await get(path))?.references.areTips([third]), 'in the settled state')
  })
}

for (const [prefix, name] of [
  ['refs/heads/b', 'list'],
  ['refs/hidden', 'packed-refs'],
] as const) {
  t.test(`a long ${name} is not compared directly after packed-refs was written`, async (t) => {
    const path = join(await temporaryFolder(t), 'one.git')
    await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha1' })
    const copy = await newWorkingCopy(t)
    const id = await copy.commit('one')
    await copy.git('push', '--quiet', path, 'main')
    const updates = Array.from({ length: 1_300 }, (_, at) => `update ${prefix}/${at} ${id}\n`)
    await runGit(['update-ref', '--stdin'], { cwd: path, input: updates.join('') })
    const pack = () => runGit(['pack-refs', ...(name === 'list' ? [] : ['--all'])], { cwd: path })
    await pack()
    const { get, followed } = await someLists(t, async (_question, body) => {
      return await listBy(path, body)
    })
    await get(path)
    await pack()
    t.equal(followed(path), undefined)
  })
}
