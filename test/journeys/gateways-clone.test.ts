/**
 * Gateways with one data folder and one database share the git process of identical clones, and
 * count failed sign-ins together.
 */

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { readdir, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { markProcess } from '../../cgi/process/process-table.js'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { isAnswered } from '../../gateway/ssh/socket-file.js'
import { freshLocation } from '../helpers/databases.js'
import { askApi, type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { git, tryGit } from '../helpers/git-client.js'
import { countPackCache } from '../helpers/pack-cache-counts.js'
import { makeRepository, repositoriesIn } from '../helpers/repositories.js'
import { withPassword } from '../helpers/requests.js'
import {
  type GitProcess,
  gitProcessesBelow,
  killServer,
  until,
} from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

const GATEWAYS = 3
const CLONES = isFullSize ? 24 : 12
const ROUNDS = isFullSize ? 5 : 1
const WAITS_MS = 60_000
const CONTENT_BYTES = isFullSize ? 3_000_000 : 1_000_000
/** Large enough that git can be stopped while it writes the answer. */
const LONG_CONTENT_BYTES = isFullSize ? 20_000_000 : 12_000_000

interface Fleet {
  readonly location: DatabaseLocation
  readonly gateways: readonly Gatehouse[]
  readonly folder: string
  /** Address of the repository at a gateway. */
  readonly remoteAt: (gateway: Gatehouse) => string
  /** Pushes a commit of incompressible content; returns its id. */
  readonly push: (bytes: number) => Promise<string>
}

t.test('three gateways of one database and one data folder', async (t) => {
  const fleet = await startFleet(t)
  await t.test('identical concurrent clones share one git process', (t) => shareOne(t, fleet))
  await t.test('failed sign-ins at all gateways reach a limit together', (t) =>
    failTogether(t, fleet),
  )
  await t.test('a gateway with a cache of its own removes what was pruned by another', (t) =>
    forgetPruned(t, fleet),
  )
  await t.test('clones are complete or fail if the gateway that leads is killed', (t) =>
    killLeader(t, fleet),
  )
  await t.test('running gateways take over from one that has ended', (t) => takeOver(t, fleet))
})

// clone-fleet shares the git process among the workers of one gateway.
async function startFleet(t: Test): Promise<Fleet> {
  const location = await freshLocation(t, 'mysql')
  const first = await startGatehouse(t, { location, workers: 1 })
  const environment = { GATEHOUSE_DATA_DIR: first.dataDir }
  const gateways = [first]
  while (gateways.length < GATEWAYS) {
    gateways.push(await startGatehouse(t, { location, workers: 1, environment }))
  }
  const ada: Person = await first.addUser('ada')
  await makeRepository(ada, 'library')
  const remoteAt = ({ port }: Gatehouse) =>
    `http://ada:${ada.token}@127.0.0.1:${port}/ada/library.git`
  const copy = await newWorkingCopy(t)
  await copy.git('config', 'core.compression', '0')
  const push = async (bytes: number) => {
    await writeFile(join(copy.path, 'content'), randomBytes(bytes))
    await copy.git('add', 'content')
    await copy.git('commit', '--quiet', '-m', 'content')
    await copy.git('push', '--quiet', remoteAt(first), 'HEAD:refs/heads/main')
    return await copy.git('rev-parse', 'HEAD')
  }
  return { location, gateways, folder: await temporaryFolder(t), remoteAt, push }
}

interface Clones {
  /** Prefix of the folders. */
  readonly name: string
  readonly commit: string
  readonly count: number
}

/** Clones concurrently from all gateways; returns the folders of the clones that succeed. */
async function clone(t: Test, fleet: Fleet, { name, commit, count }: Clones) {
  const { gateways, folder, remoteAt } = fleet
  const clones = Array.from({ length: count }, async (_, index) => {
    const gateway = gateways[index % gateways.length] as Gatehouse
    const cwd = join(folder, `${name}-${index}`)
    const { exitCode } = await tryGit(['clone', '--quiet', '--bare', remoteAt(gateway), cwd], {
      cwd: folder,
    })
    return exitCode === 0 ? [cwd] : []
  })
  const whole = (await Promise.all(clones)).flat()
  for (const cwd of whole) {
    t.equal(await git(['rev-parse', 'main'], { cwd }), commit)
    // A clone that succeeds has verified that no object is missing.
    if (isFullSize) t.equal((await tryGit(['fsck', '--full'], { cwd })).exitCode, 0)
  }
  return whole
}

async function countFetches({ gateways }: Fleet) {
  const sum = { hit: 0, join: 0, miss: 0, bypass: 0 }
  for (const gateway of gateways) {
    const { hit, join, miss, bypass } = await countPackCache(gateway, 'fetch')
    sum.hit += hit
    sum.join += join
    sum.miss += miss
    sum.bypass += bypass
  }
  return sum
}

async function shareOne(t: Test, fleet: Fleet): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) {
    const commit = await fleet.push(CONTENT_BYTES)
    const before = await countFetches(fleet)
    const whole = await clone(t, fleet, { name: `share-${round}`, commit, count: CLONES })
    t.equal(whole.length, CLONES)
    const after = await countFetches(fleet)
    // After some rounds, the answer is made before the clones request it.
    t.ok(after.miss - before.miss <= 1, 'git ran at most once')
    t.equal(after.bypass, before.bypass, 'no clone bypassed the cache')
    t.comment(`hits ${after.hit - before.hit}, coalesced ${after.join - before.join}`)
  }
  await untilNoneIsMade(t, fleet)
}

