/** Backups of a site that changes at the worst moments, and their restore. */

import { appendFile, chmod, readdir, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createConnection } from 'mysql2/promise'
import t, { type Test } from 'tap'
import { repositoryPath } from '../../../cgi/repository/paths.js'
import type { DatabaseLocation } from '../../../conf/database-location.js'
import { makeRepository } from '../../../gateway/actions/repositories/create-repository.js'
import { deleteWholeRepository } from '../../../gateway/actions/repositories/delete-repository.js'
import { captureRepository } from '../../../gateway/backup/capture-repository.js'
import { listSnapshots } from '../../../gateway/backup/layout.js'
import { pruneSnapshots } from '../../../gateway/backup/prune-snapshots.js'
import {
  type RestoredSite,
  type RestoreOptions,
  restoreBriefly,
  restoreSite,
} from '../../../gateway/backup/restore-site.js'
import { openSharedFiles } from '../../../gateway/backup/shared-files.js'
import { type BackupContext, takeBackup as takeUntil } from '../../../gateway/backup/take-backup.js'
import { checkSite } from '../../../gateway/check/check-site.js'
import { BACK_UP_SITE } from '../../../gateway/jobs/back-up-site.js'
import type { BlobStorage } from '../../../registry/storage/storage.js'
import { sweepBlobs } from '../../../registry/sweeper.js'
import { addBackup, findLastBackups } from '../../../sql/admin/backups.js'
import { beginHold, endHold, isHeld } from '../../../sql/admin/holds.js'
import { closeDatabase, type Database, openDatabase } from '../../../sql/database/database.js'
import { emptyLocation, freshLocation } from '../../helpers/databases.js'
import { type GatewayOptions, openContext } from '../../helpers/gateway.js'
import { git } from '../../helpers/git-client.js'
import { aPublishedFile } from '../../helpers/published-files.js'
import { sharedS3Server } from '../../helpers/shared-s3-server.js'
import { diskFolder, temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const WANTED = {
  name: 'library',
  description: '',
  isPrivate: false,
  isTemplate: false,
  defaultBranch: 'main',
  objectFormat: 'sha1',
  hasReadme: false,
} as const

/** Opens a site with a repository of a few packs and loose objects, and a package file. */
async function aSite(t: Parameters<typeof openContext>[0], options: GatewayOptions = {}) {
  const { context, fixture } = await openContext(t, options)
  const ada = await fixture.addUser('ada')
  const library = await makeRepository(context, { ...WANTED, owner: ada, creator: ada })
  const bare = repositoryPath(context.settings.data.dir, library.storage)
  const copy = await newWorkingCopy(t)
  const push = async (name: string) => {
    const commit = await copy.commit(name)
    await copy.git('push', '--quiet', bare, 'HEAD:main')
    return commit
  }
  await push('packed')
  await git(['repack', '-adq'], { cwd: bare })
  await push('loose')
  const { db, settings, registry } = context
  const publish = (name: string) => aPublishedFile(registry, { user: ada, name, text: name })
  await publish('tool')
  return {
    context,
    backup: { db, settings, storage: registry.storage },
    ada,
    library,
    bare,
    push,
    head: () => git(['rev-parse', 'main'], { cwd: bare }),
    publish,
  }
}

const takeBackup = (backup: BackupContext, dir: string, signal = new AbortController().signal) =>
  takeUntil(backup, dir, signal)

const site = await aSite(t)
const { context, backup, ada, library, bare } = site

const newFolder = async (t: Test, parent?: string) =>
  join(await temporaryFolder(t, parent), 'backup')

async function findingsOf({ db, storage }: RestoredSite, into: string): Promise<string[]> {
  const findings: string[] = []
  const { settings, git: program } = context
  const data = { ...settings.data, dir: into }
  const checked = { db, storage, git: program, settings: { ...settings, data } }
  for await (const { problem } of checkSite(checked, { isDeep: true, settleMs: 0 })) {
    findings.push(problem)
  }
  return findings
}

/** Restores a snapshot into a new folder; returns its findings and the heads of repositories. */
async function restored(t: Test, options: Omit<RestoreOptions, 'into'>) {
  const into = join(await temporaryFolder(t), 'data')
  return restoreSite({ ...options, into }, async (site) => {
    const { db, revived } = site
    const findings = await findingsOf(site, into)
    const heads: Record<string, string> = {}
    for (const { storage, name } of await db('repositories').select('storage', 'name')) {
      const cwd = repositoryPath(into, storage)
      findings.push(...(await git(['fsck', '--full', '--no-dangling'], { cwd })).split('\n'))
      heads[name] = await git(['rev-parse', 'main'], { cwd })
    }
    const sessions = (await db('sessions')).length
    return { findings: findings.filter(Boolean), heads, revived, sessions, jobs: await db('jobs') }
  })
}

/** Captures the repository, and calls `meanwhile` before each of its files is copied. */
async function captured(t: Test, meanwhile: (source: string) => Promise<unknown>) {
  const dir = await newFolder(t)
  const files = openSharedFiles(dir, dir)
  const dataDir = context.settings.data.dir
  const addFile = async (source: string, target: string) => {
    await meanwhile(source)
    return files.addFile(source, target)
  }
  return captureRepository({ dataDir, dir, files: { ...files, addFile } }, library)
}

t.test('a push after the references were read is not in the copy', async (t) => {
  const head = await site.head()
  const folders = (await readdir(join(bare, 'objects'))).filter((name) => name.length === 2)
  const last = join(bare, 'objects', folders.at(-1) ?? '')
  let isPushed = false
  const found = await captured(t, async (source) => {
    if (isPushed || !source.startsWith(last)) return
    isPushed = true
    await site.push('late')
  })
  t.equal(isPushed, true)
  t.equal(found?.references['refs/heads/main'], head)
})

t.test('packs that a repack removes during the copy are replaced by the new ones', async (t) => {
  let repacks = 0
  const found = await captured(t, async (source) => {
    if (!source.endsWith('.idx') || repacks === 2) return
    repacks += 1
    await site.push(`another-${repacks}`)
    await git(['repack', '-adfq'], { cwd: bare })
  })
  t.equal(repacks, 2)
  const [newest] = await readdir(join(bare, 'objects/pack'))
  t.ok(found?.packs.includes(newest?.replace(/\..*/, '') ?? ''))
})

/** Adds a call to the site before each blob is copied. */
function withEach<T extends { readonly storage: BlobStorage }>(
  backup: T,
  meanwhile: () => Promise<unknown>,
): T {
  const { storage } = backup
  const sizeOf = async (key: string) => {
    await meanwhile()
    return storage.sizeOf(key)
  }
  return { ...backup, storage: { ...storage, sizeOf } }
}

t.test('files that are deleted during a backup are restored, with sessions ended', async (t) => {
  const dir = await newFolder(t)
  const { db } = context
  const store = await site.publish('gone')
  const times = { created_at: 1, last_used_at: 1, expires_at: 9e12 }
  await db('sessions').insert({ user_id: ada.id, hash: 'x', ...times, address: '', agent: '' })
  await db('jobs').insert({
    kind: 'x',
    subject: '',
    run_after: 1,
    attempts: 1,
    created_at: 1,
    lease: 'x',
    leased_until: 9e12,
    slot: 'x/1',
  })
  const deleting = withEach(backup, async () => {
    await store.removeVersion('gone', '1.0')
    t.equal((await sweepBlobs({ db, storage: backup.storage })).unused, 0)
    t.ok(
      (await readdir(join(dir, 'snapshots')))[0]?.endsWith('.part'),
      'the snapshot is unfinished',
    )
  })
  const { manifest } = await takeBackup(deleting, dir)
  t.match(manifest, { problems: [], blobs: 2, repositories: 1 })
  t.equal(await isHeld(db), false)
  const result = await restored(t, { dir })
  t.match(result, { findings: [], sessions: 0, revived: { tokens: 0 } })
  t.strictSame(result.heads, { library: await site.head() })
  t.match(result.jobs, [{ lease: null, leased_until: null, slot: null }])
})

t.test('a backup whose hold has ended fails, and leaves no snapshot', async (t) => {
  const dir = await newFolder(t)
  const suspended = withEach(backup, () => context.db('holds').update({ held_until: 1 }))
  await t.rejects(takeBackup(suspended, dir), { message: /could not renew its hold/ })
  t.strictSame(await listSnapshots(dir), [])
  await takeBackup(backup, dir)
  t.equal((await readdir(join(dir, 'snapshots'))).length, 1, 'the next one removes the leftovers')
})

t.test('an aborted backup ends its hold and leaves neither a snapshot nor a lock', async (t) => {
  const dir = await newFolder(t)
  const aborting = new AbortController()
  const started = withEach(backup, async () => {
    t.equal(await isHeld(context.db), true)
    aborting.abort(new Error('enough'))
  })
  await t.rejects(takeBackup(started, dir, aborting.signal), { message: 'enough' })
  t.equal(await isHeld(context.db), false)
  t.strictSame(await readdir(join(dir, 'snapshots')), [])
  t.notOk((await readdir(dir)).includes('lock'))
  const early = AbortSignal.abort(new Error('too early'))
  await t.rejects(takeBackup(backup, dir, early), { message: 'too early' })
  t.strictSame(await readdir(join(dir, 'snapshots')), [])
})

t.test(
  'the job adds one backup in each interval, keeps the last ones, and stores results',
  async (t) => {
    const dir = await newFolder(t)
    const { db, settings } = context
    const run = async (changes: object = {}) => {
      const backup = { ...settings.backup, dir, keep: 2 }
      const changed = { ...context, settings: { ...settings, backup }, ...changes }
      await BACK_UP_SITE.run(changed, 'all', new AbortController().signal)
      return (await listSnapshots(dir)).map(({ id }) => id)
    }
    /** Lets an interval pass. */
    const wait = () => db('backups').decrement('started_at', settings.backup.everyMs)
    await BACK_UP_SITE.run(context, 'all', new AbortController().signal)
    t.strictSame(await findLastBackups(db), { last: undefined, lastComplete: undefined })
    const [first] = await run()
    t.strictSame(await run(), [first], 'there is one in the interval')
    await wait()
    const [, second] = await run()
    await wait()
    const [kept, third] = await run()
    t.equal(kept, second)
    t.ok(third)
    await wait()
    const disk = new Error('the disk is full')
    const failing = {
      registry: { storage: withEach(backup, async () => Promise.reject(disk)).storage },
    }
    await t.rejects(run(failing), disk)
    const { last, lastComplete } = await findLastBackups(db)
    t.match(last, { target: dir, outcome: 'failed', problem: 'the disk is full' })
    t.match(lastComplete, { target: dir, outcome: 'complete', problem: undefined })
    const { storage } = backup
    await run({ registry: { storage: { ...storage, sizeOf: async () => undefined } } })
    t.match((await findLastBackups(db)).last, {
      outcome: 'incomplete',
      problem: /^\d+ missing: the blob /,
    })
    const afterIncomplete = await listSnapshots(dir)
    t.strictSame((await run()).length, afterIncomplete.length, 'an incomplete one counts as made')
    const stopping = AbortSignal.abort()
    await wait()
    const stopped = { ...context, settings: { ...settings, backup: { ...settings.backup, dir } } }
    await t.rejects(BACK_UP_SITE.run(stopped, 'all', stopping))
    t.match((await findLastBackups(db)).last, { outcome: 'incomplete' }, 'a reload is no failure')
  },
)

t.test('a folder is used by one private backup, and a lock ends with its process', async (t) => {
  const dir = await newFolder(t)
  const open = await temporaryFolder(t)
  await chmod(open, 0o755)
  await t.rejects(takeBackup(backup, open), { message: /^other accounts can use .* 'chmod 700 / })
  const concurrent = withEach(backup, () =>
    t.rejects(takeBackup(backup, dir), {
      message: /^process \d+ on .* uses the folder; if it has/,
    }),
  )
  await takeBackup(concurrent, dir)
  const process = { pid: 1, identity: 'of an earlier boot' }
  await writeFile(join(dir, 'lock'), JSON.stringify({ host: hostname(), process }))
  await takeBackup(backup, dir)
  t.strictSame(await readdir(dir), ['blobs', 'repositories', 'snapshots'])
})

interface WriteBetweenReads<T> {
  readonly location: DatabaseLocation
  readonly read: () => Promise<T>
  readonly write: () => Promise<unknown>
}

/** Calls `write` while `read` waits for the rows of the table tokens, after it has read others. */
async function withWriteBetweenReads<T>(
  t: Test,
  db: Database,
  { location, read, write }: WriteBetweenReads<T>,
): Promise<T> {
  if (location.kind !== 'mysql') throw new Error('only a server has such locks')
  const locking = await createConnection(location.url.href)
  const waiting = () =>
    db('information_schema.processlist')
      .where(db.raw('db = database()'))
      .where('state', 'like', 'Waiting for table metadata lock')
  try {
    await locking.query('lock tables tokens write')
    const reading = read()
    while ((await waiting()).length === 0) await sleep(10)
    await write()
    await locking.query('unlock tables')
    t.pass('the write was between the reads')
    return await reading
  } finally {
    await locking.end()
  }
}

t.test('the rows of a database server are copied into SQLite, and all are equal', async (t) => {
  const onServer = await aSite(t, { location: await freshLocation(t, 'mysql') })
  const { db } = onServer.context
  await db('avatars').insert({
    hash: 'x',
    owner_id: onServer.ada.id,
    picture: Buffer.from([0, 255, 39, 92]),
  })
  const dir = await newFolder(t)
  const { id } = await withWriteBetweenReads(t, db, {
    location: onServer.backup.settings.database.location,
    read: () => takeBackup(onServer.backup, dir),
    write: () => addBackup(db, { target: 'late', startedAtMs: 1, outcome: 'complete' }),
  })
  t.equal(await db('backups').where({ target: 'late' }).delete(), 1, 'it was not in the copy')
  const location = await emptyLocation(t, 'mysql')
  const database = { location, connectionsMax: 2 }
  const result = await restored(t, { dir, database })
  t.strictSame(result.findings, [])
  t.strictSame(result.heads, { library: await onServer.head() })
  await t.rejects(restored(t, { dir, database }), { message: /: create an empty one$/ })
  const file = join(dir, 'snapshots', id, 'database.sqlite')
  const copy = await openDatabase({ location: { kind: 'sqlite', file }, connectionsMax: 1 })
  const server = await openDatabase(database)
  const tables = await copy('sqlite_master').where({ type: 'table' }).pluck('name')
  for (const table of tables.filter((name) => !/^(?:sqlite_|holds$)/.test(name))) {
    const rows = async (of: Database) => (await of(table)).map((row) => JSON.stringify(row)).sort()
    t.strictSame(await rows(copy), await rows(db), table)
    if (table !== 'package_indexes') t.strictSame(await rows(server), await rows(db), table)
  }
  await closeDatabase(copy)
  await closeDatabase(server)
})

t.test('a restore refuses a folder with files, and damaged or newer snapshots', async (t) => {
  const dir = await newFolder(t)
  await t.rejects(restored(t, { dir }), { message: /has no complete snapshot$/ })
  const { id } = await takeBackup(backup, dir)
  await t.rejects(restored(t, { dir, snapshotId: 'x' }), { message: /has no snapshot x$/ })
  const use = async () => t.fail('nothing is restored')
  await t.rejects(restoreSite({ dir, into: dir }, use), { message: /is not empty: name a new/ })
  await appendFile(join(dir, 'snapshots', id, 'blobs.txt'), 'x\n')
  await t.rejects(restored(t, { dir }), { message: /^the file blobs.txt .* is damaged/ })
  await backup.db('migrations').insert({ name: '9999-unknown', applied_at: 1 })
  await takeBackup(backup, dir)
  await backup.db('migrations').where({ name: '9999-unknown' }).delete()
  await t.rejects(restored(t, { dir }), { message: /migrations of a newer Gatehouse \(9999/ })
})

t.test('a repository that is deleted during the copy is copied whole', async (t) => {
  const head = await site.head()
  const hold = await beginHold(context.db, 'backup')
  let isDeleted = false
  const found = await captured(t, async () => {
    if (!isDeleted) await deleteWholeRepository(context, { repository: library, actor: ada })
    isDeleted = true
  })
  await endHold(context.db, hold)
  t.equal(found?.references['refs/heads/main'], head)
  t.equal(found?.packs.length, 1)
})

t.test('a blob that the site has lost is named, and everything else is copied', async (t) => {
  const dir = await newFolder(t)
  const { storage } = backup
  await site.publish('lost-file')
  for await (const { key, bytes } of storage.list())
    if (bytes === 'lost-file'.length) await storage.remove(key)
  const { manifest } = await takeBackup(backup, dir)
  t.match(manifest, { blobs: 1, problems: [/^the blob \S+ is missing or incomplete$/] })
  const { findings } = await restored(t, { dir })
  t.strictSame(findings, ['The bytes of the blob are missing'])
})

t.test('files of another disk and of a bucket are copied, and once only', async (t) => {
  const url = await (await sharedS3Server()).createBucket()
  const { backup, push } = await aSite(t, { environment: { GATEHOUSE_BLOBS_URL: url } })
  const dir = await newFolder(t, diskFolder())
  const first = await takeBackup(backup, dir)
  const inodes = async () => {
    const names = await readdir(dir, { recursive: true })
    const shared = names.filter((name) => /^(?:blobs|repositories)/.test(name)).sort()
    return Promise.all(shared.map(async (name) => (await stat(join(dir, name))).ino))
  }
  const before = await inodes()
  const commit = await push('later')
  await takeBackup(backup, dir)
  const after = await inodes()
  t.strictSame(
    before.filter((inode) => !after.includes(inode)),
    [],
  )
  t.match(await restored(t, { dir }), { findings: [], heads: { library: commit } })
  t.match(await restored(t, { dir, snapshotId: first.id }), { findings: [] })
  const [blob = ''] = (await readdir(dir, { recursive: true })).filter((name) =>
    /^blobs.*-/.test(name),
  )
  await writeFile(join(dir, blob), 'TOOL')
  const verifying = restoreBriefly({ dir }, findingsOf)
  t.match(await verifying, [/^The sha256 digest of the bytes differs/], 'damage is found')
  await writeFile(join(dir, blob), 'tool')
  const pruned = await pruneSnapshots(dir, 1)
  t.match(pruned, { snapshots: [first.id], files: 0 }, 'the last snapshot needs all files')
  t.match(await restored(t, { dir }), { findings: [], heads: { library: commit } })
})
