/** Reachability of commits from tips, checked by git. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { checkReachability } from '../../../cgi/objects/reachability.js'
import { findGit, type Git } from '../../../cgi/process/git.js'
import { newWorkingCopy, type WorkingCopy } from '../../helpers/working-copy.js'

function checkIn({ path }: WorkingCopy, git: Git) {
  return (oids: readonly string[], tips: readonly string[]) =>
    checkReachability(git, path, { oids, tips })
}

t.test('a commit is reachable from itself and its descendants only', async (t) => {
  const [ours, copy] = [await findGit(), await newWorkingCopy(t)]
  const [first, second] = [await copy.commit('one'), await copy.commit('two')]
  await copy.git('checkout', '--quiet', '-b', 'side', first)
  const side = await copy.commit('side')
  const check = checkIn(copy, ours)
  t.strictSame(await check([first], [second]), { kind: 'reachable' })
  t.strictSame(await check([first, second], [side, second]), { kind: 'reachable' })
  t.strictSame(await check([second], [first]), { kind: 'unreachable', commit: second })
  t.strictSame(await check([first, side], [second]), { kind: 'unreachable', commit: side })
  t.strictSame(await check([first], []), { kind: 'unreachable', commit: first })
})

t.test('a missing object, a tag, and a file of an older commit are unknown', async (t) => {
  const [ours, copy] = [await findGit(), await newWorkingCopy(t)]
  const [first, second] = [await copy.commit('one'), await copy.commit('two')]
  const check = checkIn(copy, ours)
  await copy.git('tag', '-a', '-m', 'One', 'v1', first)
  const idOf = (name: string) => copy.git('rev-parse', name)
  const files = [await idOf(`${first}:one`), await idOf(`${second}:two`)]
  t.strictSame(await check(files, [second]), { kind: 'reachable' }, 'files of a tip')
  t.strictSame(await check([await idOf(`${second}^{tree}`)], [second]), { kind: 'reachable' })
  for (const name of ['v1', `${first}^{tree}`]) {
    t.strictSame(await check([await idOf(name)], [second]), { kind: 'unknown' }, name)
  }
  t.strictSame(await check(files, [first]), { kind: 'unknown' }, 'one of the files is newer')
  t.strictSame(await check([...files, second], [first]), { kind: 'unreachable', commit: second })
  const tag = await copy.git('rev-parse', 'v1')
  t.match(await check([tag], [first]), { kind: 'unknown' }, 'a tag of a reachable commit')
  t.strictSame(await check([tag], []), { kind: 'unreachable', commit: tag })
  t.strictSame(await check([second, tag], [first]), { kind: 'unreachable', commit: second })
  const commits = ['1'.repeat(40)]
  t.strictSame(await check(commits, [second]), { kind: 'unknown' })
})

t.test('a commit that only the last of thousands of tips reaches is reachable', async (t) => {
  const [ours, copy] = [await findGit(), await newWorkingCopy(t)]
  const first = await copy.commit('one')
  await copy.git('checkout', '--quiet', '--orphan', 'side')
  const [side, last] = [await copy.commit('two'), await copy.commit('three')]
  const check = checkIn(copy, ours)
  const tips = Array.from({ length: 2_500 }, () => first)
  t.strictSame(await check([side], [...tips, last]), { kind: 'reachable' })
  t.strictSame(await check([last], [...tips, side]), { kind: 'unreachable', commit: last })
  const file = await copy.git('rev-parse', `${last}:three`)
  t.strictSame(await check([file], [...tips, last]), { kind: 'reachable' }, 'a file of a tip')
})

t.test('a commit with a missing ancestor is unreachable', async (t) => {
  const [ours, copy] = [await findGit(), await newWorkingCopy(t)]
  const first = await copy.commit('one')
  await copy.git('checkout', '--quiet', '-b', 'side')
  const removed = await copy.commit('two')
  const side = await copy.commit('three')
  // `git repack -a -d` removes unreachable objects in packs, and keeps those in files.
  await rm(join(copy.path, '.git', 'objects', removed.slice(0, 2), removed.slice(2)))
  const check = checkIn(copy, ours)
  t.strictSame(await check([side], [first]), { kind: 'unreachable', commit: side })
  t.strictSame(await check([removed], [first]), { kind: 'unknown' })
})

t.test('a check is an error if a tip is missing', async (t) => {
  const [ours, copy] = [await findGit(), await newWorkingCopy(t)]
  const check = checkIn(copy, ours)
  await t.rejects(check([await copy.commit('one')], ['1'.repeat(40)]), /bad object 1111/)
})

t.test('replacements of objects are not followed', async (t) => {
  const [ours, copy] = [await findGit(), await newWorkingCopy(t)]
  const [first, second] = [await copy.commit('one'), await copy.commit('two')]
  const other = await copy.git('commit-tree', '-m', 'other', `${first}^{tree}`)
  await copy.git('replace', other, second)
  t.match(await checkIn(copy, ours)([first], [other]), { kind: 'unreachable' })
})
