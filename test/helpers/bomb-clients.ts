/** Clients that send all bombs to a server; they run in a separate process. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { postFetch } from './fetch-answers.js'
import { commitTreeBomb, deltaBombPush } from './git-bombs.js'
import { gitRequest, pairBody, pushHead } from './git-requests.js'
import { PLAIN_NODE } from './plain-node.js'
import { connectTo } from './raw-http.js'
import { workingCopyAt } from './working-copy.js'
import { zipOf } from './zips.js'
import { busyZstdFrame } from './zstd-frames.js'

/** Server under attack, number of clients and duration of the attack. */
export interface BombScene {
  readonly url: string
  readonly port: number
  /** Token of eve, who owns the repositories `bombs` and `trees`. */
  readonly token: string
  /** Working copy whose commits are pushed to `eve/trees`. */
  readonly copy: string
  /** Commit of `ada/code`, a repository that other clients clone. */
  readonly code: string
  readonly hostileFiles: number
  readonly clients: number
  /** Minimum duration; each attack is made at least once. */
  readonly lastsMs: number
}

/** Number of replies by attack and status. */
export type BombStatuses = Readonly<Record<string, Readonly<Record<string, number>>>>

/**
 * Runs the clients with a niceness; returns the statuses. With the lowest priority, the clients
 * take little CPU time from a server on the same machine, like clients on other machines.
 */
