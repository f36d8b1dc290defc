/**
 * Temporary repositories read the repository's objects; only commits that are kept are copied back.
 */

import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { newStorageKey, repositoryPath } from '../../../cgi/repository/paths.js'
import { commitFirstFiles, initRepository } from '../../../cgi/repository/repository.js'
import {
  keepCommits,
  withTemporaryRepository,
} from '../../../cgi/repository/temporary-repository.js'
import { git, tryGit } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const ours = await findGit()

async function aRepository(t: Test, objectFormat: 'sha1' | 'sha256') {
  const path = repositoryPath(await temporaryFolder(t), newStorageKey())
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat })
  await commitFirstFiles(ours, path, {
    branch: 'main',
    files: [{ name: 'README.md', content: 'x' }],
    message: 'Begin',
    author: { name: 'Ada', email: 'ada@example.com' },
    when: new Date(),
  })
  return { path, tip: await git(['rev-parse', 'main'], { cwd: path }) }
}

for (const format of ['sha1', 'sha256'] as const) {
  t.test(
    `kept commits of ${format} are copied to the repository and others are removed`,
    async (t) => {
      const { path, tip } = await aRepository(t, format)
      const commit = (cwd: string, message: string) =>
        git(['commit-tree', '-p', tip, '-m', message, `${tip}^{tree}`], { cwd })
      const [kept, left] = await withTemporaryRepository(path, async (temporary) => {
        t.equal(dirname(temporary), dirname(path))
        const made = await commit(temporary, 'kept')
        const other = await commit(temporary, 'left')
        const absent = await tryGit(['cat-file', '-e', made], { cwd: path })
        t.not(absent.exitCode, 0, 'not yet in the repository')
        // Known commits make the copy faster but not smaller.
        const known = format === 'sha1' ? [tip] : []
        await keepCommits(ours, path, { temporary, tip: made, known })
        return [made, other]
      })
      t.equal(await git(['cat-file', '-t', kept ?? ''], { cwd: path }), 'commit')
      t.not((await tryGit(['cat-file', '-e', left ?? ''], { cwd: path })).exitCode, 0)
      t.strictSame(await readdir(dirname(path)), [basename(path)])
      const packs = await readdir(join(path, 'objects', 'pack'))
      t.equal(packs.filter((name) => name.endsWith('.pack')).length, 2)
      const count = await git(['count-objects', '-v'], { cwd: path })
      t.match(count, /^in-pack: 4$/m, 'three objects of the first commit and the kept commit')
      await git(['fsck', '--strict'], { cwd: path })
    },
  )
}

t.test('a temporary repository is removed also if the work fails', async (t) => {
  const { path } = await aRepository(t, 'sha1')
  const failing = withTemporaryRepository(path, () => Promise.reject(new Error('no')))
  await t.rejects(failing, /^no$/)
  t.strictSame(await readdir(dirname(path)), [basename(path)])
})
