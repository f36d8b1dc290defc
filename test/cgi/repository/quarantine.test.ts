/** Quarantines read the repository's objects; objects written in one are removed. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findGit, runGit } from '../../../cgi/process/git.js'
import { withQuarantine } from '../../../cgi/repository/quarantine.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

t.test('objects written in a quarantine are not in the repository and are removed', async (t) => {
  const copy = await newWorkingCopy(t)
  const commit = await copy.commit('file')
  const bare = join(copy.path, '.git')
  const before = await readdir(join(bare, 'objects'))
  const id = await withQuarantine(bare, async ({ folder, variables }) => {
    const ask = { cwd: bare, environment: variables }
    await runGit(ours, ['cat-file', '-e', commit], ask)
    const args = ['hash-object', '-w', '--stdin']
    const written = (await runGit(ours, args, { ...ask, input: 'new' })).toString().trim()
    t.strictSame(await readdir(folder), [written.slice(0, 2)])
    return written
  })
  t.equal((await copy.try(['cat-file', '-e', id])).exitCode, 1)
  t.strictSame(await readdir(join(bare, 'objects')), before)
})

t.test('the quarantine is removed also if the work fails', async (t) => {
  const copy = await newWorkingCopy(t)
  const bare = join(copy.path, '.git')
  const before = await readdir(join(bare, 'objects'))
  const failing = withQuarantine(bare, () => Promise.reject(new Error('no')))
  await t.rejects(failing, { message: 'no' })
  t.strictSame(await readdir(join(bare, 'objects')), before)
})
