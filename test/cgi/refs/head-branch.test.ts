/** The branch that HEAD names. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readHeadBranch } from '../../../cgi/refs/head-branch.js'
import { git } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('the branch of HEAD is read before it exists, and a detached HEAD has none', async (t) => {
  const folder = await temporaryFolder(t)
  await git(['init', '--quiet', '--bare', '-b', 'a/b', '.'], { cwd: folder })
  t.equal(await readHeadBranch(folder), 'a/b')
  await writeFile(join(folder, 'HEAD'), `${'a'.repeat(40)}\n`)
  t.equal(await readHeadBranch(folder), undefined)
})
