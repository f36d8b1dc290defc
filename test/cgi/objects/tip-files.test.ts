/** Files of a commit with real git: in folders, equal ones, replaced ones and too many. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { filesOf } from '../../../cgi/objects/tip-files.js'
import { findGit } from '../../../cgi/process/git.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

t.test('the files of a commit are listed once, without folders and submodules', async (t) => {
  const [git, copy] = [await findGit(), await newWorkingCopy(t)]
  await mkdir(join(copy.path, 'folder'))
  await copy.commit('one', 'text')
  await copy.commit('folder/two', 'other')
  const module = await copy.commit('folder/equal', 'text')
  await copy.git('update-index', '--add', '--cacheinfo', `160000,${module},module`)
  await copy.git('commit', '--quiet', '--message=module')
  const tip = await copy.git('rev-parse', 'HEAD')
  const oids = [
    await copy.git('rev-parse', 'HEAD:one'),
    await copy.git('rev-parse', 'HEAD:folder/two'),
  ]
  const read = (commit: string, countMax = 10) => filesOf(git, copy.path, { commit, countMax })
  t.same(await read(tip), new Set(oids))
  t.same(await read(tip, 2), new Set(oids))
  t.equal(await read(tip, 1), undefined, 'too many')
  const later = await copy.commit('three', 'new')
  await copy.git('replace', tip, later)
  t.same(await read(tip), new Set(oids), 'with a replaced commit')
  await t.rejects(read('1'.repeat(40)), /bad object/)
})