export async function sendBombs(scene: BombScene, niceness: number): Promise<BombStatuses> {
  const file = fileURLToPath(import.meta.url)
  const words = ['-n', String(niceness), 'env', ...PLAIN_NODE, file, JSON.stringify(scene)]
  const child = spawn('nice', words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (exitCode !== 0) throw new Error(`the clients ended with ${exitCode}`)
  return JSON.parse(output) as BombStatuses
}

/** Returns true for server errors other than 503 (busy) and 507 (out of space). */
export function isFault(status: number): boolean {
  return status >= 500 && status !== 503 && status !== 507
}

interface Scene extends BombScene {
  readonly uploads: readonly Upload[]
}

interface Upload {
  readonly path: string
  readonly body: Uint8Array<ArrayBuffer>
}

/** Attack that returns the status. `n` is unique, so that no reply comes from a cache. */
type Attack = (scene: Scene, n: number) => Promise<number>

async function main(argument: string): Promise<void> {
  const scene = { ...(JSON.parse(argument) as BombScene), uploads: [] as Upload[] }
  // Making a body blocks the event loop, so the uploads are made before the first request.
  const makers = scene.lastsMs === 0 ? UPLOADS.slice(0, 1) : UPLOADS
  for (const { path, make } of makers) {
    scene.uploads.push({ path, body: new Uint8Array(await make()) })
  }
  const endsAtMs = Date.now() + scene.lastsMs
  const statuses: Record<string, Record<string, number>> = {}
  let next = 0
  const attack = async () => {
    while (next < ATTACKS.length || Date.now() < endsAtMs) {
      const n = next++
      const [name, run] = ATTACKS[n % ATTACKS.length] ?? []
      if (name === undefined || run === undefined) return
      const status = await run(scene, n)
      statuses[name] ??= {}
      const counts = statuses[name]
      counts[status] = (counts[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: scene.clients }, attack))
  process.stdout.write(JSON.stringify(statuses))
}

const zeros = () => Buffer.alloc(64 * 1024 ** 2)
const manyNames = Array.from({ length: 20_000 }, (_, n) => [`a/${n}`, ''])
const nested = `{"name":"a/b","extra":${'['.repeat(500_000)}`

/** Paths and bodies of uploads. An attack of the shortest duration makes the first one alone. */
const UPLOADS: ReadonlyArray<{
  readonly path: string
  readonly make: () => Promise<Uint8Array> | Uint8Array
}> = [
  { path: '/composer', make: () => zipOf(Object.fromEntries(manyNames)) },
  {
    path: '/composer',
    make: () => execFileSync('bzip2', ['--stdout'], { input: zeros(), maxBuffer: 1 << 26 }),
  },
  { path: '/composer', make: () => gzipSync(zeros()) },
  { path: '/composer', make: () => zipOf({ 'composer.json': nested }) },
  { path: '/debian/pool/stable/main/upload', make: busyZstdFrame },
]

const ATTACKS: readonly (readonly [name: string, attack: Attack])[] = [
  [
    'highlighting',
    (scene, n) => get(scene, `/eve/bombs/src/branch/main/slow-${n % scene.hostileFiles}.c`),
  ],
  ['Markdown', viewIssue],
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

async function get({ url }: Scene, path: string): Promise<number> {
  const response = await fetch(url + path)
  await response.arrayBuffer().catch(() => undefined)
  return response.status
}

async function post(scene: Scene, path: string, body: string): Promise<number> {
  const response = await postJson(scene, path, body)
  await response.arrayBuffer()
  return response.status
}

function postJson({ url, token }: Scene, path: string, body: string): Promise<Response> {
  return fetch(`${url}/api/v1${path}`, {
    method: 'POST',
    body,
    headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
  })
}

async function viewIssue(scene: Scene, n: number): Promise<number> {
  const issue = { title: `deep ${n}`, body: `${n}${'<b>'.repeat(20_000)}` }
  const response = await postJson(scene, '/repos/eve/bombs/issues', JSON.stringify(issue))
  const body = (await response.json()) as { readonly number: number }
  if (response.status !== 201) return response.status
  return get(scene, `/eve/bombs/issues/${body.number}`)
}

/** Moves the head of the pull request, so that its merge is computed again. */
async function mergeTreeBombs(scene: Scene, n: number): Promise<number> {
  const bombs = workingCopyAt(scene.copy)
  const remote = `http://eve:${scene.token}@127.0.0.1:${scene.port}/eve/trees`
  const tip = await commitTreeBomb(bombs, { width: 10, depth: 10, content: `side ${n}` })
  await bombs.try(['push', '--quiet', '--force', remote, `${tip}:refs/heads/side`])
  const status = await get(scene, '/api/v1/repos/eve/trees/pulls')
  return isFault(status) ? status : get(scene, '/eve/trees/pulls/1')
}

async function pushDeltas({ url, token }: Scene, n: number): Promise<number> {
  const response = await fetch(`${url}/eve/bombs.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `token ${token}`,
      'content-type': 'application/x-git-receive-pack-request',
    },
    body: new Uint8Array(deltaBombPush(`refs/heads/bomb-${n}`, 480_000_000)),
  })
  await response.arrayBuffer()
  return response.status
}

async function upload({ url, token, uploads }: Scene, n: number): Promise<number> {
  const { path, body } = uploads[n % uploads.length] ?? { path: '', body: null }
  const response = await fetch(`${url}/api/packages/eve${path}`, {
    method: 'PUT',
    body,
    headers: { authorization: `token ${token}` },
  })
  await response.arrayBuffer()
  return response.status
}

/** Announces a pack of a gigabyte, sends none of it, and disconnects. */
async function abortPush({ port, token, code }: Scene, n: number): Promise<number> {
  const socket = await connectTo(port)
  const service = 'git-receive-pack'
  const path = 'eve/bombs.git'
  socket.write(gitRequest({ service, path, token, bodyBytes: 1_000_000_000 }))
  socket.write(pushHead(code, `refs/heads/aborted-${n}`))
  await sleep(50)
  socket.destroy()
  return 0
}

async function coldClone({ port, code }: Scene, n: number): Promise<number> {
  return (await postFetch({ port, path: '/ada/code.git', body: pairBody(code, n) })).status
}

const [, script, argument] = process.argv
if (script === fileURLToPath(import.meta.url) && argument !== undefined) await main(argument)
