/** Repositories of the benchmarks: complete, reproducible, and extended by commits. */

import t, { type Test } from 'tap'
import { addCommit, fillRepository } from '../../../scripts/benchmarks/repositories.js'
import { git } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const SHAPE = { files: 5, fileBytes: 2_000, commits: 7, filesChanged: 3 }

async function aTextRepository(t: Test): Promise<string> {
  const path = await temporaryFolder(t)
  await git(['init', '--quiet', '--bare', '--initial-branch=main'], { cwd: path })
  await fillRepository(path, SHAPE, new AbortController().signal)
  return path
}

t.test('a history has the files, commits and changes of its shape', async (t) => {
  const path = await aTextRepository(t)
  const run = (...args: readonly string[]) => git(args, { cwd: path })
  t.equal(await run('fsck', '--full', '--strict', '--no-progress'), '')
  t.equal(await run('rev-list', '--count', 'main'), '8')
  const files = (await run('ls-tree', '-r', '-l', 'main')).split('\n')
  t.equal(files.length, 5)
  for (const line of files) t.match(line, / 2000\t/)
  const changed = await run('diff-tree', '-r', '--name-only', '--no-commit-id', 'main')
  t.equal(changed.split('\n').length, 3)
})

t.test('two repositories of one shape have the same tip', async (t) => {
  const tips = await Promise.all(
    [await aTextRepository(t), await aTextRepository(t)].map((cwd) =>
      git(['rev-parse', 'main'], { cwd }),
    ),
  )
  t.equal(tips[0], tips[1])
})

t.test('each added commit is a new tip of main and a child of the last one', async (t) => {
  const path = await aTextRepository(t)
  const { signal } = new AbortController()
  await addCommit(path, signal)
  await addCommit(path, signal)
  t.equal(await git(['rev-list', '--count', 'main'], { cwd: path }), '10')
  const [newer, older] = await Promise.all(
    ['main:news.txt', 'main~1:news.txt'].map((name) => git(['show', name], { cwd: path })),
  )
  t.not(newer, older)
})

t.test('input that git refuses is an error with its message', async (t) => {
  const shape = { ...SHAPE, fileBytes: 2_000 }
  const cwd = await temporaryFolder(t)
  await t.rejects(fillRepository(cwd, shape, new AbortController().signal), /git fast-import: /)
})
