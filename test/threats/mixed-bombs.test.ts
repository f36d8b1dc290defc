/** All bombs at the same time, from many clients: others are served, and memory stays bounded. */

import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type Test, t } from 'tap'
import { postFetch } from '../helpers/fetch-answers.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { commitTreeBomb, conflictingTreeBombs, deltaBombPush } from '../helpers/git-bombs.js'
import { fetchBody, gitRequest, pairBody, pushHead } from '../helpers/git-requests.js'
import { loopDelaysOf } from '../helpers/loop-delay.js'
import { connectTo } from '../helpers/raw-http.js'
import { makeRepository } from '../helpers/repositories.js'
import { gitProcessesOf, workersOf } from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'
import { newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'
import { zipOf } from '../helpers/zips.js'
import { busyZstdFrame } from '../helpers/zstd-frames.js'

const CLIENTS = isFullSize ? 20 : 6
const LASTS_MS = isFullSize ? 300_000 : 5_000
/** Each hostile file is highlighted and drawn once: the next view needs another one. */
const HOSTILE_FILES = isFullSize ? 400 : 10
const MEMORY_BYTES_MAX = 2 * 1024 ** 3
/** Only at full size, where the machine has nothing else to do. */
const P99_MS_MAX = 500
const DELAY_SECONDS_MAX = 0.05

interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly bombs: WorkingCopy
  /** Commit of a repository that others clone. */
  readonly code: string
  readonly uploads: readonly Upload[]
}

interface Upload {
  readonly path: string
  readonly body: Uint8Array<ArrayBuffer>
}

/** One attack; `n` is different each time, so that no answer is remembered. Returns the status. */
type Attack = (scene: Scene, n: number) => Promise<number>

t.test('all bombs at the same time leave others served and memory bounded', async (t) => {
  const scene = await startScene(t)
  const endsAtMs = Date.now() + LASTS_MS
  const isOver = () => Date.now() >= endsAtMs
  const statuses = new Map<string, Map<number, number>>()
  let next = 0
  const attack = async () => {
    while (!isOver()) {
      const n = next++
      const [name, run] = ATTACKS[n % ATTACKS.length] ?? []
      if (name === undefined || run === undefined) return
      const counts = statuses.get(name) ?? new Map<number, number>()
      const status = await run(scene, n)
      counts.set(status, (counts.get(status) ?? 0) + 1)
      statuses.set(name, counts)
    }
  }
  const memory = watchMemory(scene.gatehouse, isOver)
  const others = Object.entries(OTHERS).map(async ([name, ask]) => {
    return { name, ...(await repeat(() => ask(scene), isOver)) }
  })
  await Promise.all(Array.from({ length: CLIENTS }, attack))

  for (const [name, counts] of statuses) {
    const seen = [...counts.keys()]
    t.strictSame(seen.filter(isFault), [], `${name}: ${JSON.stringify(Object.fromEntries(counts))}`)
  }
  for (const { name, times, faults } of await Promise.all(others)) {
    t.comment(
      `${name}: ${times.length} answers, p50 ${at(times, 0.5)} ms, p99 ${at(times, 0.99)} ms`,
    )
    t.strictSame(faults, [], `${name}: nobody is refused`)
    if (isFullSize) t.ok(at(times, 0.99) < P99_MS_MAX, `${name}: p99 is ${at(times, 0.99)} ms`)
  }
  const delays = await loopDelaysOf(scene.gatehouse)
  const share = delays.above(DELAY_SECONDS_MAX) / delays.samples
  t.comment(`event loop: ${delays.samples} samples, ${share} of them above ${DELAY_SECONDS_MAX} s`)
  if (isFullSize) t.ok(share < 0.01, 'p99 of the delay of the event loop')
  const peak = await memory
  t.ok(peak < MEMORY_BYTES_MAX, `all processes take at most ${Math.round(peak / 1024 ** 2)} MiB`)
  const { status } = await fetch(`${scene.gatehouse.url}/readyz`)
  t.equal(status, 200)
})

