/**
 * Sweeps remove leftovers of crashes after an hour and keep files that are younger, in use or
 * foreign.
 */

import { existsSync } from 'node:fs'
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { listJournalEntries, openJournal } from '../../../cgi/maintenance/journal.js'
import { sweepRepositories, sweepRepository } from '../../../cgi/maintenance/sweeper.js'
import { findGit } from '../../../cgi/process/git.js'
import { startProcess } from '../../../cgi/process/run.js'
import {
  newStorageKey,
  repositoryPath,
  repositoryShardsFolder,
} from '../../../cgi/repository/paths.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { walk } from '../../../cgi/repository/walk.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const ours = await findGit()
const HOUR_AGO = new Date(Date.now() - 3_700_000)
const NEARLY_AN_HOUR_AGO = new Date(Date.now() - 3_400_000)

interface Scene {
  readonly dataDir: string
  readonly bare: string
}

async function scene(t: Test): Promise<Scene> {
  const dataDir = await temporaryFolder(t)
  const bare = repositoryPath(dataDir, newStorageKey())
  await initRepository(ours, bare, { defaultBranch: 'main', objectFormat: 'sha1' })
  return { dataDir, bare }
}

/** Makes the pushes in the journal two hours old. */
async function agePushes(dataDir: string): Promise<void> {
  for (const [file, push] of await listJournalEntries(dataDir)) {
    const startedAtMs = Date.now() - 7_200_000
    await rm(file)
    await symlink(JSON.stringify({ ...push, startedAtMs }), file)
  }
}

/** Creates a file, with its folders, whose modification time is `when`. */
async function leave(path: string, when: Date): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, 'x')
  await utimes(path, when, when)
  return path
}

async function leaveFolder(path: string, when: Date): Promise<string> {
  await leave(join(path, 'deep', 'file'), when)
  for await (const found of walk(path)) await utimes(found.path, when, when)
  await utimes(path, when, when)
  return path
}

/** No backup is running. */
const FREE = { isHeld: async () => false }

t.test(
  'locks, quarantines and incomplete repositories older than an hour are removed',
  async (t) => {
    const { dataDir, bare } = await scene(t)
    const trash = `${bare}.trash-0123456789ab`
    const unborn = `${repositoryPath(dataDir, newStorageKey())}.new-0123456789ab`
    const dead = [
      await leave(join(bare, 'refs/heads/main.lock'), HOUR_AGO),
      await leave(join(bare, 'objects/pack/multi-pack-index.lock'), HOUR_AGO),
      await leave(join(bare, 'objects/pack/.tmp-1-pack-2.pack'), HOUR_AGO),
      await leaveFolder(join(bare, 'objects/tmp_objdir-incoming-old'), HOUR_AGO),
      await leaveFolder(trash, HOUR_AGO),
      await leaveFolder(trash.replace('.git', '.wiki.git'), HOUR_AGO),
      await leave(join(bare.replace('.git', '.wiki.git'), 'HEAD.lock'), HOUR_AGO),
      await leaveFolder(unborn, HOUR_AGO),
    ]
    const young = [
      await leave(join(bare, 'refs/heads/young.lock'), NEARLY_AN_HOUR_AGO),
      await leaveFolder(join(bare, 'objects/tmp_objdir-incoming-young'), NEARLY_AN_HOUR_AGO),
      await leaveFolder(`${bare}.new-ba9876543210`, NEARLY_AN_HOUR_AGO),
    ]
    const foreign = [
      await leaveFolder(join(repositoryShardsFolder(dataDir), 'aa', 'backup'), HOUR_AGO),
      await leaveFolder(`${bare}.old`, HOUR_AGO),
      await leave(join(bare, 'objects/pack/mine.keep'), HOUR_AGO),
    ]
    const held = await sweepRepositories(dataDir, { isHeld: async () => true })
    t.ok(existsSync(trash) && !held.includes(trash), 'a deleted repository is kept for a backup')
    t.strictSame([...held, ...(await sweepRepositories(dataDir, FREE))].sort(), dead.toSorted())
    t.strictSame(dead.filter(existsSync), [])
    t.strictSame([...young, ...foreign].filter(existsSync), [...young, ...foreign])
    t.ok(existsSync(join(bare, 'HEAD')), 'the repository itself is kept')
  },
)

t.test('a quarantine that contains a recent file is kept', async (t) => {
  const { dataDir, bare } = await scene(t)
  const quarantine = await leaveFolder(join(bare, 'objects/tmp_objdir-incoming-x'), HOUR_AGO)
  await utimes(join(quarantine, 'deep', 'file'), new Date(), new Date())
  t.strictSame(await sweepRepository(dataDir, bare), [])
  t.ok(existsSync(quarantine))
})

t.test('a lock is kept while a long-running process works in the repository', async (t) => {
  const { dataDir, bare } = await scene(t)
  const lock = join(bare, 'refs/heads/main.lock')
  const writer = await startProcess('/bin/sleep', ['60'], {
    cwd: bare,
    environment: {},
    timeoutMs: 60_000,
  })
  t.teardown(() => writer.kill())
  await leave(lock, HOUR_AGO)
  const noted = await openJournal(dataDir)
  const strike = await noted.record({ repositoryPath: bare, pid: writer.pid ?? 0 })
  await agePushes(dataDir)
  t.strictSame(await sweepRepository(dataDir, bare), [])
  await strike()
  writer.kill()
  await writer.ended
  t.strictSame(await sweepRepository(dataDir, bare), [lock])
})

t.test(
  'an aborted sweep removes nothing and a sweep without repositories finds nothing',
  async (t) => {
    const { dataDir, bare } = await scene(t)
    const lock = await leave(join(bare, 'HEAD.lock'), HOUR_AGO)
    t.strictSame(await sweepRepositories(dataDir, { ...FREE, signal: AbortSignal.abort() }), [])
    t.strictSame(await sweepRepositories(dataDir, FREE), [lock])
    t.strictSame(await sweepRepositories(join(dataDir, 'nowhere'), FREE), [])
  },
)
