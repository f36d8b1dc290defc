/** Threat: all bombs, sent concurrently, exhaust the memory or delay other clients. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, t } from 'tap'
import { type BombScene, isFault, sendBombs } from '../helpers/bomb-clients.js'
import { postFetch } from '../helpers/fetch-answers.js'
import { type Gatehouse, startGatehouse } from '../helpers/gatehouse.js'
import { conflictingTreeBombs } from '../helpers/git-bombs.js'
import { fetchBody } from '../helpers/git-requests.js'
import { loopDelaysOf } from '../helpers/loop-delay.js'
import { makeRepository } from '../helpers/repositories.js'
import { gitProcessesBelow, workersOf } from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'
import { newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

const CLIENTS = isFullSize ? 20 : 6
/** Minimum duration; at the normal size each attack is made once. */
const LASTS_MS = isFullSize ? 300_000 : 0
/** Number of hostile files: a rendered file is cached, so each view needs another one. */
const HOSTILE_FILES = isFullSize ? 400 : 10
/** Pause of another client after each reply. */
const OTHERS_EVERY_MS = isFullSize ? 50 : 200
const MEMORY_BYTES_MAX = 2 * 1024 ** 3
/** Niceness of the hostile clients; the lowest priority simulates clients on other machines. */
const NICENESS = isFullSize ? 19 : 0
/** Latency limit, checked only at full size, where the machine has no other load. */
const P99_MS_MAX = 500
const DELAY_SECONDS_MAX = 0.05

interface Scene {
  readonly gatehouse: Gatehouse
  /** Commit of `ada/code`, which other clients clone. */
  readonly code: string
  readonly bombs: BombScene
}

t.test('other clients are served and memory is bounded during all bombs', async (t) => {
  const scene = await startScene(t)
  const state = { isOver: false }
  const isOver = () => state.isOver
  const memory = watchMemory(scene.gatehouse, isOver)
  const others = Object.entries(OTHERS).map(async ([name, ask]) => {
    return { name, ...(await repeat(() => ask(scene), isOver)) }
  })
  const statuses = await sendBombs(scene.bombs, NICENESS)
  state.isOver = true
  for (const [name, counts] of Object.entries(statuses)) {
    const seen = Object.keys(counts).map(Number)
    t.strictSame(seen.filter(isFault), [], `${name}: ${JSON.stringify(counts)}`)
  }
  for (const { name, times, faults } of await Promise.all(others)) {
    t.comment(
      `${name}: ${times.length} answers, p50 ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms`,
    )
    t.strictSame(faults, [], `${name}: no request of another client fails`)
    if (isFullSize) t.ok(at(times, 0.99) < P99_MS_MAX, `${name}: p99 is ${at(times, 0.99)} ms`)
  }
  const delays = await loopDelaysOf(scene.gatehouse)
  const share = delays.above(DELAY_SECONDS_MAX) / delays.samples
  t.comment(`event loop: ${delays.samples} samples, ${share} of them above ${DELAY_SECONDS_MAX} s`)
  if (isFullSize) t.ok(share < 0.01, "the p99 of the event loop's delay is within the limit")
  const peak = await memory
  t.ok(peak < MEMORY_BYTES_MAX, `all processes take at most ${Math.round(peak / 1024 ** 2)} MiB`)
  const { status } = await fetch(`${scene.gatehouse.url}/readyz`)
  t.equal(status, 200)
})

async function startScene(t: Test): Promise<Scene> {
  if (isFullSize) await disableAutogroups(t)
  const gatehouse = await startGatehouse(t)
  const ada = await gatehouse.addUser('ada')
  const eve = await gatehouse.addUser('eve')
  const source = await newWorkingCopy(t)
  const files = Array.from({ length: 20 }, (_, n) => [`file-${n}.ts`, `${n}\n`.repeat(20_000)])
  await commitFiles(source, Object.fromEntries(files))
  await source.git('push', '--quiet', ada.remote(await makeRepository(ada, 'code')), 'main')
  const bombs = await newWorkingCopy(t)
  await commitHostileFiles(bombs)
  await bombs.git('push', '--quiet', eve.remote(await makeRepository(eve, 'bombs')), 'main')
  const remote = eve.remote(await makeRepository(eve, 'trees'))
  const { main, side } = await conflictingTreeBombs(bombs, { width: 10, depth: 10 })
  await bombs.git('push', '--quiet', remote, `${main}:refs/heads/main`, `${side}:refs/heads/side`)
  const pull = { title: 'Bombs', head: 'side', base: 'main' }
  await eve.api('POST', '/repos/eve/trees/pulls', pull)
  const code = await source.git('rev-parse', 'HEAD')
  const { url, port } = gatehouse
  const size = { hostileFiles: HOSTILE_FILES, clients: CLIENTS, lastsMs: LASTS_MS }
  return {
    gatehouse,
    code,
    bombs: { url, port, token: eve.token, copy: bombs.path, code, ...size },
  }
}

