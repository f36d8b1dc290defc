/** Two commits: merge base, the commits in between, and the commits that a rebase would rewrite. */

import t from 'tap'
import {
  countAheadBehind,
  findMergeBase,
  isAncestor,
  listCommits,
  listCommitsToRebase,
} from '../../../cgi/objects/commit-range.js'
import { findGit } from '../../../cgi/process/git.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

/** Creates `main` and `topic`, which diverge after `root` and both contain the change `same`. */
async function apart(t: Parameters<typeof newWorkingCopy>[0]) {
  const copy = await newWorkingCopy(t)
  const root = await copy.commit('root')
  const main = [await copy.commit('m1'), await copy.commit('same')]
  await copy.git('checkout', '--quiet', '-b', 'topic', root)
  const topic = [await copy.commit('t1'), await copy.commit('same'), await copy.commit('t2')]
  const tips = { from: main[1] ?? '', to: topic[2] ?? '' }
  return { copy, root, main, topic, tips }
}

t.test('the merge base of two commits is found if they have one', async (t) => {
  const { copy, root, tips } = await apart(t)
  const base = (one: string, other: string) => findMergeBase(ours, copy.path, [one, other])
  t.equal(await base(tips.from, tips.to), root)
  t.equal(await base(root, tips.to), root)
  await copy.git('checkout', '--quiet', '--orphan', 'other')
  const other = await copy.commit('other')
  t.equal(await base(tips.from, other), undefined)
  await t.rejects(base(tips.from, 'f'.repeat(40)), /git merge-base failed/)
  const ask = (older: string, younger: string) => isAncestor(ours, copy.path, { older, younger })
  t.equal(await ask(root, tips.to), true)
  t.equal(await ask(tips.to, root), false)
  t.equal(await ask(other, other), true)
  await t.rejects(ask('f'.repeat(40), root), /git merge-base failed/)
})

t.test('commits that are only in one branch are listed newest first and counted', async (t) => {
  const { copy, topic, tips } = await apart(t)
  const list = (part = {}) => listCommits(ours, copy.path, { ...tips, ...part })
  t.strictSame(await list(), [...topic].reverse())
  t.strictSame(await list({ offset: 1, limit: 1 }), [topic[1]])
  t.strictSame(await list({ offset: 3 }), [])
  t.strictSame(await countAheadBehind(ours, copy.path, tips), { ahead: 3, behind: 2 })
  const same = { from: tips.to, to: tips.to }
  t.strictSame(await countAheadBehind(ours, copy.path, same), { ahead: 0, behind: 0 })
})

t.test('a rebase skips merges and commits whose change is already there', async (t) => {
  const { copy, topic, tips } = await apart(t)
  t.strictSame(await listCommitsToRebase(ours, copy.path, tips), [topic[0], topic[2]])
  await copy.git('merge', '--quiet', '-m', 'Merge', 'main~1')
  const to = await copy.git('rev-parse', 'HEAD')
  t.strictSame(await listCommitsToRebase(ours, copy.path, { ...tips, to }), [topic[0], topic[2]])
})

t.test('a commit that is not given by its full id is refused', async (t) => {
  const { copy, root } = await apart(t)
  for (const text of ['main', '--exec=x', '-h', root.slice(0, 39), `${root}^`, `^${root}`, '']) {
    const range = { from: root, to: text }
    await t.rejects(listCommits(ours, copy.path, range), /full id/, text)
    await t.rejects(countAheadBehind(ours, copy.path, range), /full id/, text)
    await t.rejects(listCommitsToRebase(ours, copy.path, range), /full id/, text)
    await t.rejects(findMergeBase(ours, copy.path, [root, text]), /full id/, text)
    await t.rejects(isAncestor(ours, copy.path, { older: root, younger: text }), /full id/, text)
  }
})
