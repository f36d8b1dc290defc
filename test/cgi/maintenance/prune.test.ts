/** Pruning removes unreachable objects, keeps those a writer needs, and survives kills. */

import { randomInt } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Journal, listJournalEntries, openJournal } from '../../../cgi/maintenance/journal.js'
import { maintainRepository } from '../../../cgi/maintenance/maintenance.js'
import { pruneRepository } from '../../../cgi/maintenance/prune.js'
import { recover } from '../../../cgi/maintenance/recovery.js'
import { listStaleFiles } from '../../../cgi/maintenance/stale-files.js'
import { findGit, type Git } from '../../../cgi/process/git.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { walk } from '../../../cgi/repository/walk.js'
import { git, tryGit } from '../../helpers/git-client.js'
import { until } from '../../helpers/server-processes.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { isFullSize } from '../../helpers/test-size.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()
const ROUNDS = isFullSize ? 60 : 5
/** Number of rounds if the prune often ends before it is killed. */
const ROUNDS_MAX = 10 * ROUNDS
const GRACE_MS = 60_000
const WITHIN_MS = 30_000

interface Scene {
  readonly dataDir: string
  readonly journal: Journal
  readonly bare: string
  /** A commit that is reachable from main. */
  readonly kept: string
  /** A child commit of `kept` that is not reachable. */
  readonly removed: string
  prune(options?: {
    readonly graceMs?: number
    readonly signal?: AbortSignal
    readonly isHeld?: () => Promise<boolean>
  }): Promise<number>
  has(commit: string): Promise<boolean>
}

/** No backup is running. */
const isFree = async () => false

/** Creates a repository from which a commit was removed an hour ago. */
async function scene(t: Test, objectFormat: 'sha1' | 'sha256' = 'sha1'): Promise<Scene> {
  const dataDir = await temporaryFolder(t)
  const bare = join(dataDir, 'x.git')
  await initRepository(ours, bare, { defaultBranch: 'main', objectFormat })
  const journal = await openJournal(dataDir)
  const copy = await newWorkingCopy(t, objectFormat)
  const kept = await copy.commit('kept')
  const removed = await copy.commit('secret')
  await copy.git('push', '--quiet', bare, 'main')
  await copy.git('push', '--quiet', '--force', bare, `${kept}:refs/heads/main`)
  await age(bare)
  return {
    dataDir,
    bare,
    journal,
    kept,
    removed,
    async prune({ graceMs = GRACE_MS, signal, isHeld = isFree } = {}) {
      const options = { dataDir, journal, graceMs, signal, isHeld }
      const done = await pruneRepository(ours, bare, options)
      return done.removed
    },
    has: async (commit) => (await tryGit(['cat-file', '-e', commit], { cwd: bare })).exitCode === 0,
  }
}

/** Sets the time of every object file to an hour ago. */
async function age(bare: string): Promise<void> {
  const hourAgo = new Date(Date.now() - 3_600_000)
  for await (const { path, isFolder } of walk(join(bare, 'objects'))) {
    if (!isFolder) await utimes(path, hourAgo, hourAgo)
  }
}

const expiredOf = (bare: string) => join(bare, 'objects', 'expired')
const untilHidden = (bare: string) =>
  until(async () => existsSync(join(expiredOf(bare), 'hidden')), Boolean, WITHIN_MS)

/** Stale files, journal entries and complaints of `git fsck`; empty if there are none. */
async function faultsOf({ bare, dataDir }: Scene): Promise<readonly string[]> {
  const { exitCode, errorText } = await tryGit(['fsck', '--full', '--strict', '--no-dangling'], {
    cwd: bare,
  })
  return [
    ...(exitCode === 0 ? [] : [errorText]),
    ...(await listStaleFiles(bare)).keys(),
    ...(await readdir(join(bare, 'objects'))).filter((name) => name === 'expired'),
    ...(await listJournalEntries(dataDir)).keys(),
  ]
}

for (const objectFormat of ['sha1', 'sha256'] as const) {
  t.test(
    `pruning removes an unreachable commit with its tree and blob: ${objectFormat}`,
    async (t) => {
      const place = await scene(t, objectFormat)
      const { bare, kept, removed, prune, has } = place
      const blob = await git(['rev-parse', `${removed}:secret`], { cwd: bare })
      const before = await git(['rev-list', '--objects', '--all'], { cwd: bare })
      t.equal(await prune(), 3)
      t.notOk(await has(removed))
      t.notOk(await has(blob))
      t.ok(await has(kept))
      t.equal(await git(['rev-list', '--objects', '--all'], { cwd: bare }), before)
      t.strictSame(await faultsOf(place), [])
      const graph = await readFile(join(bare, 'objects', 'info', 'commit-graph'))
      t.notOk(
        graph.includes(Buffer.from(removed, 'hex')),
        'the commit-graph does not contain the commit',
      )
      const packs = await readdir(join(bare, 'objects', 'pack'))
      t.ok(packs.some((name) => name.endsWith('.bitmap')))
      await maintainRepository(ours, bare, place)
      t.notOk(await has(removed))
      t.equal(await prune(), 0, 'a second prune removes nothing')
      t.strictSame(await faultsOf(place), [])
    },
  )
}

