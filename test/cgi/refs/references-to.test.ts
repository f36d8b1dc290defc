/** Full names of the references from which a commit is reachable. */

import { join } from 'node:path'
import t from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { referencesTo } from '../../../cgi/refs/references-to.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

t.test('branches, tags and other references that contain the commit are listed', async (t) => {
  const copy = await newWorkingCopy(t)
  const path = join(copy.path, '.git')
  const first = await copy.commit('a')
  const second = await copy.commit('b')
  await copy.git('tag', '-m', 'One', 'v1', second)
  await copy.git('update-ref', 'refs/pull/7/head', second)
  await copy.git('reset', '--quiet', '--hard', first)
  const tag = await copy.git('rev-parse', 'refs/tags/v1')
  t.strictSame(await referencesTo(ours, path, second), [
    { name: 'refs/pull/7/head', id: second },
    { name: 'refs/tags/v1', id: tag },
  ])
  const names = (await referencesTo(ours, path, first)).map(({ name }) => name)
  t.strictSame(names, ['refs/heads/main', 'refs/pull/7/head', 'refs/tags/v1'])
  t.strictSame(await referencesTo(ours, path, '1'.repeat(40)), [], 'a missing commit')
  const blob = await copy.git('rev-parse', 'main:a')
  t.strictSame(await referencesTo(ours, path, blob), [], 'an object that is not a commit')
  await t.rejects(referencesTo(ours, path, 'main'), /full id/)
})
