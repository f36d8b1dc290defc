/** The settings with which a push and a fetch see the same refs. */

import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { showsSameReferences } from '../../../cgi/refs/pushed-references.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const git = await findGit()

t.test('a new repository shows the same refs to a push and to a fetch', async (t) => {
  const path = join(await temporaryFolder(t), 'one.git')
  await initRepository(git, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  t.equal(await showsSameReferences(git, path), true)
})

const SECTIONS = [
  '[receive]\n\thideRefs = refs/heads/x\n',
  '[Transfer]\n\tHideRefs = !refs/pull\n',
  '[uploadpack]\n\thideRefs\n',
  '[core]\n\talternateRefsCommand = echo\n',
  '[core]\n\talternateRefsPrefixes = refs/heads\n',
  '[broken',
]

for (const section of SECTIONS) {
  t.test(`the refs may differ with ${JSON.stringify(section)}`, async (t) => {
    const path = join(await temporaryFolder(t), 'one.git')
    await initRepository(git, path, { defaultBranch: 'main', objectFormat: 'sha1' })
    await appendFile(join(path, 'config'), section)
    t.equal(await showsSameReferences(git, path), false)
  })
}