t.test('pruning removes loose copies of the removed objects', async (t) => {
  const place = await scene(t)
  const { bare, prune, has } = place
  const loose = await git(['hash-object', '-w', '--stdin'], { cwd: bare, input: 'loose' })
  await age(bare)
  t.equal(await prune(), 4)
  t.notOk(await has(loose))
  t.strictSame(await faultsOf(place), [])
})

t.test('objects younger than the grace period are kept with all objects they need', async (t) => {
  const place = await scene(t)
  const { bare, removed, prune, has } = place
  const tree = await git(['rev-parse', `${removed}^{tree}`], { cwd: bare })
  const young = await git(['commit-tree', '-p', removed, '-m', 'young', tree], { cwd: bare })
  t.equal(await prune(), 0)
  t.ok(await has(young))
  t.ok(await has(removed), 'an old object that a young one needs is kept')
  t.equal(await prune({ graceMs: 0 }), 4, 'without a grace period all are removed')
  t.notOk(await has(removed))
  t.strictSame(await faultsOf(place), [])
})

t.test('objects reachable from a tag, note, pull request or hidden ref are kept', async (t) => {
  const { bare, removed, prune, has } = await scene(t)
  for (const name of ['refs/tags/x', 'refs/notes/x', 'refs/pull/7/head', 'refs/hidden/x']) {
    await git(['update-ref', name, removed], { cwd: bare })
    t.equal(await prune(), 0, name)
    t.ok(await has(removed), name)
    await git(['update-ref', '-d', name], { cwd: bare })
    await age(bare)
  }
  t.equal(await prune(), 3)
})

t.test('objects that a running writer creates are kept, even without a grace period', async (t) => {
  const { bare, removed, journal, prune, has } = await scene(t)
  const strike = await journal.record({ repositoryPath: bare, pid: process.pid })
  const written = await git(['hash-object', '-w', '--stdin'], { cwd: bare, input: 'new' })
  const aborting = new AbortController()
  const pruning = prune({ graceMs: 0, signal: aborting.signal }).catch(() => -1)
  t.ok(await untilHidden(bare))
  t.notOk(await has(removed), 'expired objects are hidden during the prune')
  t.ok(await has(written))
  await strike()
  t.equal(await pruning, 3)
  t.ok(await has(written))
})

t.test(
  'expired objects are put back if a push that began before the prune needs them',
  async (t) => {
    const place = await scene(t)
    const { bare, removed, journal, prune, has } = place
    const strike = await journal.record({ repositoryPath: bare, pid: process.pid })
    const pruning = prune()
    pruning.catch(() => {})
    t.ok(await untilHidden(bare))
    // The push's git checked earlier that all objects exist, and now updates the branch.
    await writeFile(join(bare, 'refs', 'heads', 'back'), `${removed}\n`)
    await strike()
    await t.rejects(pruning, { message: /needed unreachable objects, which were put back/ })
    t.ok(await has(removed))
    t.strictSame(await faultsOf(place), [])
    t.equal(await prune(), 0, 'the commit is reachable and is kept')
  },
)

t.test(
  'a needed expired commit is detected below a new commit, although the commit-graph lists it',
  async (t) => {
    const place = await scene(t)
    const { bare, kept, journal, prune, has } = place
    const tree = await git(['rev-parse', `${kept}^{tree}`], { cwd: bare })
    const above = (parent: string) => {
      const person = 'Ada <ada@example.com> 1700000000 +0000'
      const lines = [`tree ${tree}`, `parent ${parent}`, `author ${person}`, `committer ${person}`]
      const args = ['hash-object', '-t', 'commit', '-w', '--stdin']
      return git(args, { cwd: bare, input: `${lines.join('\n')}\n\nx\n` })
    }
    const expired = await above(kept)
    await git(['update-ref', 'refs/heads/topic', expired], { cwd: bare })
    await maintainRepository(ours, bare, place)
    await git(['update-ref', '-d', 'refs/heads/topic'], { cwd: bare })
    await age(bare)
    const strike = await journal.record({ repositoryPath: bare, pid: process.pid })
    const pruning = prune()
    pruning.catch(() => {})
    t.ok(await untilHidden(bare))
    await writeFile(join(bare, 'refs', 'heads', 'back'), `${await above(expired)}\n`)
    await strike()
    await t.rejects(pruning, { message: /which were put back/ })
    t.ok(await has(expired))
    t.strictSame(await faultsOf(place), [])
  },
)

