/** The pruning job for one repository, which may have been deleted. */

import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { listJournalEntries } from '../../../cgi/maintenance/journal.js'
import { repositoryPath } from '../../../cgi/repository/paths.js'
import { commitFirstFiles, initRepository } from '../../../cgi/repository/repository.js'
import {
  parsePruneSubject,
  pruneSubject,
} from '../../../gateway/actions/repositories/prune-repository.js'
import { PRUNE_REPOSITORY } from '../../../gateway/jobs/prune-repository.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { openContext } from '../../helpers/gateway.js'
import { git, tryGit } from '../../helpers/git-client.js'
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
  const author = { name: 'Ada', email: 'ada@example.com' }
  const first = { files: [{ name: 'a', content: 'a' }], message: 'Begin', when: new Date() }
  await commitFirstFiles(context.git, path, { ...first, branch: 'main', author })
  const commit = await git(['rev-parse', 'main'], { cwd: path })
  const run = (subject: string, stop = signal) => PRUNE_REPOSITORY.run(context, subject, stop)
  return { fixture, id, path, commit, run }
}

t.test('the job removes unreachable objects and logs the result', async (t) => {
  const { fixture, id, path, commit, run } = await scene(t)
  const subject = pruneSubject({ repositoryId: id, graceMs: 0, commit })
  const kept = `Commit ${commit} is reachable from refs/heads/main.`
  await t.rejects(run(subject), { message: kept }, 'a commit that is reachable again is named')
  await git(['update-ref', '-d', 'refs/heads/main'], { cwd: path })
  await run(pruneSubject({ repositoryId: id }))
  t.match(
    fixture.lines.at(-1),
    { repository: id, removed: 0 },
    'by default the commit is too young',
  )
  const young = pruneSubject({ repositoryId: id, graceMs: 3_600_000, commit })
  await t.rejects(run(young), { message: /is younger than the grace period/ })
  await run(subject)
  t.match(fixture.lines.at(-1), { msg: 'a repository was pruned', repository: id, removed: 3 })
  t.not((await tryGit(['cat-file', '-e', commit], { cwd: path })).exitCode, 0)
})

t.test('an aborted prune fails and leaves neither locks nor journal entries', async (t) => {
  const { fixture, id, run } = await scene(t)
  await t.rejects(run(String(id), AbortSignal.abort()))
  t.equal((await listJournalEntries(fixture.settings.data.dir)).size, 0)
  await run(String(id))
})

t.test('while maintenance is running the job fails and is retried', async (t) => {
  const { id, path, run } = await scene(t)
  await writeFile(join(path, 'objects', 'maintenance.lock'), '')
  await t.rejects(run(String(id)), { message: /maintained already/ })
})

t.test('a deleted repository needs no pruning', async (t) => {
  const { fixture, id, path, run } = await scene(t)
  await rm(path, { recursive: true })
  await t.rejects(run(String(id)), { code: 'ENOENT' }, 'a missing folder is an error')
  await deleteRepository(fixture.db, id)
  await run(String(id))
})

t.test('a job subject is parsed as it was written', async (t) => {
  const commit = 'a'.repeat(64)
  for (const wanted of [
    { repositoryId: 7, graceMs: undefined, commit: undefined },
    { repositoryId: 7, graceMs: 0, commit: undefined },
    { repositoryId: 7, graceMs: undefined, commit },
    { repositoryId: 12_345, graceMs: 2_145_600_000, commit },
  ]) {
    const subject = pruneSubject(wanted)
    t.strictSame(parsePruneSubject(subject), wanted)
    t.ok(subject.length <= 100, subject)
  }
  t.throws(() => parsePruneSubject('all'), /is malformed/)
})