/** Each of several machines has its cache on a disk of its own. */
async function forgetPruned(t: Test, fleet: Fleet): Promise<void> {
  const [first] = fleet.gateways as [Gatehouse]
  const cache = await temporaryFolder(t)
  const own = await startGatehouse(t, {
    location: fleet.location,
    workers: 1,
    environment: { GATEHOUSE_DATA_DIR: first.dataDir, GATEHOUSE_CACHE_DIR: cache },
  })
  const commit = await fleet.push(CONTENT_BYTES)
  await clone(t, { ...fleet, gateways: [own] }, { name: 'own', commit, count: 1 })
  const kept = await until(
    () => answersIn(cache),
    (names) => names.length > 0,
    WAITS_MS,
  )
  t.ok(kept.length > 0, 'answers are in its own cache')
  t.match(await first.run('repo', 'prune', 'ada/library', '--now'), { exitCode: 0 })
  const left = await until(
    () => answersIn(cache),
    (names) => names.length === 0,
    WAITS_MS,
  )
  t.strictSame(left, [])
  await own.stop()
}

/** Returns the names of the stored answers of a cache. */
async function answersIn(cache: string): Promise<readonly string[]> {
  const found = await readdir(join(cache, 'packs'), { recursive: true }).catch(() => [])
  return found.filter((name) => /^..\/[0-9a-f]{16}/.test(name)).toSorted()
}

const FAILURES_MAX = 10

async function failTogether(t: Test, { gateways }: Fleet): Promise<void> {
  const [first, second, third] = gateways as [Gatehouse, Gatehouse, Gatehouse]
  const bob = await first.addUser('bob')
  const signIn = async (gateway: Gatehouse, password = bob.password) => {
    const authorization = withPassword('bob', password)
    return (await askApi(gateway.port, { path: '/user', authorization })).status
  }
  for (let n = 0; n < FAILURES_MAX; n += 1) {
    t.equal(await signIn(n % 2 === 0 ? first : second, `guess ${n}`), 401)
  }
  const ofBoth = () => Promise.all([signIn(first), signIn(second)])
  const statuses = await until(ofBoth, (both) => both.includes(429), WAITS_MS)
  t.ok(statuses.includes(429), 'the gateway that stored the last failure refuses')
  t.equal(await signIn(third), 200, 'another one has not read the total yet')
  t.equal(await signIn(third, 'one more guess'), 401)
  const ofThird = () => signIn(third)
  t.equal(await until(ofThird, (status) => status === 429, WAITS_MS), 429)
}

async function killLeader(t: Test, fleet: Fleet): Promise<void> {
  const [first, ...others] = fleet.gateways as [Gatehouse, ...Gatehouse[]]
  const { commit, lost } = await startStoppedClone(fleet, first)
  const survivors = { ...fleet, gateways: others }
  const cloning = clone(t, survivors, { name: 'killed', commit, count: 2 * others.length })
  t.equal(await untilCount(first, { suffix: '.part', count: GATEWAYS }), GATEWAYS)
  await killServer(first, { withGit: true })
  t.not((await lost).exitCode, 0)
  t.comment(`${(await cloning).length} of ${2 * others.length} clones were complete`)
  const again = await clone(t, survivors, { name: 'again', commit, count: others.length })
  t.equal(again.length, others.length, 'later clones are complete')
  await first.start()
}

