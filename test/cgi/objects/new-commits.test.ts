/** Commits that one set reaches and another does not: as git lists them, and with bad times. */

import { array, asyncProperty, boolean, assert as check, nat, record } from 'fast-check'
import t from 'tap'
import type { GitObject } from '../../../cgi/objects/cat-file.js'
import { newCommits } from '../../../cgi/objects/new-commits.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const idOf = (number: number) => String(number).padStart(40, '0')

/** Returns a reader of commits, each with its parents and its time; counts its reads. */
function readerOf(commits: ReadonlyArray<{ parents: readonly number[]; atS: number }>) {
  const reads: string[] = []
  const read = async (id: string): Promise<GitObject | undefined> => {
    reads.push(id)
    const commit = commits[Number(id)]
    if (commit === undefined) return undefined
    const parents = commit.parents.map((parent) => `parent ${idOf(parent)}\n`).join('')
    const text = `tree ${idOf(0)}\n${parents}committer A <a@b> ${commit.atS} +0000\n\n`
    return { id, type: 'commit', sizeBytes: text.length, content: Buffer.from(text) }
  }
  return { read, reads }
}

/** Returns all commits that the named ones reach, with themselves. */
function reachedFrom(
  commits: ReadonlyArray<{ parents: readonly number[] }>,
  from: readonly number[],
): ReadonlySet<number> {
  const found = new Set(from)
  for (const number of found) for (const parent of commits[number]?.parents ?? []) found.add(parent)
  return found
}

t.test('new commits are those of git in a history with merges', async (t) => {
  const [git, copy] = [await findGit(), await newWorkingCopy(t)]
  const first = await copy.commit('one')
  const second = await copy.commit('two')
  await copy.git('checkout', '--quiet', '-b', 'topic', first)
  const side = await copy.commit('side')
  await copy.git('checkout', '--quiet', 'main')
  await copy.git('merge', '--quiet', '--no-edit', 'topic')
  const tip = await copy.git('rev-parse', 'HEAD')
  const list = (wanted: string[], known: string[], readsMax = 10) =>
    withObjects(git, copy.path, (objects) => newCommits(objects, { wanted, known, readsMax }))
  const cases = [
    [[tip], [second]],
    [[tip], [side, second]],
    [[tip], []],
    [[side], [second]],
  ] as const
  for (const [wanted, known] of cases) {
    const ids = (await list([...wanted], [...known]))?.map(({ id }) => id).toSorted()
    const args = ['rev-list', ...wanted, ...known.map((id) => `^${id}`)]
    t.same(ids, (await copy.git(...args)).split('\n').toSorted())
  }
  t.same(await list([first], [tip]), [], 'nothing is new')
  t.equal(await list([tip], [], 3), undefined, 'too many')
  t.equal(await list([tip], ['1'.repeat(40)]), undefined, 'a missing commit')
  t.equal(await list([await copy.git('rev-parse', 'HEAD^{tree}')], []), undefined, 'no commit')
})

t.test('a commit that counts as known is not read, and ends the search', async (t) => {
  const { read, reads } = readerOf(
    [0, 1, 2, 3].map((at) => ({ parents: at ? [at - 1] : [], atS: at })),
  )
  const isKnown = (id: string) => id === idOf(1)
  const question = { wanted: [idOf(3), idOf(1)], known: [], isKnown, readsMax: 2 }
  t.same(
    (await newCommits({ read }, question))?.map(({ id }) => id),
    [idOf(3), idOf(2)],
  )
  t.same(reads, [idOf(3), idOf(2)])
})

t.test('with any times, each parent of a new commit is new or known', async (t) => {
  const commit = { parents: array(nat(), { maxLength: 3 }), atS: nat(20), isLate: boolean() }
  const input = array(record(commit), { minLength: 2, maxLength: 24 })
  await check(
    asyncProperty(input, nat(), nat(), async (entries, wantedSeed, knownSeed) => {
      // The parents of a commit have lower numbers.
      const commits = entries.map(({ parents, atS, isLate }, at) => ({
        parents: at === 0 ? [] : [...new Set(parents.map((parent) => parent % at))],
        atS: isLate ? atS : at,
      }))
      const [wanted, known] = [wantedSeed % commits.length, knownSeed % commits.length]
      const { read } = readerOf(commits)
      const question = { wanted: [idOf(wanted)], known: [idOf(known)], readsMax: 100 }
      const found = (await newCommits({ read }, question)) ?? []
      const ids = new Set(found.map(({ id }) => Number(id)))
      const [all, old] = [reachedFrom(commits, [wanted]), reachedFrom(commits, [known])]
      for (const number of all) {
        if (!old.has(number) && !ids.has(number)) throw new Error(`${number} is missing`)
      }
      for (const number of ids) {
        if (!all.has(number)) throw new Error(`${number} is not wanted`)
        for (const parent of commits[number]?.parents ?? []) {
          if (!ids.has(parent) && !old.has(parent)) throw new Error(`${parent} is missing`)
        }
      }
      const isInOrder = entries.every(({ isLate }) => !isLate)
      if (isInOrder && [...ids].some((number) => old.has(number))) throw new Error('too many')
    }),
    { numRuns: 500 },
  )
  t.pass('in 500 histories')
})
