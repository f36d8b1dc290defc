/** `runners`: idle runners, and jobs that write logs beside API reads and clones. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import {
  type Credentials,
  createServerClient,
  type ServerClient,
} from '../../gateway/own-runner/server-client.js'
import { Result } from '../../gateway/runner-protocol/messages.js'
import {
  FETCH_TASK,
  REGISTER,
  UPDATE_LOG,
  UPDATE_TASK,
} from '../../gateway/runner-protocol/procedures.js'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { type Gatehouse, OWNER, startGatehouse } from './gatehouse.js'
import { startMariadb } from './mariadb.js'
import { quantile } from './quantile.js'
import { type RecordedClone, type RecordedRequest, recordClone } from './recorder.js'
import { PROJECT_FOLDER } from './repositories.js'
import type { MeasuredServer } from './server.js'
import type { Grid } from './table.js'

/** Runners of one repository, which is the maximum; the idle ones are of several. */
const RUNNERS_EACH = 200
const REPOSITORIES = 5

const IDLE_MS = 60_000
const LOGGED_MS = 30_000
/** Interval at which a job sends rows, and the number of these. */
const SENT_EVERY_MS = 1_000
const ROWS_EACH = 100
/** Interval at which a job is reported to run. */
const REPORTED_EVERY_MS = 5_000
/** Interval between the reads whose delay is measured. */
const READ_EVERY_MS = 50
/** Time for which a poll may be held, which the runners of both families ask for. */
const HOLD_MS = 4_999

export const RUNNERS_BENCHMARK: Benchmark = {
  name: 'runners',
  about: 'idle runners, and jobs that write logs beside API reads and clones',
  async *run(context) {
    yield await measure(context, 'SQLite')
    const mariadb = await startMariadb(context)
    try {
      yield await measure(context, 'MariaDB', mariadb)
    } finally {
      await mariadb.stop()
    }
  },
}

interface Fleet {
  readonly gatehouse: Gatehouse
  /** Returns the CPU time of the server and its database. */
  cpuMs(): Promise<number>
  /** Runners of each repository. */
  readonly groups: ReadonlyArray<readonly ServerClient[]>
  /** Requests of a clone of depth 1 of the second repository. */
  readonly clone: RecordedClone
  readonly signal: AbortSignal
}

async function measure(
  { folder, signal }: BenchmarkContext,
  label: string,
  mariadb?: MeasuredServer,
): Promise<Grid> {
  const context = { folder: join(folder, label), signal }
  await mkdir(context.folder)
  const database = mariadb === undefined ? {} : { GATEHOUSE_DATABASE_URL: mariadb.url }
  const gatehouse = await startGatehouse(context, { environment: database })
  try {
    const groups = []
    for (let at = 0; at < REPOSITORIES; at += 1) groups.push(await addRunners(gatehouse, at))
    const cpuMs = async () =>
      ((await gatehouse.cpu.cpuMs()) ?? Number.NaN) + ((await mariadb?.cpu.cpuMs()) ?? 0)
    const address = `${gatehouse.url}/${OWNER}/${nameOf(1)}.git`
    const clone = await recordClone(address, { args: ['--depth=1'], ...context })
    const fleet = { gatehouse, cpuMs, groups, clone, signal }
    const alone = await measureReads(fleet, IDLE_MS / 2)
    const idle = await measureIdle(fleet)
    const logged = await measureLogs(fleet)
    return {
      title: `Runners with ${label}`,
      head: [['', 'CPU ms/s', 'rows/s', 'API ms', '99 %', 'clone ms', '99 %']],
      cells: [
        ['no runner', ...cellsOf(alone)],
        [`${REPOSITORIES * RUNNERS_EACH} idle runners`, ...cellsOf(idle)],
        [`${RUNNERS_EACH} jobs, ${ROWS_EACH} rows a second each`, ...cellsOf(logged)],
      ],
      notes: [
        `An idle runner costs ${hourlyCpu(alone, idle)} s of CPU in an hour. The runners poll as` +
          ` Gatehouse's own does; the reads are one after the other, each ${READ_EVERY_MS} ms.`,
      ],
    }
  } finally {
    await gatehouse.stop()
  }
}

/** Figures of one phase. */
interface Phase {
  readonly cpuMsPerSecond: number
  /** Number of acknowledged rows of logs. */
  readonly rowsPerSecond: number
  readonly apiMs: readonly number[]
  /** Times of the three requests of a clone of depth 1. */
  readonly cloneMs: readonly number[]
}

function cellsOf({ cpuMsPerSecond, rowsPerSecond, apiMs, cloneMs }: Phase) {
  const times = [apiMs, cloneMs].flatMap((list) => [quantile(list, 0.5), quantile(list, 0.99)])
  return [cpuMsPerSecond, rowsPerSecond, ...times]
}

function hourlyCpu(alone: Phase, idle: Phase): string {
  const cpuMs = idle.cpuMsPerSecond - alone.cpuMsPerSecond
  return ((cpuMs * 3.6) / (REPOSITORIES * RUNNERS_EACH)).toFixed(2)
}