/** A server may be busy or out of space; any other error of its own is a fault. */
function isFault(status: number): boolean {
  return status >= 500 && status !== 503 && status !== 507
}

async function startScene(t: Test): Promise<Scene> {
  const gatehouse = await startGatehouse(t)
  const ada = await gatehouse.addUser('ada')
  const eve = await gatehouse.addUser('eve')
  const source = await newWorkingCopy(t)
  for (let n = 0; n < 20; n += 1) await source.commit(`file-${n}.ts`, `${n}\n`.repeat(20_000))
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
  return { gatehouse, ada: eve, bombs, code, uploads: await makeUploads() }
}

/** Files whose highlighting takes time by the square of their length, and such READMEs. */
async function commitHostileFiles(copy: WorkingCopy): Promise<void> {
  const line = '#a '.repeat(1_600)
  for (let n = 0; n < HOSTILE_FILES; n += 1) {
    await copy.commit(`slow-${n}.c`, `// ${n}\n${`${line}\n`.repeat(40)}`)
  }
  await copy.commit('.gitattributes', 'bomb export-subst\n')
  await copy.commit('bomb', `$Format:${'%>(16384)%n'.repeat(1_500)}$\n`.repeat(4))
}

async function makeUploads(): Promise<readonly Upload[]> {
  const zeros = Buffer.alloc(64 * 1024 ** 2)
  const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`a/${n}`, '']))
  const nested = `{"name":"a/b","extra":${'['.repeat(500_000)}`
  const bzip2 = execFileSync('bzip2', ['--stdout'], { input: zeros, maxBuffer: 1 << 26 })
  const uploads = [
    { path: '/composer', body: bzip2 },
    { path: '/composer', body: gzipSync(zeros) },
    { path: '/composer', body: await zipOf(many) },
    { path: '/composer', body: await zipOf({ 'composer.json': nested }) },
    { path: '/debian/pool/stable/main/upload', body: busyZstdFrame() },
  ]
  return uploads.map(({ path, body }) => ({ path, body: new Uint8Array(body) }))
}

const ATTACKS: readonly (readonly [name: string, attack: Attack])[] = [
  [
    'highlighting',
    (scene, n) => get(scene, `/eve/bombs/src/branch/main/slow-${n % HOSTILE_FILES}.c`),
  ],
  ['Markdown', drawIssue],
  ['merge of tree bombs', mergeTreeBombs],
  ['chained deltas', pushDeltas],
  ['archive', (scene, n) => get(scene, `/eve/bombs/archive/main.${n % 2 ? 'zip' : 'tar.gz'}`)],
  ['archive of a tree bomb', (scene) => get(scene, '/eve/trees/archive/main.tar.gz')],
  ['comparison', (scene) => get(scene, '/eve/trees/compare/main...side')],
  ['upload', upload],
  ['JSON body', (scene, n) => post(scene, '/repos/eve/bombs/issues', `${'['.repeat(400_000)}${n}`)],
  ['aborted push', abortPush],
  ['cold clone', coldClone],
]

async function get({ gatehouse }: Scene, path: string): Promise<number> {
  const response = await fetch(gatehouse.url + path)
  await response.arrayBuffer().catch(() => undefined)
  return response.status
}

async function post({ gatehouse, ada }: Scene, path: string, body: string): Promise<number> {
  const response = await fetch(`${gatehouse.url}/api/v1${path}`, {
    ...{ method: 'POST', body },
    headers: { authorization: `token ${ada.token}`, 'content-type': 'application/json' },
  })
  await response.arrayBuffer()
  return response.status
}

