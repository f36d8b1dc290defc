/** Maintenance repacks beside pushes and clones, and survives being killed at any time. */

import { randomBytes, randomInt } from 'node:crypto'
import { readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Journal, listJournalEntries, openJournal } from '../../../cgi/maintenance/journal.js'
import { maintainRepository } from '../../../cgi/maintenance/maintenance.js'
import { recover } from '../../../cgi/maintenance/recovery.js'
import { listStaleFiles } from '../../../cgi/maintenance/stale-files.js'
import { findGit, type Git, runGit } from '../../../cgi/process/git.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { diskFailureOf } from '../../../conf/disk-failure.js'
import { serveBackend } from '../../helpers/backend-server.js'
import { git } from '../../helpers/git-client.js'
import { mountSmallDisk } from '../../helpers/small-disk.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { isFullSize } from '../../helpers/test-size.js'
import { cloneInto, newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()
const ROUNDS = isFullSize ? 100 : 5
/** Number of rounds at most, if no process was killed: on a busy machine all may end before. */
const ROUNDS_MAX = 10 * ROUNDS
/** Pushes of each client, and clones, that run beside maintenance. */
const PUSHES = isFullSize ? 12 : 5
const CLONES = isFullSize ? 8 : 3

interface Scene {
  readonly dataDir: string
  readonly journal: Journal
  readonly bare: string
}

async function scene(
  t: Test,
  objectFormat: 'sha1' | 'sha256' = 'sha1',
  parent?: string,
): Promise<Scene> {
  const dataDir = parent ?? (await temporaryFolder(t))
  const bare = join(dataDir, 'x.git')
  await initRepository(ours, bare, { defaultBranch: 'main', objectFormat })
  return { dataDir, bare, journal: await openJournal(dataDir) }
}

/** Commits a file to a branch in a separate pack, as a push does. */
async function addPack(bare: string, { branch = 'main', sizeBytes = 100 } = {}): Promise<void> {
  const before = await git(['for-each-ref', `refs/heads/${branch}`], { cwd: bare })
  const content = randomBytes(sizeBytes).toString('hex')
  const input = [
    `commit refs/heads/${branch}`,
    'committer Ada <ada@example.com> 1700000000 +0000',
    'data 1\nx',
    ...(before === '' ? [] : [`from refs/heads/${branch}^0`]),
    `M 100644 inline ${randomBytes(4).toString('hex')}`,
    `data ${content.length}\n${content}`,
    'done\n',
  ].join('\n')
  await runGit(ours, ['fast-import', '--quiet', '--done'], { cwd: bare, input })
}

async function packFiles(bare: string): Promise<readonly string[]> {
  return (await readdir(join(bare, 'objects', 'pack'))).sort()
}

const endOf = (name: string) => name.replace(/-[0-9a-f]{40,64}/, '')

/** Ids of all objects of the repository, reachable or not. */
async function objectsOf(bare: string): Promise<readonly string[]> {
  const args = ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']
  return (await git(args, { cwd: bare })).split('\n')
}

for (const objectFormat of ['sha1', 'sha256'] as const) {
  t.test(
    `maintenance repacks many packs into few, with a bitmap and a commit-graph: ${objectFormat}`,
    async (t) => {
      const { bare, journal } = await scene(t, objectFormat)
      await addPack(bare, { sizeBytes: 40_000 })
      for (let push = 0; push < 9; push += 1) await addPack(bare)
      const tip = await git(['rev-parse', 'main'], { cwd: bare })
      const before = await objectsOf(bare)
      const upkeep = await maintainRepository(ours, bare, { journal })
      t.equal(upkeep.packsBefore, 10)
      t.ok(upkeep.packsAfter <= 2, `${upkeep.packsAfter} packs`)
      t.ok(upkeep.sizeKib >= 40)
      const files = (await packFiles(bare)).map(endOf)
      t.ok(files.includes('multi-pack-index.bitmap'), `${files}`)
      await stat(join(bare, 'objects', 'info', 'commit-graph'))
      t.strictSame(await objectsOf(bare), before)
      await git(['fsck', '--full', '--strict'], { cwd: bare })
      await git(['multi-pack-index', 'verify'], { cwd: bare })
      t.equal(await (await cloneInto(t, bare, ['--no-local'])).git('rev-parse', 'HEAD'), tip)
      t.equal((await listStaleFiles(bare)).size, 0)
    },
  )
}

t.test('a large pack is not rewritten after a few small pushes', async (t) => {
  const { bare, journal } = await scene(t)
  for (let push = 0; push < 8; push += 1) await addPack(bare)
  await maintainRepository(ours, bare, { journal })
  const [large = ''] = (await packFiles(bare)).filter((name) => name.endsWith('.pack'))
  const { ino } = await stat(join(bare, 'objects', 'pack', large))
  await addPack(bare)
  const upkeep = await maintainRepository(ours, bare, { journal })
  t.match(upkeep, { packsBefore: 2, packsAfter: 2 })
  t.equal((await stat(join(bare, 'objects', 'pack', large))).ino, ino)
})

t.test('with git older than 2.38 all objects go into one pack that has a bitmap', async (t) => {
  const { bare, journal } = await scene(t)
  for (let push = 0; push < 5; push += 1) await addPack(bare)
  await git(['update-ref', 'refs/heads/main', 'main~2'], { cwd: bare })
  const before = await objectsOf(bare)
  const old: Git = { ...ours, version: [2, 37, 9] }
  t.match(await maintainRepository(old, bare, { journal }), { packsBefore: 5, packsAfter: 1 })
  t.strictSame((await packFiles(bare)).map(endOf), ['pack.bitmap', 'pack.idx', 'pack.pack'])
  t.strictSame(await objectsOf(bare), before, 'unreachable objects are kept')
  await maintainRepository(ours, bare, { journal })
  t.strictSame(await objectsOf(bare), before)
  await git(['fsck', '--full', '--strict'], { cwd: bare })
})

t.test(
  'maintenance of an empty repository changes nothing and of a missing one throws ENOENT',
  async (t) => {
    const { bare, journal } = await scene(t)
    t.match(await maintainRepository(ours, bare, { journal }), { packsBefore: 0, packsAfter: 0 })
    await t.rejects(maintainRepository(ours, `${bare}x`, { journal }), { code: 'ENOENT' })
  },
)

t.test('references are packed if there are many and are left loose otherwise', async (t) => {
  const { bare, journal } = await scene(t)
  await addPack(bare)
  const add = async (from: number, to: number) => {
    const names = Array.from({ length: to - from }, (_, at) => `refs/heads/b/${from + at}`)
    const input = names.map((name) => `create ${name} refs/heads/main\n`).join('')
    await git(['update-ref', '--stdin'], { cwd: bare, input })
  }
  const packed = () => readFile(join(bare, 'packed-refs'), 'utf8').catch(() => '')
  await add(0, 10)
  await maintainRepository(ours, bare, { journal })
  t.equal(await packed(), '')
  await add(10, 60)
  const before = await git(['for-each-ref'], { cwd: bare })
  await maintainRepository(ours, bare, { journal })
  t.match(await packed(), /refs\/heads\/b\/59/)
  t.strictSame(await readdir(join(bare, 'refs', 'heads')), [])
  t.equal(await git(['for-each-ref'], { cwd: bare }), before)
  const first = await packed()
  await add(60, 120)
  /** Sets the age of packed-refs; a negative one, because a slow machine takes seconds. */
  const setAge = async (ageMs: number) => {
    const time = new Date(Date.now() - ageMs)
    await utimes(join(bare, 'packed-refs'), time, time)
  }
  await setAge(-60_000)
  await maintainRepository(ours, bare, { journal })
  t.equal(await packed(), first, 'packed-refs is not replaced twice within two seconds')
  await setAge(3_000)
  await maintainRepository(ours, bare, { journal })
  t.match(await packed(), /refs\/heads\/b\/119/)
})

t.test(
  'a second maintenance of the same repository is refused while the first one continues',
  async (t) => {
    const { bare, journal, dataDir } = await scene(t)
    for (let push = 0; push < 8; push += 1) await addPack(bare)
    const both = await Promise.allSettled(
      [1, 2].map(() => maintainRepository(ours, bare, { journal })),
    )
    t.match(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    t.match(
      both.find(({ status }) => status === 'rejected'),
      { reason: { failure: 'conflict', message: /maintained already/ } },
    )
    t.equal((await listStaleFiles(bare)).size, 0)
    t.equal((await listJournalEntries(dataDir)).size, 0, 'neither run leaves a journal entry')
    await writeFile(join(bare, 'objects', 'maintenance.lock'), '')
    await t.rejects(maintainRepository(ours, bare, { journal }), /maintained already/)
    t.equal((await listStaleFiles(bare)).size, 1, 'a file of another process is kept')
  },
)

t.test("a failed repack throws git's message and leaves no journal entry", async (t) => {
  const { bare, journal, dataDir } = await scene(t)
  await addPack(bare)
  await writeFile(join(bare, 'objects', 'pack', 'multi-pack-index.lock'), '')
  await t.rejects(maintainRepository(ours, bare, { journal }), {
    message: /git repack failed \(\d+\): .*multi-pack-index\.lock.*File exists/,
  })
  t.equal((await listJournalEntries(dataDir)).size, 0)
})

t.test('recovery removes the pack of a maintenance that filled the disk', async (t) => {
  const disk = await mountSmallDisk(t, 'size=6m')
  if (disk === undefined)
    return t.comment('skipped: a small disk cannot be mounted on this machine')
  const { dataDir, bare, journal } = await scene(t, 'sha1', disk.path)
  await addPack(bare, { sizeBytes: 1_500_000 })
  await addPack(bare, { sizeBytes: 1_500_000 })
  const before = await packFiles(bare)
  const maintained = maintainRepository(ours, bare, { journal })
  const error = await maintained.catch((thrown: unknown) => thrown)
  t.match(diskFailureOf(error), { failure: 'insufficient_storage' })
  await recover(dataDir)
  t.equal((await listStaleFiles(bare)).size, 0)
  t.strictSame(await packFiles(bare), before)
  t.equal((await listJournalEntries(dataDir)).size, 0)
})

t.test('a push waits while another process holds the lock of a ref for a second', async (t) => {
  const { bare, journal, dataDir } = await scene(t)
  const server = await serveBackend(ours, { folder: dataDir, journal })
  t.teardown(() => server.close())
  const copy = await newWorkingCopy(t)
  const commit = await copy.commit('a', 'a\n')
  const lock = join(bare, 'refs', 'heads', 'main.lock')
  await writeFile(lock, '')
  const pushed = copy.git('push', '--quiet', `${server.url}/x.git`, 'HEAD:refs/heads/main')
  await Promise.all([pushed, sleep(1_000).then(() => rm(lock))])
  t.equal(await git(['rev-parse', 'main'], { cwd: bare }), commit)
})

t.test('concurrent pushes and clones succeed and no reference is lost', async (t) => {
  const { bare, journal, dataDir } = await scene(t)
  const server = await serveBackend(ours, { folder: dataDir, journal })
  t.teardown(() => server.close())
  const address = `${server.url}/x.git`
  await addPack(bare, { sizeBytes: 200_000 })
  let runs = 0
  let isOver = false
  const keepUp = async () => {
    for (; !isOver; runs += 1) await maintainRepository(ours, bare, { journal })
  }
  const push = async (branch: string) => {
    const copy = await newWorkingCopy(t)
    const commits: string[] = []
    const targets = (top: string) =>
      Array.from({ length: 30 }, (_, at) => `HEAD:refs/heads/${top}/${at}`)
    for (let round = 0; round < PUSHES || runs < 4; round += 1) {
      commits.push(await copy.commit(`${branch}-${round}`, randomBytes(2_000)))
      await copy.git('push', '--quiet', address, ...targets(branch))
    }
    return commits
  }
  const clone = async () => {
    for (let round = 0; round < CLONES; round += 1) {
      const copy = await cloneInto(t, address, ['--mirror'])
      await copy.git('fsck', '--full', '--strict', '--no-dangling')
    }
  }
  const clients = Promise.all([push('one'), push('two'), clone(), clone()])
  const work = clients.finally(() => {
    isOver = true
  })
  const [[one, two]] = await Promise.all([work, keepUp()])
  t.strictSame(server.errors, [])
  await git(['fsck', '--full', '--strict', '--no-dangling'], { cwd: bare })
  for (const commit of [...one, ...two]) await git(['cat-file', '-e', commit], { cwd: bare })
  const named = ['for-each-ref', '--format=%(objectname)', 'refs/heads/one', 'refs/heads/two']
  const refs = await git(named, { cwd: bare })
  const tips = [one.at(-1), two.at(-1)].flatMap((tip) => Array.from({ length: 30 }, () => tip))
  t.strictSame(refs.split('\n').sort(), tips.sort(), 'every reference points to the pushed commit')
  const packed = await readFile(join(bare, 'packed-refs'), 'utf8')
  t.ok(packed.split('\n').length > 30, 'the references were packed concurrently')
})

t.test(
  'maintenance killed at any time leaves an intact repository and can run again',
  async (t) => {
    const { bare, journal, dataDir } = await scene(t)
    await addPack(bare, { sizeBytes: 1_000_000 })
    let killed = 0
    let staleFiles = 0
    for (let round = 0; round < ROUNDS || (killed === 0 && round < ROUNDS_MAX); round += 1) {
      for (let push = 0; push < 4; push += 1) await addPack(bare, { sizeBytes: 20_000 })
      const before = await objectsOf(bare)
      const aborting = new AbortController()
      const { signal } = aborting
      const running = maintainRepository(ours, bare, { journal, signal }).catch((error) => error)
      const deadlineMs = Date.now() + 10_000
      while ((await listJournalEntries(dataDir)).size < 2 && Date.now() < deadlineMs) await sleep(1)
      await sleep(randomInt(40))
      killed += await killGit(dataDir)
      if (round % 2 === 1) aborting.abort()
      await running
      staleFiles += (await listStaleFiles(bare)).size
      await git(['fsck', '--full', '--strict', '--no-dangling'], { cwd: bare })
      t.strictSame(await objectsOf(bare), before, `round ${round}`)
      await recover(dataDir)
      t.strictSame([...(await listStaleFiles(bare)).keys()], [])
      t.equal((await listJournalEntries(dataDir)).size, 0)
    }
    const { packsAfter } = await maintainRepository(ours, bare, { journal })
    t.ok(packsAfter < 8, `${packsAfter} packs`)
    t.ok(killed > 0, `${killed} processes were killed and left ${staleFiles} stale files`)
  },
)

/** Kills the process groups in the journal, as the kernel does when memory runs out. */
async function killGit(dataDir: string): Promise<number> {
  let killed = 0
  for (const { leader } of (await listJournalEntries(dataDir)).values()) {
    if (leader.pid === process.pid) continue
    try {
      process.kill(-leader.pid, 'SIGKILL')
      killed += 1
    } catch {
      // The process has already ended.
    }
  }
  return killed
}
