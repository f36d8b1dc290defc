/** The maintenance job after pushes repacks a repository, which may have been deleted. */

import { readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { listJournalEntries } from '../../../cgi/maintenance/journal.js'
import { repositoryPath } from '../../../cgi/repository/paths.js'
import {
  commitFirstFiles,
  initRepository,
  repositorySizeKib,
} from '../../../cgi/repository/repository.js'
import {
  MAINTAIN_REPOSITORY,
  maintenanceSubject,
} from '../../../gateway/jobs/maintain-repository.js'
import type { Context } from '../../../gateway/request/context.js'
import {
  deleteRepository,
  findRepositoriesById,
  findRepositoryById,
} from '../../../sql/repositories/repositories.js'
import { wikiOf } from '../../../sql/repositories/wikis.js'
import { openContext } from '../../helpers/gateway.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const { signal } = new AbortController()

async function scene(t: Test) {
  const { context, fixture } = await openContext(t)
  const { id, storage } = await aRepository(
    fixture.db,
    (await aUser(fixture.db, 'ada')).id,
    'library',
  )
  const path = repositoryPath(fixture.settings.data.dir, storage)
  await initRepository(context.git, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  await addPacks(context, path)
  const run = (stop = signal) => MAINTAIN_REPOSITORY.run(context, String(id), stop)
  return { context, fixture, id, path, run }
}

async function addPacks({ git }: Context, path: string): Promise<void> {
  for (const branch of ['one', 'two', 'three']) {
    const author = { name: 'Ada', email: 'ada@example.com' }
    const files = [{ name: branch, content: branch }]
    const first = { files, message: 'Begin', when: new Date() }
    await commitFirstFiles(git, path, { ...first, branch, author })
  }
}

async function packsOf(path: string): Promise<number> {
  const names = await readdir(join(path, 'objects', 'pack'))
  return names.filter((name) => name.endsWith('.pack')).length
}

t.test('the job repacks the repository and logs the result', async (t) => {
  const { fixture, id, path, run } = await scene(t)
  await run()
  t.equal(await packsOf(path), 1)
  t.match(fixture.lines.at(-1), { repository: id, packsBefore: 3, packsAfter: 1 })
  const { sizeKib } = (await findRepositoryById(fixture.db, id)) ?? {}
  t.equal(sizeKib, await repositorySizeKib(path), 'and stores the new size')
})

t.test('the job of a wiki repacks the wiki alone and stores its size', async (t) => {
  const { context, fixture, id, path } = await scene(t)
  const [repository] = await findRepositoriesById(fixture.db, [id])
  if (repository === undefined) throw new Error('no repository')
  const wiki = wikiOf(repository)
  const folder = repositoryPath(fixture.settings.data.dir, wiki.storage)
  await initRepository(context.git, folder, { defaultBranch: 'main', objectFormat: 'sha1' })
  await addPacks(context, folder)
  await MAINTAIN_REPOSITORY.run(context, maintenanceSubject(wiki), signal)
  t.equal(await packsOf(folder), 1)
  t.equal(await packsOf(path), 3)
  t.match(fixture.lines.at(-1), { repository: id, isWiki: true, packsAfter: 1 })
  const after = await findRepositoryById(fixture.db, id)
  t.match(after, { sizeKib: 0, wikiSizeKib: await repositorySizeKib(folder) })
})

t.test('a stale lock is removed first', async (t) => {
  const { fixture, path, run } = await scene(t)
  const lock = join(path, 'objects', 'maintenance.lock')
  await writeFile(lock, '')
  await t.rejects(
    run(),
    { message: /maintained already/ },
    'a recent lock belongs to a running maintenance',
  )
  const hourAgo = new Date(Date.now() - 3_700_000)
  await utimes(lock, hourAgo, hourAgo)
  await run()
  t.equal(await packsOf(path), 1)
  t.match(
    fixture.lines.find(({ msg }) => msg === 'leftovers of a crash were removed'),
    { swept: [lock] },
  )
})

t.test('a deleted repository needs no maintenance', async (t) => {
  const { fixture, id, path, run } = await scene(t)
  await rm(path, { recursive: true })
  await t.rejects(run(), { code: 'ENOENT' }, 'a missing folder is an error')
  await deleteRepository(fixture.db, id)
  await run()
})

t.test('an aborted maintenance fails and leaves neither locks nor journal entries', async (t) => {
  const { fixture, path, run } = await scene(t)
  await t.rejects(run(AbortSignal.abort()))
  t.equal(await packsOf(path), 3)
  t.equal((await listJournalEntries(fixture.settings.data.dir)).size, 0)
  await run()
  t.equal(await packsOf(path), 1)
})
