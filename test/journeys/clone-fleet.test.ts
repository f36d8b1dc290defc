/** Fleets of clients that clone the same commit at once: git works once, and nobody notices. */

import { randomBytes, randomInt } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Test, t } from 'tap'
import { postFetch, readFetchAnswer } from '../helpers/fetch-answers.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { git, tryGit } from '../helpers/git-client.js'
import { fetchBody, gitRequest, packetLine } from '../helpers/git-requests.js'
import { countPackCache } from '../helpers/pack-cache-counts.js'
import { connectTo } from '../helpers/raw-http.js'
import { makeRepository } from '../helpers/repositories.js'
import {
  gitProcessesOf,
  memoryOf,
  openFilesOf,
  until,
  workersOf,
} from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import { newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

const FULL_CLONES = isFullSize ? 129 : 40
const SHALLOW_CLONES = isFullSize ? 500 : 150
const LEAVING_CLIENTS = isFullSize ? 1_000 : 200
const MEMORY_BYTES_MAX = 250 << 20
const CONTENT_BYTES = 3_000_000
const SETTLES_WITHIN_MS = 10_000
/** Files that a worker opens once and keeps: the database, the folders of a repository. */
const FILES_SLACK = 16

interface Fleet {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly copy: WorkingCopy
  readonly remote: string
}

async function startFleet(t: Test, environment: Record<string, string> = {}): Promise<Fleet> {
  const gatehouse = await startGatehouse(t, { workers: 2, environment })
  const ada = await gatehouse.addUser('ada')
  const remote = ada.remote(`${await makeRepository(ada, 'library')}.git`)
  const copy = await newWorkingCopy(t)
  return { gatehouse, ada, copy, remote }
}

/** A commit of content that does not compress, pushed; its name. */
async function pushCommit({ copy, remote }: Fleet, bytes = CONTENT_BYTES): Promise<string> {
  await writeFile(join(copy.path, 'content'), randomBytes(bytes))
  await copy.git('add', 'content')
  await copy.git('commit', '--quiet', '-m', 'content')
  await copy.git('push', '--quiet', remote, 'HEAD:refs/heads/main')
  return await copy.git('rev-parse', 'HEAD')
}

function ask({ gatehouse, ada }: Fleet, body: Buffer) {
  const path = '/ada/library.git'
  const authorization = `token ${ada.token}`
  return postFetch({ port: gatehouse.port, path, authorization, body })
}

function shallowBody(commit: string): Buffer {
  const args = ['no-progress\n', 'deepen 1\n', `want ${commit}\n`, 'done\n']
    .map(packetLine)
    .join('')
  return Buffer.from(`${packetLine('command=fetch')}0001${args}0000`)
}

t.test('all who clone a commit of a moment ago share the work', async (t) => {
  const fleet = await startFleet(t)
  const workers = await workersOf(fleet.gatehouse.pid)
  for (const [name, count, bodyOf] of [
    ['full', FULL_CLONES, fetchBody],
    ['shallow', SHALLOW_CLONES, shallowBody],
  ] as const) {
    const commit = await pushCommit(fleet)
    const before = await countPackCache(fleet.gatehouse, 'fetch')
    const isOver = new AbortController()
    const times = timeApi(fleet, isOver.signal)
    const body = bodyOf(commit)
    const answers = await Promise.all(Array.from({ length: count }, () => ask(fleet, body)))
    isOver.abort()
    t.ok(
      answers.every(({ status }) => status === 200),
      `${name}: all are answered`,
    )
    const [first] = answers
    t.ok(readFetchAnswer(first?.body ?? Buffer.alloc(0)).isWhole)
    t.ok(
      answers.every((answer) => first?.body.equals(answer.body)),
      `${name}: and alike`,
    )
    const after = await countPackCache(fleet.gatehouse, 'fetch')
    t.ok(after.miss - before.miss <= 2, `${name}: git worked ${after.miss - before.miss} times`)
    t.comment(`${name}: ${JSON.stringify(after)}; API, slowest of 100: ${await times} ms`)
  }
  const peaks = await Promise.all(workers.map(memoryOf))
  const peaksMib = peaks.map(({ peakBytes }) => Math.round(peakBytes / (1 << 20)))
  t.ok(
    peaks.every(({ peakBytes }) => peakBytes < MEMORY_BYTES_MAX),
    `${peaksMib} MiB at the most`,
  )
  t.comment(`workers at most ${peaksMib.join(' and ')} MiB`)
})

/** Asks the API all the while; the time within which 99 of 100 answers came, in milliseconds. */
async function timeApi({ gatehouse, ada }: Fleet, signal: AbortSignal): Promise<number> {
  const times: number[] = []
  while (!signal.aborted) {
    const startedAt = performance.now()
    await ada.api('GET', '/repos/ada/library')
    times.push(performance.now() - startedAt)
  }
  if (gatehouse.pid === 0) return 0
  times.sort((one, other) => one - other)
  return Math.round(times[Math.floor(times.length * 0.99)] ?? 0)
}

t.test('real clones at once are whole', async (t) => {
  const fleet = await startFleet(t)
  const commit = await pushCommit(fleet)
  const folder = await temporaryFolder(t)
  const clones = Array.from({ length: isFullSize ? 64 : 12 }, (_, index) =>
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
    t.equal(await git(['rev-parse', 'HEAD'], { cwd }), commit)
    t.equal((await tryGit(['fsck', '--full'], { cwd })).exitCode, 0)
  }
})

t.test('clients that leave at a random byte end nobody else, and leave nothing', async (t) => {
  const fleet = await startFleet(t)
  const { gatehouse, ada } = fleet
  const workers = await workersOf(gatehouse.pid)
  await ask(fleet, fetchBody(await pushCommit(fleet)))
  const filesBefore = await Promise.all(workers.map(openFilesOf))
  for (let left = LEAVING_CLIENTS; left > 0; left -= 50) {
    const body = fetchBody(await pushCommit(fleet))
    const leaving = Array.from({ length: 50 }, () => leave(gatehouse.port, ada.token, body))
    const staying = Array.from({ length: 4 }, () => ask(fleet, body))
    await Promise.all(leaving)
    for (const { status, body } of await Promise.all(staying)) {
      t.ok(status === 200 && readFetchAnswer(body).isWhole, 'who stays is answered')
    }
  }
  const processes = await until(
    () => gitProcessesOf(gatehouse.dataDir),
    (pids) => pids.length === 0,
    SETTLES_WITHIN_MS,
  )
  t.strictSame(processes, [], 'no git process is left')
  const parts = await until(
    () => partsIn(gatehouse),
    (names) => names.length === 0,
    SETTLES_WITHIN_MS,
  )
  t.strictSame(parts, [], 'no unfinished answer is left')
  const isBack = (files: readonly number[]) =>
    files.every((count, index) => count <= (filesBefore[index] ?? 0) + FILES_SLACK)
  const files = await until(() => Promise.all(workers.map(openFilesOf)), isBack, SETTLES_WITHIN_MS)
  t.ok(isBack(files), `open files are back to ${filesBefore}: ${files}`)
  t.strictSame(await workersOf(gatehouse.pid), workers, 'no worker died')
})

async function leave(port: number, token: string, body: Buffer): Promise<void> {
  const socket = await connectTo(port)
  socket.write(gitRequest({ service: 'git-upload-pack', token, bodyBytes: body.length }))
  socket.write(body)
  let bytesLeft = randomInt(CONTENT_BYTES)
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      bytesLeft -= chunk.length
      if (bytesLeft <= 0) resolve()
    })
    socket.on('close', () => resolve())
    setTimeout(resolve, randomInt(500))
  })
  socket.destroy()
}

