/** A fork contains what a clone would, in separate files. */

import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { forkRepository } from '../../../cgi/repository/fork.js'
import { commitFirstFiles, initRepository } from '../../../cgi/repository/repository.js'
import { walk } from '../../../cgi/repository/walk.js'
import { git } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const OPTIONS = { defaultBranch: 'main', objectFormat: 'sha1' } as const

async function startRepositories(t: Test) {
  const folder = await temporaryFolder(t)
  const [source, copy] = [join(folder, 'aa', 'source.git'), join(folder, 'bb', 'copy.git')]
  const program = await findGit()
  await initRepository(program, source, OPTIONS)
  return { folder, source, copy, program }
}

t.test("a fork has the source's branches, tags and the objects reachable from them", async (t) => {
  const { folder, source, copy, program } = await startRepositories(t)
  await commitFirstFiles(program, source, {
    branch: 'main',
    files: [{ name: 'README.md', content: 'x' }],
    message: 'first\n',
    author: { name: 'ada', email: 'ada@example.com' },
    when: new Date(0),
  })
  const inSource = { cwd: source }
  const inCopy = { cwd: copy }
  const main = await git(['rev-parse', 'main'], inSource)
  await git(['branch', 'next', 'main'], inSource)
  await git(['-c', 'user.name=a', '-c', 'user.email=a@b', 'tag', '-m', 'v', 'v1', 'main'], inSource)
  const tree = await git(['rev-parse', 'main^{tree}'], inSource)
  const words = ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit-tree', '-m', 'secret', tree]
  const [hidden, lost] = [await git(words, inSource), await git([...words, '-p', main], inSource)]
  await git(['update-ref', 'refs/internal/1', hidden], inSource)

  await forkRepository(program, copy, { ...OPTIONS, source })
  t.equal(
    await git(['for-each-ref', '--format=%(refname)'], inCopy),
    ['refs/heads/main', 'refs/heads/next', 'refs/tags/v1'].join('\n'),
  )
  t.equal(await git(['rev-parse', 'main'], inCopy), main)
  for (const id of [hidden, lost]) {
    await t.rejects(git(['cat-file', '-e', id], inCopy), 'objects of hidden refs are not copied')
  }
  t.notOk(existsSync(join(copy, 'objects', 'info', 'alternates')))
  for await (const { path, isFolder } of walk(copy)) {
    if (!isFolder) t.equal((await stat(path)).nlink, 1, 'no hard link to the source')
  }
  t.strictSame(await readdir(join(folder, 'bb')), ['copy.git'], 'no temporary folder is left')
  await git(['fsck', '--strict'], inCopy)
})

t.test('an empty repository can be forked', async (t) => {
  const { source, copy, program } = await startRepositories(t)
  await forkRepository(program, copy, { ...OPTIONS, source })
  t.equal(await git(['for-each-ref'], { cwd: copy }), '')
  t.equal(await git(['symbolic-ref', 'HEAD'], { cwd: copy }), 'refs/heads/main')
})

t.test('a failed fork leaves nothing', async (t) => {
  const { folder, copy, program } = await startRepositories(t)
  const gone = { ...OPTIONS, source: join(folder, 'absent.git') }
  await t.rejects(forkRepository(program, copy, gone), /git fetch failed/)
  t.strictSame(await readdir(join(folder, 'bb')), [])
})
