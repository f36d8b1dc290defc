/** Recent commits, by git and without it: merges, known, missing and replaced commits. */

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { commitsNear, recentCommits } from '../../../cgi/objects/recent-commits.js'
import { findGit } from '../../../cgi/process/git.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

t.test('commits have their parents, and known history is left out', async (t) => {
  const [git, copy] = [await findGit(), await newWorkingCopy(t)]
  const [first, second] = [await copy.commit('one'), await copy.commit('two')]
  await copy.git('checkout', '--quiet', '-b', 'topic', first)
  const side = await copy.commit('side')
  await copy.git('checkout', '--quiet', 'main')
  await copy.git('merge', '--quiet', '--no-edit', 'topic')
  const tip = await copy.git('rev-parse', 'HEAD')
  const tree = await copy.git('rev-parse', 'HEAD^{tree}')
  const missing = '1'.repeat(40)
  const read = (tips: string[], known: string[] = [], count = 10) =>
    recentCommits(git, copy.path, { tips, known, count })
  const merge = [tip, second, side]
  const whole = [merge, [side, first], [second, first], [first]]
  const sorted = (commits: ReadonlyArray<readonly string[]>) => commits.toSorted()
  t.same(sorted(await read([tip])), sorted(whole))
  t.same(await read([tip], [second, side]), [merge])
  t.same(await read([tip], [], 1), [merge])
  t.same(await read([tree, missing, tip], [second, side, missing]), [merge], 'a missing commit')
  t.same(await read([missing]), [])
  await copy.git('replace', second, side)
  await copy.git('replace', '--graft', '-f', tip, side)
  t.same(sorted(await read([tip])), sorted(whole), 'with replaced commits')
})

t.test('commits near known ones are those of git, until there are too many', async (t) => {
  const [git, copy] = [await findGit(), await newWorkingCopy(t)]
  const path = join(copy.path, '.git')
  const first = await copy.commit('one')
  const second = await copy.commit('two')
  await copy.git('checkout', '--quiet', '-b', 'topic', first)
  await copy.commit('side')
  await copy.git('merge', '--quiet', '--no-edit', 'main')
  const tip = await copy.git('rev-parse', 'HEAD')
  const near = async (id: string, known: readonly string[]) =>
    (await commitsNear(path, { tips: [id], isKnown: (id) => known.includes(id) }))?.toSorted()
  t.equal(await near(tip, [first]), undefined, 'loose objects are left to git')
  await copy.git('repack', '-a', '-d', '--quiet')
  for (const known of [[first], [second, first], []]) {
    const expected = await recentCommits(git, path, { tips: [tip], known, count: 100 })
    t.same(await near(tip, known), expected.toSorted())
  }
  t.equal(await near('1'.repeat(40), []), undefined, 'a missing commit')
  await writeFile(join(path, 'shallow'), `${second}\n`)
  t.equal(await near(tip, [first]), undefined, 'a shallow repository')
  await rm(join(path, 'shallow'))
  const changes = Array.from({ length: 65 }, (_, at) =>
    [`commit refs/heads/long`, `committer A <a@b> ${at} +0000`, 'data 0\n'].join('\n'),
  )
  const { exitCode } = await copy.try(['fast-import', '--quiet'], { input: changes.join('') })
  t.equal(exitCode, 0)
  await copy.git('repack', '-a', '-d', '--quiet')
  t.equal(await near(await copy.git('rev-parse', 'long'), []), undefined, '65 commits')
  t.equal((await near(await copy.git('rev-parse', 'long~1'), []))?.length, 64)
})
