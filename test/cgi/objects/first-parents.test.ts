/** The line of first parents with real git: merges, missing commits and replaced ones. */

import t from 'tap'
import { firstParentsOf } from '../../../cgi/objects/first-parents.js'
import { findGit } from '../../../cgi/process/git.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

t.test('the line has the tip and the first parents below it', async (t) => {
  const [git, copy] = [await findGit(), await newWorkingCopy(t)]
  const [first, second] = [await copy.commit('one'), await copy.commit('two')]
  await copy.git('checkout', '--quiet', '-b', 'topic', first)
  const side = await copy.commit('side')
  await copy.git('checkout', '--quiet', 'main')
  await copy.git('merge', '--quiet', '--no-edit', 'topic')
  const tip = await copy.git('rev-parse', 'HEAD')
  const lineOf = (oid: string, count: number) => firstParentsOf(git, copy.path, { tip: oid, count })
  t.strictSame(await lineOf(tip, 10), [tip, second, first])
  t.strictSame(await lineOf(tip, 2), [tip, second])
  t.strictSame(await lineOf('1'.repeat(40), 10), [], 'a missing commit')
  await copy.git('replace', second, side)
  t.strictSame(await lineOf(tip, 10), [tip, second, first], 'a replaced commit')
  await copy.git('replace', '--graft', '-f', tip, side)
  t.strictSame(await lineOf(tip, 10), [tip, second, first], 'a graft')
})