async function drawIssue(scene: Scene, n: number): Promise<number> {
  const issue = { title: `deep ${n}`, body: `${n}${'<b>'.repeat(20_000)}` }
  const { status, body } = await scene.ada.api('POST', '/repos/eve/bombs/issues', issue)
  if (status !== 201) return status
  return get(scene, `/eve/bombs/issues/${(body as { readonly number: number }).number}`)
}

/** Moves the head of the pull request, so that git is asked anew. */
async function mergeTreeBombs(scene: Scene, n: number): Promise<number> {
  const { ada, bombs } = scene
  const tip = await commitTreeBomb(bombs, { width: 10, depth: 10, content: `side ${n}` })
  await bombs.try(['push', '--quiet', '--force', ada.remote('eve/trees'), `${tip}:refs/heads/side`])
  const status = await get(scene, '/api/v1/repos/eve/trees/pulls')
  return isFault(status) ? status : get(scene, '/eve/trees/pulls/1')
}

async function pushDeltas({ gatehouse, ada }: Scene, n: number): Promise<number> {
  const response = await fetch(`${gatehouse.url}/eve/bombs.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `token ${ada.token}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
    body: new Uint8Array(deltaBombPush(`refs/heads/bomb-${n}`, 480_000_000)),
  })
  await response.arrayBuffer()
  return response.status
}

async function upload({ gatehouse, ada, uploads }: Scene, n: number): Promise<number> {
  const { path, body } = uploads[n % uploads.length] ?? { path: '', body: null }
  const response = await fetch(`${gatehouse.url}/api/packages/eve${path}`, {
    ...{ method: 'PUT', body },
    headers: { authorization: `token ${ada.token}` },
  })
  await response.arrayBuffer()
  return response.status
}

/** Announces a pack of a gigabyte, sends none of it, and goes. */
async function abortPush({ gatehouse, ada, code }: Scene, n: number): Promise<number> {
  const socket = await connectTo(gatehouse.port)
  const service = 'git-receive-pack'
  const path = 'eve/bombs.git'
  socket.write(gitRequest({ ...{ service, path, token: ada.token }, bodyBytes: 1_000_000_000 }))
  socket.write(pushHead(code, `refs/heads/aborted-${n}`))
  await sleep(50)
  socket.destroy()
  return 0
}

async function coldClone({ gatehouse, code }: Scene, n: number): Promise<number> {
  const { port } = gatehouse
  return (await postFetch({ port, path: '/ada/code.git', body: pairBody(code, n) })).status
}

/** What everybody else does meanwhile. */
const OTHERS: Readonly<Record<string, (scene: Scene) => Promise<number>>> = {
  API: (scene) => get(scene, '/api/v1/repos/ada/code'),
  page: (scene) => get(scene, '/ada/code'),
  async clone({ gatehouse: { port }, code }) {
    const body = fetchBody(code, 'deepen 1')
    return (await postFetch({ port, path: '/ada/code.git', body })).status
  },
}

async function repeat(ask: () => Promise<number>, isOver: () => boolean) {
  const times: number[] = []
  const faults: number[] = []
  while (!isOver()) {
    const startedAtMs = performance.now()
    const status = await ask()
    times.push(performance.now() - startedAtMs)
    if (status !== 200) faults.push(status)
    await sleep(50)
  }
  return { times: times.sort((one, other) => one - other), faults }
}

/** The time below which that share of the sorted times is, in whole milliseconds. */
function at(times: readonly number[], share: number): number {
  return Math.round(times[Math.floor(times.length * share)] ?? 0)
}

/** The most memory of the server's processes together; what they share counts once. */
async function watchMemory(gatehouse: Gatehouse, isOver: () => boolean): Promise<number> {
  let peak = 0
  while (!isOver()) {
    const gits = await gitProcessesOf(gatehouse.dataDir)
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

/** Proportional set size (proc_pid_smaps(5)); 0 for a process that has ended. */
async function sharedBytesOf(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  return Number(/^Pss: +(\d+) kB$/m.exec(text)?.[1] ?? 0) * 1_024
}
