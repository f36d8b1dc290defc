/** Creation of repositories, with folder and row or not at all, and their deletion. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { repositoryPath } from '../../../../cgi/repository/paths.js'
import { isFailure } from '../../../../conf/failures.js'
import { makeRepository } from '../../../../gateway/actions/repositories/create-repository.js'
import { deleteWholeRepository } from '../../../../gateway/actions/repositories/delete-repository.js'
import { beginHold, endHold } from '../../../../sql/admin/holds.js'
import { openContext } from '../../../helpers/gateway.js'
import { git } from '../../../helpers/git-client.js'

const WANTED = {
  name: 'r',
  description: '',
  isPrivate: false,
  isTemplate: false,
  defaultBranch: 'main',
  objectFormat: 'sha1',
  hasReadme: false,
} as const

/** Returns all repository folders. */
function foldersIn(dataDir: string): readonly string[] {
  return readdirSync(join(dataDir, 'repositories'), { recursive: true })
    .map(String)
    .filter((path) => /^[0-9a-f]{2}\/[^/]+$/.test(path))
}

t.test('a repository is created empty or with a first commit', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const of = { owner: ada, creator: ada }
  const empty = await makeRepository(context, { ...WANTED, ...of })
  t.match(empty, { name: 'r', isEmpty: true, defaultBranch: 'main', sizeKib: 0 })
  const cwd = repositoryPath(context.settings.data.dir, empty.storage)
  t.equal(await git(['for-each-ref'], { cwd }), '')
  const full = await makeRepository(context, { ...WANTED, ...of, name: 'full', hasReadme: true })
  t.equal(full.isEmpty, false)
  const inFull = { cwd: repositoryPath(context.settings.data.dir, full.storage) }
  t.equal(await git(['ls-tree', '--name-only', 'main'], inFull), 'README.md')
  t.equal(await git(['fsck', '--strict'], inFull), '')
  t.equal(foldersIn(context.settings.data.dir).length, 2)
})

t.test('a refused creation leaves no folder', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const of = { owner: ada, creator: ada }
  await makeRepository(context, { ...WANTED, ...of })
  for (const [change, name] of [
    [{ name: 'R' }, 'conflict'] as const,
    [{ name: 'a/b' }, 'invalid'] as const,
    [{ name: 'x', defaultBranch: '--help' }, 'invalid'] as const,
  ]) {
    const thrown = await makeRepository(context, { ...WANTED, ...of, ...change }).catch((e) => e)
    t.ok(isFailure(thrown, name), name)
  }
  t.equal(foldersIn(context.settings.data.dir).length, 1)
})

t.test('one of several concurrent creations of a repository succeeds', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const tries = Array.from({ length: 8 }, () =>
    makeRepository(context, { ...WANTED, owner: ada, creator: ada }).then(
      () => 'made',
      (error) => (isFailure(error, 'conflict') ? 'conflict' : String(error)),
    ),
  )
  const ends = (await Promise.all(tries)).sort()
  t.strictSame(ends, [...Array(7).fill('conflict'), 'made'])
  t.equal(foldersIn(context.settings.data.dir).length, 1, 'the others leave no folder')
})

t.test('the files of a deleted repository stay on the disk while a backup runs', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const of = { owner: ada, creator: ada }
  const during = await makeRepository(context, { ...WANTED, ...of })
  const after = await makeRepository(context, { ...WANTED, ...of, name: 'after' })
  const hold = await beginHold(context.db, 'backup')
  await deleteWholeRepository(context, { repository: during, actor: ada })
  await endHold(context.db, hold)
  await deleteWholeRepository(context, { repository: after, actor: ada })
  const [kept, ...others] = foldersIn(context.settings.data.dir)
  t.match(kept, `/${during.storage}.git.trash-`)
  t.strictSame(others, [])
})