async function partsIn({ dataDir }: Gatehouse): Promise<readonly string[]> {
  const names = await readdir(join(dataDir, 'cache', 'packs'))
  return names.filter((name) => name.endsWith('.part'))
}

t.test('a worker that dies in a flight leaves whole clones or failed ones', async (t) => {
  const fleet = await startFleet(t)
  const folder = await temporaryFolder(t)
  let done = 0
  for (let round = 0; round < (isFullSize ? 20 : 4); round += 1) {
    const commit = await pushCommit(fleet, 20_000_000)
    const clones = Array.from({ length: 6 }, (_, index) =>
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
      t.equal((await tryGit(['fsck', '--full'], { cwd })).exitCode, 0, 'what is done is whole')
    }
    await until(
      () => workersOf(fleet.gatehouse.pid),
      (pids) => pids.length === 2,
      SETTLES_WITHIN_MS,
    )
    t.equal((await tryGit(['ls-remote', fleet.remote], { cwd: folder })).exitCode, 0)
  }
  t.comment(`${done} clones were done`)
})

t.test('where the cache has no room, clones go past it', async (t) => {
  const fleet = await startFleet(t, { GATEHOUSE_CACHE_DISK_FREE: '900000GiB' })
  const body = fetchBody(await pushCommit(fleet))
  const answers = await Promise.all(Array.from({ length: 4 }, () => ask(fleet, body)))
  t.ok(answers.every((answer) => answer.status === 200 && readFetchAnswer(answer.body).isWhole))
  t.match(await countPackCache(fleet.gatehouse, 'fetch'), { hit: 0, join: 0, miss: 0 })
})
