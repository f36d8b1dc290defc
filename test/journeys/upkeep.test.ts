/** Maintenance after pushes: few packs, a bitmap, a commit-graph, and recovery from kills. */

import { randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { listJournalEntries } from '../../cgi/maintenance/journal.js'
import { onOneDatabase } from '../helpers/databases.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { faultsOnDisk, makeRepository, repositoriesIn } from '../helpers/repositories.js'
import { gitProcessesOf, listStaleFilesIn, until, workersOf } from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'
import { cloneInto, newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

const ENVIRONMENT = {
  GATEHOUSE_MAINTENANCE_ENABLED: 'true',
  GATEHOUSE_MAINTENANCE_DELAY: '300ms',
}
const PUSHES = isFullSize ? 10 : 6
const WITHIN_MS = 30_000
const ROUNDS = isFullSize ? 20 : 2
/** Time for another worker to take a job, which includes the lease of a killed worker. */
const TAKEN_WITHIN_MS = 60_000

interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly copy: WorkingCopy
  readonly remote: string
  /** Path of the repository on the server's disk. */
  readonly path: string
}

async function startScene(t: Test, options: Parameters<typeof startGatehouse>[1]): Promise<Scene> {
  const gatehouse = await startGatehouse(t, { ...options, environment: ENVIRONMENT })
  const ada = await gatehouse.addUser('ada')
  await makeRepository(ada, 'library')
  const [path = ''] = await repositoriesIn(gatehouse.dataDir)
  const copy = await newWorkingCopy(t)
  return { gatehouse, ada, copy, path, remote: ada.remote('ada/library.git') }
}

interface PackState {
  readonly packs: number
  readonly hasBitmap: boolean
  readonly hasGraph: boolean
}

/** Returns the packs and indexes that speed up a clone without cache. */
async function packStateOf(path: string): Promise<PackState> {
  const packs = await readdir(join(path, 'objects', 'pack'))
  const info = await readdir(join(path, 'objects', 'info'))
  return {
    packs: packs.filter((name) => name.endsWith('.pack')).length,
    hasBitmap: packs.some((name) => name.endsWith('.bitmap')),
    hasGraph: info.includes('commit-graph'),
  }
}

const isMaintained = ({ packs, hasBitmap, hasGraph }: PackState) =>
  packs <= 2 && hasBitmap && hasGraph

// The queries of jobs have tests on both databases, in test/sql/admin/jobs.test.ts.
await onOneDatabase(t, 'maintenance of one repository', async (t, location) => {
  const scene = await startScene(t, { location, workers: 1 })
  await t.test('a repository is maintained after pushes', (t) => keepsMaintained(t, scene))
  await t.test('pushes and maintenance succeed after kill -9 during maintenance', (t) =>
    killedMeanwhile(t, scene),
  )
})

async function keepsMaintained(t: Test, scene: Scene): Promise<void> {
  const { gatehouse, copy, remote, path } = scene
  for (let push = 0; push < PUSHES; push += 1) {
    await copy.commit(`file-${push}`)
    await copy.git('push', '--quiet', remote, 'main')
  }
  const state = await until(() => packStateOf(path), isMaintained, WITHIN_MS)
  t.ok(isMaintained(state), JSON.stringify(state))
  // Between two commands of a maintenance run no git process exists, but its lock does.
  const findLeftovers = async () => [
    ...(await gitProcessesOf(gatehouse.dataDir)),
    ...(await faultsOnDisk(gatehouse)),
  ]
  t.strictSame(await until(findLeftovers, ({ length }) => length === 0, WITHIN_MS), [])
  const clone = await cloneInto(t, remote)
  t.equal(await clone.git('rev-parse', 'HEAD'), await copy.git('rev-parse', 'main'))
  t.equal((await readdir(clone.path)).length, PUSHES + 1)
  const maintained = '"msg":"a repository was maintained"'
  const log = await gatehouse.logMatching(new RegExp(maintained))
  const runs = log.split(maintained).length - 1
  // On a busy machine a push takes longer than the pause before a run.
  t.ok(runs > 0 && runs <= PUSHES, `${runs} runs for ${PUSHES} pushes`)
  // The event loop may be late on a busy machine.
  t.notMatch(gatehouse.log(), /"level":"(?:warn|error)".*"msg":"(?!the event loop was late)/)
}

async function killedMeanwhile(t: Test, scene: Scene): Promise<void> {
  let killed = 0
  for (let round = 0; round < ROUNDS; round += 1) killed += await playRound(t, scene, round)
  t.ok(killed > 0, `${killed} git processes were killed during maintenance`)
  t.equal(await scene.gatehouse.stop(), 0)
  t.strictSame(await listStaleFilesIn(scene.gatehouse.dataDir), [])
}

/** Kills the server during maintenance, in every other round together with its git processes. */
async function playRound(t: Test, scene: Scene, round: number): Promise<number> {
  const { gatehouse, copy, remote, path } = scene
  for (const part of ['a', 'b']) {
    for (let file = 0; file < 200; file += 1) {
      await writeFile(join(copy.path, `file-${round}-${part}-${file}`), randomBytes(4_000))
    }
    await copy.git('add', '.')
    await copy.git('commit', '--quiet', '-m', `round ${round}`)
    await copy.git('push', '--quiet', remote, `HEAD:refs/heads/main-${part}`)
  }
  const gits = await untilAtWork(gatehouse.dataDir)
  const victims = round % 2 === 0 ? gits : []
  killAll([gatehouse.pid, ...(await workersOf(gatehouse.pid)), ...victims])
  await gatehouse.stop('SIGKILL')
  await gatehouse.start()
  const left = await untilClean(gatehouse.dataDir)
  t.strictSame(left, [], `round ${round}: no stale file is left`)
  t.strictSame(await faultsOnDisk(gatehouse), [], `round ${round}: git fsck is clean`)
  await copy.commit(`after-${round}`)
  await copy.git('push', '--quiet', remote, 'main')
  const clone = await cloneInto(t, remote)
  t.equal(await clone.git('rev-parse', 'HEAD'), await copy.git('rev-parse', 'main'))
  if (round < ROUNDS - 1) return gits.length
  const { exitCode, output, errorText } = await gatehouse.run('repo', 'maintain', 'ada/library')
  t.equal(exitCode, 0, errorText)
  t.match(output, /^maintained ada\/library: \d+ packs before, \d after, \d+ KiB\n$/)
  t.match(
    await packStateOf(path),
    { hasBitmap: true, hasGraph: true },
    'the repository is maintained by the command',
  )
  return gits.length
}

/**
 * Waits until no stale file is left; returns the last ones. The pauses are long, because the lease
 * of a killed job ends after half a minute.
 */
async function untilClean(dataDir: string): Promise<readonly string[]> {
  const deadlineMs = Date.now() + WITHIN_MS
  for (;;) {
    const paths = await listStaleFilesIn(dataDir)
    if (paths.length === 0 || Date.now() > deadlineMs) return paths
    await sleep(400)
  }
}

/**
 * Waits for running maintenance; returns its git processes. Unlike a push, maintenance also has a
 * journal entry of its own process.
 */
async function untilAtWork(dataDir: string): Promise<readonly number[]> {
  const findGits = async () => {
    const entries = [...(await listJournalEntries(dataDir)).values()]
    const own = entries.find(({ leader, gateway }) => leader.pid === gateway.pid)
    const leaders = entries.filter(({ leader, gateway }) => leader.pid !== gateway.pid)
    return own === undefined ? [] : leaders.map(({ leader }) => leader.pid)
  }
  return until(findGits, (pids) => pids.length > 0, TAKEN_WITHIN_MS)
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // The process has just ended by itself.
    }
  }
}