t.test('the next prune finishes one that was aborted', async (t) => {
  for (const isNeeded of [false, true]) {
    const place = await scene(t)
    const { bare, removed, journal, prune, has } = place
    const strike = await journal.record({ repositoryPath: bare, pid: process.pid })
    const aborting = new AbortController()
    const pruning = prune({ signal: aborting.signal })
    pruning.catch(() => {})
    t.ok(await untilHidden(bare))
    aborting.abort()
    await t.rejects(pruning)
    t.notOk(await has(removed))
    if (isNeeded) await writeFile(join(bare, 'refs', 'heads', 'back'), `${removed}\n`)
    await strike()
    if (isNeeded) await t.rejects(prune(), { message: /which were put back/ })
    else t.equal(await prune(), 0)
    t.equal(await has(removed), isNeeded)
    t.strictSame(await faultsOf(place), [])
  }
})

t.test(
  'a prune does not wait for maintenance, nor for writers of other repositories',
  async (t) => {
    const { bare, dataDir, journal, prune } = await scene(t)
    const own = await journal.record({ repositoryPath: bare, pid: process.pid, isUpkeep: true })
    const other = await journal.record({
      repositoryPath: join(dataDir, 'y.git'),
      pid: process.pid,
    })
    t.equal(await prune(), 3)
    await own()
    await other()
  },
)

t.test('a prune is refused with an old git and while maintenance runs', async (t) => {
  const { bare, journal, dataDir, prune, removed, has } = await scene(t)
  const old: Git = { ...ours, version: [2, 38, 5] }
  const options = { dataDir, journal, graceMs: GRACE_MS, isHeld: isFree }
  await t.rejects(pruneRepository(old, bare, options), {
    failure: 'method_not_allowed',
    message: 'Pruning needs git 2.39 or later on the server; it has 2.38.5.',
  })
  await writeFile(join(bare, 'objects', 'maintenance.lock'), '')
  await t.rejects(prune(), { message: /maintained already/ })
  t.ok(await has(removed))
})

t.test(
  'a backup refuses a prune that has not begun, and keeps the objects of one that has',
  async (t) => {
    const { bare, prune, removed, has } = await scene(t)
    const refusal = { failure: 'conflict', message: /^A backup is running/ }
    await t.rejects(prune({ isHeld: async () => true }), refusal)
    t.ok(await has(removed), 'nothing was changed')
    let isBegun = false
    const begins = async () => {
      const isHeld = isBegun
      isBegun = true
      return isHeld
    }
    await t.rejects(prune({ isHeld: begins }), refusal)
    t.notOk(await has(removed), 'the objects have expired')
    const packs = await readdir(join(bare, 'objects/expired/pack'))
    t.equal(packs.filter((name) => name.endsWith('.pack')).length, 1, 'their pack is kept')
    await prune()
    await t.rejects(readdir(join(bare, 'objects/expired')), { code: 'ENOENT' })
  },
)

t.test('a prune killed at any time loses no reachable object and can be repeated', async (t) => {
  const place = await scene(t)
  const { bare, dataDir, journal } = place
  const copy = await newWorkingCopy(t)
  await copy.git('fetch', '--quiet', bare, 'main')
  await copy.git('reset', '--quiet', '--hard', 'FETCH_HEAD')
  let killed = 0
  for (let round = 0; round < ROUNDS || (killed === 0 && round < ROUNDS_MAX); round += 1) {
    const base = await copy.git('rev-parse', 'HEAD')
    await copy.commit(`leak-${round}`, 'x'.repeat(200_000))
    await copy.git('push', '--quiet', bare, 'HEAD:refs/heads/main')
    await copy.git('reset', '--quiet', '--hard', base)
    await copy.commit(`good-${round}`)
    await copy.git('push', '--quiet', '--force', bare, 'HEAD:refs/heads/main')
    await age(bare)
    const before = await git(['rev-list', '--objects', '--all'], { cwd: bare })
    const aborting = new AbortController()
    const { signal } = aborting
    const options = { dataDir, journal, graceMs: GRACE_MS, signal, isHeld: isFree }
    let isOver = false
    const running = pruneRepository(ours, bare, options)
      .catch((error: unknown) => error)
      .finally(() => {
        isOver = true
      })
    // A git process runs for some milliseconds.
    while (!isOver && (await listJournalEntries(dataDir)).size < 2) await sleep(1)
    await sleep(randomInt(20))
    killed += await killGit(dataDir)
    if (round % 2 === 1) aborting.abort()
    await running
    await recover(dataDir)
    t.equal(await git(['rev-list', '--objects', '--all'], { cwd: bare }), before, `round ${round}`)
  }
  await place.prune()
  t.strictSame(await faultsOf(place), [])
  const args = ['cat-file', '--batch-all-objects', '--batch-check=%(objectname)']
  const there = (await git(args, { cwd: bare })).split('\n').length
  const reachable = (await git(['rev-list', '--objects', '--all'], { cwd: bare })).split(
    '\n',
  ).length
  t.equal(there, reachable, 'only reachable objects are left')
  t.ok(killed > 0, `${killed} processes were killed`)
})

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
