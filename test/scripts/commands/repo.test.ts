/** `gatehouse repo …`: maintenance and pruning of one repository from the command line. */

import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { listJournalEntries } from '../../../cgi/maintenance/journal.js'
import { findGit } from '../../../cgi/process/git.js'
import { repositoryPath } from '../../../cgi/repository/paths.js'
import { commitFirstFiles, initRepository } from '../../../cgi/repository/repository.js'
import { withDatabase } from '../../../scripts/commands/command.js'
import { REPO_COMMANDS } from '../../../scripts/commands/repo.js'
import { runCommand, useDataFolder } from '../../helpers/command.js'
import { git } from '../../helpers/git-client.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const ours = await findGit()

/** Creates the repository ada/library with three packs and returns its folder. */
async function library(t: Test): Promise<{ readonly dataDir: string; readonly path: string }> {
  const dataDir = await useDataFolder(t)
  const { storage } = await withDatabase(async (db) =>
    aRepository(db, (await aUser(db, 'ada')).id, 'library'),
  )
  const path = repositoryPath(dataDir, storage)
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  for (const branch of ['one', 'two', 'three']) {
    const author = { name: 'Ada', email: 'ada@example.com' }
    const files = [{ name: branch, content: branch }]
    const first = { files, message: 'Begin', when: new Date() }
    await commitFirstFiles(ours, path, { ...first, branch, author })
  }
  return { dataDir, path }
}

const maintain = (t: Test, name: string) => runCommand(t, REPO_COMMANDS, 'repo', 'maintain', name)

t.test('repo maintain repacks three packs into one and prints one line', async (t) => {
  const { path, dataDir } = await library(t)
  const lines = await maintain(t, 'ADA/Library')
  t.match(lines, [/^maintained ada\/library: 3 packs before, 1 after, \d+ KiB$/])
  t.equal(lines.length, 1)
  const files = await readdir(join(path, 'objects', 'pack'))
  t.equal(files.filter((name) => name.endsWith('.pack')).length, 1)
  t.ok(files.some((name) => name.endsWith('.bitmap')))
  t.equal((await listJournalEntries(dataDir)).size, 0)
})

t.test('maintenance that is not possible is refused with one line', async (t) => {
  const { path } = await library(t)
  await t.rejects(maintain(t, 'ada/absent'), { message: 'there is no repository ada/absent' })
  await t.rejects(maintain(t, 'bob/library'), { message: 'there is no repository bob/library' })
  for (const name of ['ada', 'ada/', '/library', 'ada/library/x']) {
    await t.rejects(maintain(t, name), { message: 'a repository is named as OWNER/REPO' }, name)
  }
  await writeFile(join(path, 'objects', 'maintenance.lock'), '')
  await t.rejects(maintain(t, 'ada/library'), { message: /maintained already/ })
})

t.test('a missing folder and a failing git have different errors', async (t) => {
  const { path } = await library(t)
  await withDatabase(async (db) => {
    const [row] = await db('owners').where({ name: 'ada' }).select('id')
    await aRepository(db, row.id, 'rowonly')
  })
  await t.rejects(maintain(t, 'ada/rowonly'), { message: /^the folder .* does not exist$/ })
  await writeFile(join(path, 'objects', 'pack', 'multi-pack-index.lock'), '')
  await t.rejects(maintain(t, 'ada/library'), { message: /^git repack failed/ })
})

const prune = (t: Test, ...args: readonly string[]) =>
  runCommand(t, REPO_COMMANDS, 'repo', 'prune', 'ada/library', ...args)

t.test(
  'repo prune removes unreachable objects and schedules another prune in the server',
  async (t) => {
    const { path, dataDir } = await library(t)
    const commit = await git(['rev-parse', 'one'], { cwd: path })
    const message = `Commit ${commit} is reachable from refs/heads/one.`
    await t.rejects(prune(t, '--now', '--commit', commit), { message })
    await git(['update-ref', '-d', 'refs/heads/one'], { cwd: path })
    t.match(await prune(t), [/^pruned ada\/library: 0 objects removed/], 'the object is too young')
    const warned = t.capture(console, 'error')
    const lines = await prune(t, '--now', '--commit', commit)
    warned.restore()
    t.match(lines, [/^pruned ada\/library: 3 objects removed, \d+ KiB$/])
    t.match(warned(), [{ args: [/passwords and keys that were pushed must be changed/] }])
    await t.rejects(git(['cat-file', '-e', commit], { cwd: path }))
    await git(['cat-file', '-e', 'two'], { cwd: path })
    t.equal((await listJournalEntries(dataDir)).size, 0)
    const subjects = await withDatabase((db) => db('jobs').select('kind', 'subject').orderBy('id'))
    t.match(subjects, [
      { kind: 'prune-repository', subject: /^\d+$/ },
      { kind: 'prune-repository', subject: new RegExp(`^\\d+ 0ms ${commit}$`) },
    ])
  },
)

t.test('invalid options of repo prune are refused', async (t) => {
  await library(t)
  await t.rejects(prune(t, '--now', '--grace', '1h'), { message: /not both/ })
  await t.rejects(prune(t, '--grace', 'soon'), { message: /--grace 'soon' is not a duration/ })
  await t.rejects(prune(t, '--commit', 'one'), { message: /not a full id/ })
  await t.rejects(prune(t, '--closed-pulls'), { message: /Name the commit/ })
})
