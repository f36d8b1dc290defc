/** Recent commits with real git: merges, known commits, missing ones and replaced ones. */

import t from 'tap'
import { recentCommits } from '../../../cgi/objects/recent-commits.js'
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