/**
 * Disables autogroups (sched(7), "The autogroup feature"), so that niceness decides between the
 * server's processes as it does in a systemd service's control group. With autogroups, each git
 * process is a session with its own share of CPU time.
 */
async function disableAutogroups(t: Test): Promise<void> {
  const file = '/proc/sys/kernel/sched_autogroup_enabled'
  const before = await readFile(file, 'utf8').catch(() => undefined)
  if (before === undefined) return
  await writeFile(file, '0')
  t.teardown(() => writeFile(file, before))
}

/** Commits files whose highlighting takes quadratic time, and a file with many placeholders. */
async function commitHostileFiles(copy: WorkingCopy): Promise<void> {
  const line = '#a '.repeat(1_600)
  const slow = Array.from({ length: HOSTILE_FILES }, (_, n) => [
    `slow-${n}.c`,
    `// ${n}\n${`${line}\n`.repeat(40)}`,
  ])
  await commitFiles(copy, {
    ...Object.fromEntries(slow),
    '.gitattributes': 'bomb export-subst\n',
    bomb: `$Format:${'%>(16384)%n'.repeat(1_500)}$\n`.repeat(4),
  })
}

async function commitFiles(
  copy: WorkingCopy,
  files: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await writeFile(join(copy.path, name), content)
  }
  await copy.git('add', '.')
  await copy.git('commit', '--quiet', '-m', 'Write files')
}

/** Requests of the other clients; each returns its status. */
const OTHERS: Readonly<Record<string, (scene: Scene) => Promise<number>>> = {
  API: (scene) => get(scene, '/api/v1/repos/ada/code'),
  page: (scene) => get(scene, '/ada/code'),
  async clone({ gatehouse: { port }, code }) {
    const body = fetchBody(code, 'deepen 1')
    return (await postFetch({ port, path: '/ada/code.git', body })).status
  },
}

async function get({ gatehouse }: Scene, path: string): Promise<number> {
  const response = await fetch(gatehouse.url + path)
  await response.arrayBuffer()
  return response.status
}

async function repeat(ask: () => Promise<number>, isOver: () => boolean) {
  const times: number[] = []
  const faults: number[] = []
  while (!isOver()) {
    const startedAtMs = performance.now()
    const status = await ask()
    times.push(performance.now() - startedAtMs)
    if (status !== 200) faults.push(status)
    await sleep(OTHERS_EVERY_MS)
  }
  return { times: times.sort((one, other) => one - other), faults }
}

/** Returns the percentile of the sorted times at that share, in whole milliseconds. */
function at(times: readonly number[], share: number): number {
  return Math.round(times[Math.floor(times.length * share)] ?? 0)
}

/** Returns the peak memory of all processes of the server; shared memory counts once. */
async function watchMemory(gatehouse: Gatehouse, isOver: () => boolean): Promise<number> {
  let peak = 0
  while (!isOver()) {
    const gits = await gitProcessesBelow(gatehouse.pid)
    const pids = [gatehouse.pid, ...(await workersOf(gatehouse.pid)), ...gits.map(({ pid }) => pid)]
    const sizes = await Promise.all(pids.map(sharedBytesOf))
    peak = Math.max(
      peak,
      sizes.reduce((sum, bytes) => sum + bytes, 0),
    )
    await sleep(200)
  }
  return peak
}

/** Returns the proportional set size (proc_pid_smaps(5)); 0 if the process has ended. */
async function sharedBytesOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  return Number(/^Pss: +(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1_024
}