/** Kills all gateways but the first, which had lost the socket for SSH when it was killed. */
async function takeOver(t: Test, { gateways }: Fleet): Promise<void> {
  const [first, ...others] = gateways as [Gatehouse, ...Gatehouse[]]
  const socket = join(first.dataDir, 'run/ssh.sock')
  const isOpen = () => isAnswered(socket)
  t.ok(await until(isOpen, Boolean, WAITS_MS), 'another gateway has taken over the socket')
  const [repositoryPath = ''] = await repositoriesIn(first.dataDir)
  const lock = join(repositoryPath, 'refs/heads/main.lock')
  const push = join(first.dataDir, 'pushes', `${randomBytes(12).toString('hex')}.json`)
  const dead = markProcess(others[0]?.pid ?? 0)
  for (const gateway of others) await killServer(gateway)
  await writeFile(lock, '')
  const entry = { host: hostname(), gateway: dead, leader: dead, repositoryPath }
  await symlink(JSON.stringify({ ...entry, startedAtMs: Date.now() }), push)
  t.ok(await until(isOpen, Boolean, WAITS_MS), 'the last gateway opens the socket')
  const left = async () => {
    const names = await readdir(join(first.dataDir, 'pushes'))
    return [...names.filter((name) => push.endsWith(name)), existsSync(lock)]
  }
  t.strictSame(await until(left, (found) => found.length === 1, WAITS_MS), [false])
  const takenOver = /the socket for SSH was taken over/
  t.match(await first.logMatching(takenOver), takenOver)
}

/**
 * Starts a clone whose git is stopped while it writes the answer, so that the other gateways can
 * follow. On a busy machine git may have ended before: then there is a next clone.
 */
async function startStoppedClone(fleet: Fleet, first: Gatehouse) {
  const hasLease = async () => (await namesIn(first)).some((name) => name.endsWith('.lease'))
  for (let at = 0; ; at += 1) {
    const commit = await fleet.push(LONG_CONTENT_BYTES)
    const lost = tryGit(['clone', '--quiet', '--bare', fleet.remoteAt(first), `lost-${at}`], {
      cwd: fleet.folder,
    })
    let hasEnded = false
    void lost.then(() => {
      hasEnded = true
    })
    while (!hasEnded) {
      const gits = (await hasLease()) ? await gitProcessesBelow(first.pid) : []
      signal(gits, 'SIGSTOP')
      await sleep(2)
      if (gits.some(isStoppedWriter) && (await hasLease())) return { commit, lost }
      signal(gits, 'SIGCONT')
      await sleep(2)
    }
  }
}

/** Returns true if the process writes an answer, and is stopped (proc_pid_stat(5), state T). */
function isStoppedWriter({ pid, command }: GitProcess): boolean {
  if (!/upload-pack|pack-objects/.test(command)) return false
  try {
    return /\) T /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

function signal(processes: ReadonlyArray<{ readonly pid: number }>, name: NodeJS.Signals): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, name)
    } catch {
      // The process has ended.
    }
  }
}

/** Waits until the pack cache has so many files with that suffix; returns the last number. */
function untilCount(
  gateway: Gatehouse,
  { suffix, count }: { readonly suffix: string; readonly count: number },
): Promise<number> {
  return until(
    async () => (await namesIn(gateway)).filter((name) => name.endsWith(suffix)).length,
    (found) => found === count,
    WAITS_MS,
  )
}

function namesIn({ dataDir }: Gatehouse) {
  return readdir(join(dataDir, 'cache', 'packs'))
}

async function untilNoneIsMade(t: Test, { gateways: [first] }: Fleet): Promise<void> {
  const left = await until(
    async () => (await namesIn(first as Gatehouse)).filter((name) => name.includes('.')),
    (names) => names.length === 0,
    WAITS_MS,
  )
  t.strictSame(left, [], 'no lease and no unfinished answer is left')
}
