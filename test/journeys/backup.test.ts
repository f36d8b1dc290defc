/** Backups of a site that others change meanwhile, each restored into a new folder and checked. */

import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openJournal } from '../../cgi/maintenance/journal.js'
import { maintainRepository } from '../../cgi/maintenance/maintenance.js'
import { pruneRepository } from '../../cgi/maintenance/prune.js'
import { findGit } from '../../cgi/process/git.js'
import { runToEnd } from '../../cgi/process/run.js'
import { repositoryPath } from '../../cgi/repository/paths.js'
import { isFailure } from '../../conf/failures.js'
import { openFileStorage } from '../../registry/storage/files.js'
import { sweepBlobs } from '../../registry/sweeper.js'
import { HOLD_MS, isHeld } from '../../sql/admin/holds.js'
import { closeDatabase, type Database, openDatabase } from '../../sql/database/database.js'
import { COMMAND_LINE, startCommand } from '../helpers/command-line.js'
import { freePort } from '../helpers/free-port.js'
import { type Person, startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { makeRepository } from '../helpers/repositories.js'
import { until } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import { cloneInto, newWorkingCopy } from '../helpers/working-copy.js'

const DOCUMENT = new URL('../../../docs/backup.md', import.meta.url)
const RESTIC_MS = 120_000
const SCHEDULED_MS = 30_000

const BACKUPS = isFullSize ? 50 : 2
const KILLED = isFullSize ? 20 : 1
/** Pause after a change of packages. After changes by git, which take more CPU, it is longer. */
const PAUSE_MS = isFullSize ? 0 : 30

/** Writes that were acknowledged and not taken back. */
interface Acknowledged {
  /** Id of the last pushed commit. */
  commit: string
  /** Number of the last merged pull request. */
  pull: number
  /** Numbers of the package files. */
  files: number[]
}

const scheduled = join(await temporaryFolder(t), 'backup')
const gatehouse = await startGatehouse(t, {
  workers: 1,
  environment: { GATEHOUSE_BACKUP_DIR: scheduled, GATEHOUSE_MAINTENANCE_DELAY: '0s' },
})
const ada = await gatehouse.addUser('ada')
await makeRepository(ada, 'library')
const database = await openDatabase({
  location: { kind: 'sqlite', file: join(gatehouse.dataDir, 'gatehouse.db') },
  connectionsMax: 1,
})
t.teardown(() => closeDatabase(database))

const packageUrl = (number: number) =>
  `${gatehouse.url}/api/packages/ada/generic/tool/${number}.0/file`
const authorization = `token ${ada.token}`

/** Runs the steps in a loop each, until the returned function is called. */
function repeat(steps: readonly (() => Promise<unknown>)[]): () => Promise<void> {
  let isOver = false
  const loops = steps.map(async (step) => {
    while (!isOver) {
      await step()
    }
  })
  return async () => {
    isOver = true
    await Promise.all(loops)
  }
}

/** Pushes, merges, uploads, deletes and maintains until the returned function is called. */
async function startWriters(t: Test): Promise<{ seen: Acknowledged; stop: () => Promise<void> }> {
  const seen: Acknowledged = { commit: '', pull: 0, files: [] }
  const copy = await newWorkingCopy(t)
  let count = 0
  const push = async () => {
    count += 1
    const commit = await copy.commit(`file-${count % 20}`, String(count))
    const branch = `refs/heads/branch-${count}`
    await copy.git(
      'push',
      '--quiet',
      '--atomic',
      ada.remote('ada/library.git'),
      'main',
      `main:${branch}`,
    )
    seen.commit = commit
    if (count % 2 === 0)
      await copy.git('push', '--quiet', ada.remote('ada/library.git'), `:${branch}`)
  }
  await push()
  await makeRepository(ada, 'merged', { auto_init: true })
  return {
    seen,
    stop: repeat([
      ...[push, mergeInto(seen), replaceRepository, prune()].map((step) => slowed(step, 15)),
      ...[publishInto(seen), sweep()].map((step) => slowed(step, 3)),
    ]),
  }
}

/** Returns a step that pauses so many times after each change. */
function slowed(step: () => Promise<unknown>, pauses: number): () => Promise<unknown> {
  return async () => {
    await step()
    await sleep(pauses * PAUSE_MS)
  }
}

function mergeInto(seen: Acknowledged): () => Promise<void> {
  let count = 0
  return async () => {
    count += 1
    const content = Buffer.from(String(count)).toString('base64')
    const file = { content, branch: 'main', new_branch: `change-${count}` }
    await ada.api('POST', `/repos/ada/merged/contents/change-${count}`, file)
    const pull = { title: 'Change', head: `change-${count}`, base: 'main' }
    const { body } = await ada.api('POST', '/repos/ada/merged/pulls', pull)
    const { number } = body as { readonly number: number }
    const path = `/repos/ada/merged/pulls/${number}/merge`
    const merged = await ada.api('POST', path, { Do: 'merge', delete_branch_after_merge: true })
    if (merged.status === 200) seen.pull = number
  }
}

function publishInto(seen: Acknowledged): () => Promise<void> {
  let count = 0
  return async () => {
    count += 1
    const body = `content ${count}`
    const put = await fetch(packageUrl(count), { method: 'PUT', headers: { authorization }, body })
    if (put.status !== 201) throw new Error(`the upload was answered ${put.status}`)
    if (count % 2 === 0) seen.files.push(count)
    else await fetch(packageUrl(count), { method: 'DELETE', headers: { authorization } })
  }
}

async function replaceRepository(): Promise<void> {
  await makeRepository(ada, 'short-lived', { auto_init: true })
  await ada.api('DELETE', '/repos/ada/short-lived')
}

/** Returns a step that removes unused blobs, as the job of the server would. */
function sweep(): () => Promise<unknown> {
  const opening = openFileStorage(join(gatehouse.dataDir, 'blobs'))
  return async () => {
    await sweepBlobs({ db: database, storage: await opening })
  }
}

/** Returns a step that removes unreachable objects, as the jobs of the server would. */
function prune(): () => Promise<void> {
  const opening = Promise.all([openJournal(gatehouse.dataDir), findGit()])
  return async () => {
    const [journal, git] = await opening
    const path = await pathOf(database, gatehouse.dataDir, 'library')
    const options = { journal, dataDir: gatehouse.dataDir, graceMs: 0 }
    try {
      await maintainRepository(git, path, { journal })
      await pruneRepository(git, path, { ...options, isHeld: () => isHeld(database) })
    } catch (error) {
      if (!isFailure(error, 'conflict') && !/are still running|put back/.test(String(error)))
        throw error
    }
  }
}

async function pathOf(db: Database, dataDir: string, name: string): Promise<string> {
  const { storage } = await db('repositories').where({ name }).first('storage')
  return repositoryPath(dataDir, storage)
}

/** Restores the last snapshot, and expects a clean check and all writes from before it. */
async function restoresAll(t: Test, dir: string, before: Acknowledged): Promise<string> {
  const into = join(await temporaryFolder(t), 'data')
  const restored = await gatehouse.run('restore', dir, '--into', into)
  t.match(restored, { exitCode: 0, output: /the check found nothing/ }, restored.output)
  const db = await openDatabase({
    location: { kind: 'sqlite', file: join(into, 'gatehouse.db') },
    connectionsMax: 1,
  })
  try {
    for (const name of ['library', 'merged']) {
      const cwd = await pathOf(db, into, name)
      t.equal(await git(['fsck', '--full', '--no-dangling'], { cwd }), '', `git fsck of ${name}`)
      await git(['rev-list', '--objects', '--all', '--quiet'], { cwd })
    }
    const cwd = await pathOf(db, into, 'library')
    await git(['merge-base', '--is-ancestor', before.commit, 'main'], { cwd })
    const pull = await db('issues').where({ number: before.pull }).first('state')
    t.equal(pull.state, 'closed', 'the acknowledged merge is there')
    const versions = await db('package_versions').pluck('version')
    const lost = before.files.filter((file) => !versions.includes(`${file}.0`))
    t.strictSame(lost, [], 'the acknowledged files are there')
    t.equal(await isHeld(db), false)
  } finally {
    await closeDatabase(db)
  }
  return into
}

t.test('the server adds a backup by setting, and its metrics have the time', async (t) => {
  const backups = () => database('backups').where({ outcome: 'complete' })
  t.equal((await until(backups, ({ length }) => length > 0, SCHEDULED_MS)).length, 1)
  const text = await (await fetch(`${gatehouse.url}/metrics`)).text()
  const [, seconds] = /^gatehouse_backup_last_success_timestamp_seconds (\S+)$/m.exec(text) ?? []
  t.ok(Math.abs(Date.now() / 1_000 - Number(seconds)) < 600)
  t.match(text, /^gatehouse_backup_failed 0$/m)
  t.equal((await readdir(join(scheduled, 'snapshots'))).length, 1)
})

t.test(
  'a backup that is killed holds nothing for long, and the next one is complete',
  async (t) => {
    const folder = await temporaryFolder(t)
    const dir = join(folder, 'backup')
    const environment = { GATEHOUSE_DATA_DIR: gatehouse.dataDir }
    const { seen, stop } = await startWriters(t)
    let completed = 0
    for (let killed = 0; killed < KILLED; killed += 1) {
      const held = (await database('holds')).length
      const running = await startCommand(t, ['backup', dir], { environment })
      const isHeldAgain = async () => (await database('holds')).length > held
      t.ok(await until(isHeldAgain, Boolean, 60_000), 'the backup holds')
      await sleep(Math.random() * (isFullSize ? 700 : 50))
      if ((await running.end('SIGKILL')).exitCode === 0) completed += 1
      const [hold] = await database('holds').orderBy('held_until', 'desc')
      t.ok((hold?.held_until ?? 0) <= Date.now() + HOLD_MS)
    }
    await endsOnInterrupt(t, join(folder, 'interrupted'))
    let before: Acknowledged = seen
    for (let made = 0; made < BACKUPS; made += 1) {
      if (made > 0 && isFullSize) await restoresAll(t, dir, before)
      while (seen.pull === 0 || seen.files.length < 3) await sleep(20)
      before = { ...seen, files: [...seen.files] }
      const backup = await gatehouse.run('backup', dir)
      t.match(backup, { exitCode: 0, errorText: '' }, backup.errorText)
    }
    await stop()
    t.notOk((await readdir(dir)).includes('lock'))
    const snapshots = await readdir(join(dir, 'snapshots'))
    t.equal(snapshots.length, BACKUPS + completed, 'nothing of the killed backups is left')
    const { output } = await gatehouse.run('backup', 'list', dir)
    t.strictSame(
      output.split('\n').map((line) => line.split('\t')[0]),
      [...snapshots.sort(), ''],
    )
    const pruned = await gatehouse.run('backup', 'prune', dir, '--keep', '1')
    t.match(pruned, { exitCode: 0, output: /^removed [\s\S]+files with \d+ KiB were removed/ })
    const into = await restoresAll(t, dir, before)
    await servesRestored(t, into, ada)
  },
)

/** Expects that a backup which Ctrl-C ends has ended its hold and removed its files. */
async function endsOnInterrupt(t: Test, dir: string): Promise<void> {
  const snapshots = join(dir, 'snapshots')
  const hasUnfinished = async () =>
    (await readdir(snapshots)).some((name) => name.endsWith('.part'))
  for (;;) {
    const before = (await database('holds')).length
    await rm(snapshots, { recursive: true, force: true })
    await mkdir(snapshots, { recursive: true, mode: 0o700 })
    const environment = { GATEHOUSE_DATA_DIR: gatehouse.dataDir }
    const running = await startCommand(t, ['backup', dir], { environment })
    while (!(await hasUnfinished())) await sleep(5)
    const { exitCode, errorText } = await running.end('SIGINT')
    // The backup may have ended before the signal.
    if (exitCode === 0) continue
    t.strictSame({ exitCode, errorText }, { exitCode: null, errorText: '' }, 'SIGINT has ended it')
    t.strictSame(await readdir(snapshots), [])
    t.notOk((await readdir(dir)).includes('lock'))
    t.equal((await database('holds')).length, before)
    return
  }
}

t.test(
  'a program reads a consistent copy, which is then removed, and its exit code is kept',
  async (t) => {
    const copy = join(await temporaryFolder(t), 'copy')
    const script = `cp -a {} '${copy}' && test "$GATEHOUSE_SNAPSHOT" = {} && exit 3`
    const copied = await gatehouse.run('snapshot', 'run', '--', 'sh', '-c', script)
    t.match(copied, { exitCode: 3, errorText: '' }, copied.errorText)
    t.strictSame(await readdir(join(gatehouse.dataDir, 'snapshots')), [])
    const verified = await gatehouse.run('backup', 'verify', copy)
    t.match(verified, { exitCode: 0, output: /the check found nothing/ })
    const unknown = await gatehouse.run('snapshot', 'run', '--', './unknown')
    t.match(unknown, { exitCode: 1, errorText: /^gatehouse: spawn .\/unknown ENOENT/ })
  },
)

/** Returns the shell blocks below the heading of the document. */
async function documentedCommands(heading: string): Promise<readonly string[]> {
  const text = await readFile(DOCUMENT, 'utf8')
  const [, section = ''] = text.split(`## ${heading}\n`)
  const [own = ''] = section.split('\n## ')
  return [...own.matchAll(/```sh\n(.*?)```/gs)].map(([, commands = '']) => commands)
}

t.test('the documented commands of restic back up twice, and restore the site', async (t) => {
  const folder = await temporaryFolder(t)
  const [backUp = '', restore = ''] = await documentedCommands(
    'Back up to another machine with restic',
  )
  const again = backUp.replace(/^restic (?:init|forget).*\n/gm, '')
  const files = {
    'scripts/gatehouse': `#!/bin/sh\nexec '${process.execPath}' '${COMMAND_LINE}' "$@"\n`,
    'etc/gatehouse/restic-password': 'a password\n',
    // The documented folders are made below the folder of the test.
    'page.sh': [backUp, again, restore]
      .join('')
      .replace(/(?<=[ =])\/(?=mnt|etc|var)/g, `${folder}/`),
  }
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  await chmod(join(folder, 'scripts/gatehouse'), 0o755)
  const { exitCode, output, errorText } = await runToEnd('bash', ['-eu', 'page.sh'], {
    cwd: folder,
    environment: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: folder,
      GATEHOUSE_DATA_DIR: gatehouse.dataDir,
    },
    timeoutMs: RESTIC_MS,
    outputBytesMax: 4_194_304,
  })
  const text = output.toString()
  t.equal(exitCode, 0, `${text}\n${errorText}`)
  const unmodified = [...text.matchAll(/^Files: .* (\d+) unmodified$/gm)].map(([, n]) => Number(n))
  t.equal(unmodified.length, 2)
  t.ok((unmodified[1] ?? 0) > 10, 'the second backup reads no shared file again')
  t.match(text, /the check found nothing/)
  t.strictSame(await readdir(join(gatehouse.dataDir, 'snapshots')), [])
})

/** Expects a server on the restored folder to accept the token, and to serve a clone. */
async function servesRestored(t: Test, into: string, { name, token }: Person): Promise<void> {
  const port = await freePort()
  const server = await startCommand(t, ['serve'], {
    environment: {
      GATEHOUSE_DATA_DIR: into,
      GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${port}`,
      GATEHOUSE_HTTP_WORKERS: '1',
      GATEHOUSE_DATA_DISK_FREE_MIN: '0',
    },
  })
  t.ok(await server.says(/"msg":"serving"/), 'the restored site starts')
  const clone = await cloneInto(t, `http://${name}:${token}@127.0.0.1:${port}/ada/library.git`)
  t.equal(await clone.git('status', '--porcelain'), '')
  await server.end('SIGTERM')
}