/** Creates a repository with Actions, and registers its runners. */
async function addRunners(gatehouse: Gatehouse, at: number): Promise<readonly ServerClient[]> {
  const { url } = gatehouse
  const name = nameOf(at)
  await gatehouse.addRepository(name, PROJECT_FOLDER)
  await ask(gatehouse, 'PATCH', `/repos/${OWNER}/${name}`, { has_actions: true })
  const path = `/repos/${OWNER}/${name}/actions/runners/registration-token`
  const { token } = (await ask(gatehouse, 'POST', path)) as { readonly token: string }
  const clients: ServerClient[] = []
  for (let index = 0; index < RUNNERS_EACH; index += 1) {
    const message = { name: `runner-${index}`, token, version: 'bench', labels: ['linux'] }
    const { runner } = await createServerClient(url).call(REGISTER, message)
    clients.push(createServerClient(url, runner as Credentials))
  }
  return clients
}

function nameOf(at: number): string {
  return `project-${at}`
}

async function ask(
  { url, token }: Gatehouse,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text)
}

/** Measures reads for some time, while other clients work. */
async function measureReads(
  { gatehouse, cpuMs, clone, signal }: Fleet,
  durationMs: number,
  countRows = () => 0,
): Promise<Phase> {
  const { url, token } = gatehouse
  const headers = { authorization: `token ${token}` }
  const project = `${OWNER}/${nameOf(1)}`
  const read = async (
    path: string,
    { headers: ofRequest = [], body }: Partial<RecordedRequest>,
  ) => {
    const answer = await fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...Object.fromEntries(ofRequest.map((line) => line.split(': ', 2))), ...headers },
      ...(body === undefined ? {} : { body }),
      signal,
    })
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`)
  }
  const [apiMs, cloneMs]: [number[], number[]] = [[], []]
  const [cpuBeforeMs, rowsBefore, beforeMs] = [await cpuMs(), countRows(), performance.now()]
  while (performance.now() - beforeMs < durationMs) {
    const startedMs = performance.now()
    await read(`/api/v1/repos/${project}`, {})
    const readMs = performance.now()
    apiMs.push(readMs - startedMs)
    for (const request of [clone.references, clone.listing, clone.fetch]) {
      await read(`/${project}.git/${request.suffix}`, request)
    }
    cloneMs.push(performance.now() - readMs)
    await sleep(READ_EVERY_MS)
  }
  const seconds = (performance.now() - beforeMs) / 1_000
  return {
    cpuMsPerSecond: ((await cpuMs()) - cpuBeforeMs) / seconds,
    rowsPerSecond: (countRows() - rowsBefore) / seconds,
    apiMs,
    cloneMs,
  }
}

/** Lets all runners poll without a job. */
async function measureIdle(fleet: Fleet): Promise<Phase> {
  const stop = new AbortController()
  const polls = fleet.groups.flat().map(async (client) => {
    // Runners do not start all in the same moment.
    await sleep(Math.random() * HOLD_MS)
    while (!stop.signal.aborted) await client.call(FETCH_TASK, {}, { holdMs: HOLD_MS })
  })
  await sleep(2 * HOLD_MS)
  const phase = await measureReads(fleet, IDLE_MS)
  stop.abort()
  await Promise.all(polls)
  return phase
}

const WORKFLOW = `on: push
jobs:
  build:
    strategy:
      fail-fast: false
      matrix: { part: [${Array.from({ length: RUNNERS_EACH }, (_, at) => at).join()}] }
    runs-on: linux
    steps: [{ run: make }]
`

/** Starts a job on each runner of a repository, and lets all write logs. */
async function measureLogs(fleet: Fleet): Promise<Phase> {
  const { gatehouse, groups, signal } = fleet
  const [clients = []] = groups
  const content = Buffer.from(WORKFLOW).toString('base64')
  const path = `/repos/${OWNER}/${nameOf(0)}/contents/.gitea/workflows/ci.yaml`
  await ask(gatehouse, 'POST', path, { content, message: 'Add jobs' })
  const taskIds = await Promise.all(clients.map((client) => fetchTask(client, signal)))
  const stop = new AbortController()
  let rows = 0
  const jobs = clients.map(async (client, at) => {
    const taskId = taskIds[at] ?? 0n
    await sleep(Math.random() * SENT_EVERY_MS)
    let reportedMs = 0
    for (let index = 0; !stop.signal.aborted; ) {
      const startedMs = performance.now()
      if (startedMs - reportedMs > REPORTED_EVERY_MS) {
        await client.call(UPDATE_TASK, { state: { id: taskId, result: Result.UNSPECIFIED } })
        reportedMs = startedMs
      }
      const message = { taskId, index: BigInt(index), rows: rowsFrom(index) }
      const { ackIndex } = await client.call(UPDATE_LOG, message)
      rows += Number(ackIndex) - index
      index = Number(ackIndex)
      await sleep(Math.max(0, SENT_EVERY_MS - (performance.now() - startedMs)))
    }
  })
  await sleep(2 * SENT_EVERY_MS)
  const phase = await measureReads(fleet, LOGGED_MS, () => rows)
  stop.abort()
  await Promise.all(jobs)
  return phase
}

async function fetchTask(client: ServerClient, signal: AbortSignal): Promise<bigint> {
  while (!signal.aborted) {
    const { task } = await client.call(FETCH_TASK, {}, { holdMs: HOLD_MS })
    if (task !== undefined) return task.id
  }
  throw new Error('the benchmark was interrupted')
}

function rowsFrom(index: number) {
  const time = timestampFromMs(Date.now())
  return Array.from({ length: ROWS_EACH }, (_, at) => ({
    time,
    content: `row ${index + at}: compiling src/part-${(index * 31 + at) % 977}.c with the options of the project`,
  }))
}
