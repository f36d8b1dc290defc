/** Many clients that clone the same commit concurrently share the work of one git process. */

import { randomBytes, randomInt } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Test, t } from 'tap'
import { objectsOf, postFetch, readFetchAnswer } from '../helpers/fetch-answers.js'
import {
  type Gatehouse,
  type GatehouseOptions,
  type Person,
  startGatehouse,
} from '../helpers/gatehouse.js'
import { startGatewayWithRepository } from '../helpers/gateway-with-repository.js'
import { git, tryGit } from '../helpers/git-client.js'
import { abortPair, fetchBody, pairBody } from '../helpers/git-requests.js'
import { countOutcomes, countPackCache, untilNoGit } from '../helpers/pack-cache-counts.js'
import { makeRepository } from '../helpers/repositories.js'
import {
  gitProcessesBelow,
  gitProcessesOf,
  memoryOf,
  openFilesOf,
  until,
  untilFilesAreClosed,
  workersOf,
} from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import { cloneInto, newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

const FULL_CLONES = isFullSize ? 129 : 12
const SHALLOW_CLONES = isFullSize ? 500 : 20
const REAL_CLONES = isFullSize ? 64 : 4
const LEAVING_CLIENTS = isFullSize ? 1_000 : 16
const MEMORY_BYTES_MAX = 250 << 20
const CONTENT_BYTES = isFullSize ? 3_000_000 : 1_000_000
/** Large enough that a worker can be killed while it is sent. */
const LONG_CONTENT_BYTES = isFullSize ? 20_000_000 : 6_000_000
const SETTLES_WITHIN_MS = 60_000
/** Number of concurrent pairs of a leader and a coalesced client that disconnect. */
const PAIRS = isFullSize ? 25 : 8

interface Fleet {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly copy: WorkingCopy
  readonly remote: string
}

async function startFleet(t: Test, options: GatehouseOptions): Promise<Fleet> {
  const gatehouse = await startGatehouse(t, options)
  const ada = await gatehouse.addUser('ada')
  const remote = ada.remote(`${await makeRepository(ada, 'library')}.git`)
  const copy = await newWorkingCopy(t)
  // The content does not compress.
  await copy.git('config', 'core.compression', '0')
  return { gatehouse, ada, copy, remote }
}

/** Pushes a commit of incompressible content and returns its id. */
async function pushCommit({ copy, remote }: Fleet, bytes = CONTENT_BYTES): Promise<string> {
  await writeFile(join(copy.path, 'content'), randomBytes(bytes))
  await copy.git('add', 'content')
  await copy.git('commit', '--quiet', '-m', 'content')
  await copy.git('push', '--quiet', remote, 'HEAD:refs/heads/main')
  return await copy.git('rev-parse', 'HEAD')
}

function sendFetch({ gatehouse, ada }: Fleet, body: Buffer) {
  const path = '/ada/library.git'
  const authorization = `token ${ada.token}`
  return postFetch({ port: gatehouse.port, path, authorization, body })
}

const shallowBody = (commit: string) => fetchBody(commit, 'deepen 1')

// All subtests use one server, so the one that kills its workers is the last.
t.test('fleets of clients', async (t) => {
  const fleet = await startFleet(t, { workers: 2 })
  await t.test('concurrent clones of a new commit are coalesced', (t) => shareWork(t, fleet))
  await t.test('concurrent clones with git are complete', (t) => cloneWhole(t, fleet))
  await t.test('clones after a push are ready if another worker has received it', (t) =>
    cloneAfterPushes(t, fleet),
  )
  await t.test('clients that disconnect at a random byte do not affect coalesced clients', (t) =>
    leaveEarly(t, fleet),
  )
  await t.test('clones are complete or fail if a worker is killed during a fetch', (t) =>
    killWorkers(t, fleet),
  )
})

async function shareWork(t: Test, fleet: Fleet): Promise<void> {
  const workers = await workersOf(fleet.gatehouse.pid)
  const folder = await temporaryFolder(t)
  for (const [name, count, bodyOf] of [
    ['full', FULL_CLONES, fetchBody],
    ['shallow', SHALLOW_CLONES, shallowBody],
  ] as const) {
    const commit = await pushCommit(fleet)
    const before = await countPackCache(fleet.gatehouse, 'fetch')
    const body = bodyOf(commit)
    const sent = Array.from({ length: count }, () => sendFetch(fleet, body))
    const { status } = await fleet.ada.api('GET', '/repos/ada/library')
    t.equal(status, 200, `${name}: the API answers during the clones`)
    const answers = await Promise.all(sent)
    t.ok(
      answers.every(({ status }) => status === 200),
      `${name}: all requests are answered`,
    )
    const after = await countPackCache(fleet.gatehouse, 'fetch')
    const misses = after.miss - before.miss
    t.ok(misses <= 2, `${name}: git ran ${misses} times`)
    // Git splits a pack into pkt-lines depending on timing, so each run gives different bytes.
    const distinct = distinctBodies(answers.map(({ body }) => body))
    t.ok(distinct.length <= misses, `${name}: replies are git's, ${distinct.length} distinct`)
    const packs = distinct.map(readFetchAnswer)
    t.ok(packs.every(({ isWhole }) => isWhole))
    const objects = await Promise.all(packs.map(({ pack }) => objectsOf(pack, folder)))
    t.ok(objects[0]?.includes(commit), `${name}: the pack has the commit`)
    for (const others of objects)
      t.same(others, objects[0], `${name}: the packs have equal objects`)
    t.comment(`${name}: ${JSON.stringify(after)}`)
  }
  const peaks = await Promise.all(workers.map(memoryOf))
  const peaksMib = peaks.map(({ peakBytes }) => Math.round(peakBytes / (1 << 20)))
  t.ok(
    peaks.every(({ peakBytes }) => peakBytes < MEMORY_BYTES_MAX),
    `the workers use at most ${peaksMib} MiB`,
  )
  t.comment(`workers at most ${peaksMib.join(' and ')} MiB`)
}

function distinctBodies(bodies: readonly Buffer[]): Buffer[] {
  const distinct: Buffer[] = []
  for (const body of bodies) if (!distinct.some((other) => other.equals(body))) distinct.push(body)
  return distinct
}

async function cloneWhole(t: Test, fleet: Fleet): Promise<void> {
  const commit = await pushCommit(fleet)
  const folder = await temporaryFolder(t)
  const clones = Array.from({ length: REAL_CLONES }, (_, index) =>
    tryGit(
      ['clone', '--quiet', ...(index % 2 === 0 ? [] : ['--depth=1']), fleet.remote, `${index}`],
      {
        cwd: folder,
      },
    ),
  )
  t.ok((await Promise.all(clones)).every(({ exitCode }) => exitCode === 0))
  for (const [index] of clones.entries()) {
    const cwd = join(folder, `${index}`)
    // A clone that succeeds has verified that no object is missing.
    t.equal(await git(['rev-parse', 'HEAD'], { cwd }), commit)
  }
}

async function cloneAfterPushes(t: Test, { gatehouse, ada, copy }: Fleet): Promise<void> {
  const remote = ada.remote(`${await makeRepository(ada, 'small')}.git`)
  await copy.git('checkout', '--quiet', '--orphan', 'small')
  await copy.git('reset', '--quiet', '--hard')
  const push = async (name: string) => {
    await copy.commit(name)
    await copy.git('push', '--quiet', remote, 'HEAD:refs/heads/main')
  }
  const clone = () =>
    countOutcomes(gatehouse, async () => {
      await cloneInto(t, remote, ['--quiet', '--depth=1', '--branch=main'])
    })
  await push('first')
  for (let clients = 0; clients < 2; clients += 1) await clone()
  for (let pushes = 0; pushes < 6; pushes += 1) {
    await push(`file-${pushes}`)
    await untilNoGit(gatehouse)
    t.strictSame(await clone(), { hit: 1, miss: 0, bypass: 0 })
  }
  await copy.git('checkout', '--quiet', 'main')
}

async function leaveEarly(t: Test, fleet: Fleet): Promise<void> {
  const { gatehouse, ada } = fleet
  const workers = await workersOf(gatehouse.pid)
  await sendFetch(fleet, fetchBody(await pushCommit(fleet)))
  const filesBefore = await Promise.all(workers.map(openFilesOf))
  const before = await countPackCache(gatehouse, 'fetch')
  const rest = { port: gatehouse.port, token: ada.token, bytesMax: CONTENT_BYTES, msMax: 500 }
  for (let left = LEAVING_CLIENTS; left > 0; left -= 2 * PAIRS) {
    const commit = await pushCommit(fleet)
    const pairs = Array.from({ length: PAIRS }, (_, number) => number)
    const abortedPairs = pairs.map((number) => abortPair({ commit, number }, rest))
    const staying = pairs.slice(0, 4).map((number) => sendFetch(fleet, pairBody(commit, number)))
    await Promise.all(abortedPairs)
    for (const { status, body } of await Promise.all(staying)) {
      t.ok(
        status === 200 && readFetchAnswer(body).isWhole,
        'a client that stays connected gets a complete reply',
      )
    }
  }
  await until(
    () => gitProcessesBelow(gatehouse.pid),
    (processes) => processes.length === 0,
    SETTLES_WITHIN_MS,
  )
  const processes = () => gitProcessesOf(gatehouse.dataDir)
  const left = await until(processes, ({ length }) => length === 0, SETTLES_WITHIN_MS)
  t.strictSame(left, [], 'no git process is left')
  const parts = await until(
    () => partsIn(gatehouse),
    (names) => names.length === 0,
    SETTLES_WITHIN_MS,
  )
  t.strictSame(parts, [], 'no partial cache file is left')
  const { files, isBack } = await untilFilesAreClosed(workers, filesBefore, SETTLES_WITHIN_MS)
  t.ok(isBack, `open files are back to ${filesBefore}: ${files}`)
  t.strictSame(await workersOf(gatehouse.pid), workers, 'no worker died')
  const after = await countPackCache(gatehouse, 'fetch')
  const [led, joined] = [after.miss - before.miss, after.join - before.join]
  t.ok(led > 0 && joined > 0, `${led} fetches were leaders, ${joined} were coalesced`)
  t.comment(`${led} fetches were leaders, ${joined} were coalesced`)
}

async function partsIn({ dataDir }: Gatehouse): Promise<readonly string[]> {
  const names = await readdir(join(dataDir, 'cache', 'packs'))
  return names.filter((name) => name.endsWith('.part'))
}

async function killWorkers(t: Test, fleet: Fleet): Promise<void> {
  const folder = await temporaryFolder(t)
  let done = 0
  for (let round = 0; round < (isFullSize ? 20 : 1); round += 1) {
    const commit = await pushCommit(fleet, LONG_CONTENT_BYTES)
    const clones = Array.from({ length: 5 }, (_, index) =>
      tryGit(['clone', '--quiet', '--bare', fleet.remote, `${round}-${index}`], { cwd: folder }),
    )
    const workers = await workersOf(fleet.gatehouse.pid)
    await new Promise((resolve) => setTimeout(resolve, 150 + randomInt(600)))
    process.kill(workers[round % 2] ?? -1, 'SIGKILL')
    for (const [index, { exitCode }] of (await Promise.all(clones)).entries()) {
      if (exitCode !== 0) continue
      done += 1
      const cwd = join(folder, `${round}-${index}`)
      t.equal(await git(['rev-parse', 'main'], { cwd }), commit)
      const faults = await tryGit(['fsck', '--full'], { cwd })
      t.equal(faults.exitCode, 0, 'a clone that succeeds is complete')
    }
    await until(
      () => workersOf(fleet.gatehouse.pid),
      (pids) => pids.length === 2,
      SETTLES_WITHIN_MS,
    )
    const later = await tryGit(['clone', '--quiet', '--bare', fleet.remote, `${round}-later`], {
      cwd: folder,
    })
    t.equal(later.exitCode, 0, 'a later clone is complete')
    const parts = await until(
      () => partsIn(fleet.gatehouse),
      (names) => names.length === 0,
      SETTLES_WITHIN_MS,
    )
    t.strictSame(parts, [], 'the unfinished answer is removed')
  }
  t.comment(`${done} clones succeeded`)
}

t.test('clones bypass the cache if the disk has too little free space', async (t) => {
  const environment = { GATEHOUSE_CACHE_DISK_FREE: '900000GiB' }
  const { port, commits } = await startGatewayWithRepository(t, { environment })
  const url = `http://127.0.0.1:${port}`
  const body = fetchBody(commits[2])
  const answers = await Promise.all(
    Array.from({ length: 4 }, () => postFetch({ port, path: '/ada/r.git', body })),
  )
  t.ok(answers.every((answer) => answer.status === 200 && readFetchAnswer(answer.body).isWhole))
  t.match(await countPackCache({ url }, 'fetch'), { hit: 0, join: 0, miss: 0 })
})
