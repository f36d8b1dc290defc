/** Threat: floods of requests, of compressed bytes and of connections; each has a limit. */

import { randomBytes } from 'node:crypto'
import type { Socket } from 'node:net'
import { type Test, t } from 'tap'
import { FETCH_REQUEST_BYTES_MAX } from '../../gateway/packs/upload-pack.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { fetchBody, gitRequest, packetLine, pushHead } from '../helpers/git-requests.js'
import { gzipBomb } from '../helpers/gzip-bomb.js'
import { askRaw, type RawAnswer } from '../helpers/literal-http.js'
import { connectTo } from '../helpers/raw-http.js'
import { makeRepository } from '../helpers/repositories.js'
import { gitProcessesOf, peaksDuring, until, workersOf } from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'
import { newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

const MIB = 1_048_576
const WORKER_BYTES_MAX = 200 * MIB
/** Time for the server to end its processes after the last reply. */
const SETTLES_WITHIN_MS = 10_000
/** Number of concurrent requests of one kind. */
const AT_ONCE = isFullSize ? 16 : 4
/** Number of concurrent requests of tens of megabytes; half of them are chunked. */
const LARGE_AT_ONCE = isFullSize ? 16 : 2

const PROCESSES_MAX = isFullSize ? 16 : 2
const QUEUE_MAX = isFullSize ? 64 : 3
const SURPLUS = isFullSize ? 50 : 4
/** More than the pipes and the socket of a client that does not read can buffer. */
const CONTENT_BYTES = 14_000_000

/** Numbers of wants in requests within the size limit, and beyond it. */
const FEW_WANTS = isFullSize ? 600_000 : 300_000
const MANY_WANTS = isFullSize ? 1_000_000 : 700_000

const STALLED_CONNECTIONS = isFullSize ? 500 : 100
/** Time within which a connection without a complete request is closed. */
const CUT_WITHIN_MS = 30_000

interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  /** The commit on main of ada/library. */
  readonly tip: string
}

interface Content {
  readonly copy: WorkingCopy
  readonly tip: string
}

/** Commits one file of random bytes. */
async function commitRandom(bytes: number): Promise<Content> {
  const copy = await newWorkingCopy(t)
  await copy.git('config', 'core.compression', '0')
  return { copy, tip: await copy.commit('content', randomBytes(bytes)) }
}

const small = await commitRandom(1_000)
const large = await commitRandom(CONTENT_BYTES)

/** Starts a server with one worker and a repository. */
async function aServer(
  t: Test,
  { copy, tip }: Content,
  environment: Readonly<Record<string, string>> = {},
): Promise<Scene> {
  const gatehouse = await startGatehouse(t, { workers: 1, environment })
  const ada = await gatehouse.addUser('ada')
  const remote = ada.remote(await makeRepository(ada, 'library'))
  const pushed = await copy.try(['push', '--quiet', remote, 'main'])
  t.match(pushed, { exitCode: 0, errorText: '' })
  return { gatehouse, ada, tip }
}

/** Runs the action; fails if the worker's memory exceeds the limit or a git process remains. */
async function stayWhole(
  t: Test,
  { gatehouse, ada }: Scene,
  action: () => Promise<void>,
): Promise<void> {
  const workers = await workersOf(gatehouse.pid)
  const [peakBytes = Number.NaN] = await peaksDuring(workers, action)
  const mib = Math.round(peakBytes / MIB)
  t.ok(peakBytes < WORKER_BYTES_MAX, `the worker stays small: ${mib} MiB`)
  t.comment(`the worker had at most ${mib} MiB`)
  const left = await until(
    () => gitProcessesOf(gatehouse.dataDir),
    (processes) => processes.length === 0,
    SETTLES_WITHIN_MS,
  )
  t.strictSame(left, [], 'no git process is left')
  t.equal((await ada.api('GET', '/user')).status, 200, 'the API answers')
  t.strictSame(await workersOf(gatehouse.pid), workers, 'no worker died')
}

/** Sends a body to a service of ada/library. */
function post(
  { gatehouse, ada }: Scene,
  service: 'git-upload-pack' | 'git-receive-pack',
  body: Uint8Array | readonly Uint8Array[],
  headers: Readonly<Record<string, string>> = {},
): Promise<RawAnswer> {
  return askRaw(gatehouse.port, {
    method: 'POST',
    path: `/ada/library.git/${service}`,
    body,
    headers: {
      authorization: `token ${ada.token}`,
      'content-type': `application/x-${service}-request`,
      'git-protocol': 'version=2',
      ...headers,
    },
  })
}

/** Sends `count` requests concurrently; `send` gets the number of each. */
function several<T>(send: (number: number) => Promise<T>, count = AT_ONCE): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: count }, (_, number) => send(number)))
}

const GZIP = { 'content-encoding': 'gzip' }

t.test('fetches beyond the process limit and the queue are answered with 503', async (t) => {
  const scene = await aServer(t, large, {
    GATEHOUSE_GIT_PROCESSES_MAX: String(PROCESSES_MAX),
    GATEHOUSE_GIT_QUEUE_MAX: String(QUEUE_MAX),
    GATEHOUSE_GIT_QUEUE_TIMEOUT: '10m',
    // With a cache, one process would serve all fetches.
    GATEHOUSE_CACHE_DISK_MAX: '0',
  })
  const { gatehouse, ada } = scene
  await stayWhole(t, scene, async () => {
    const fetches = await Promise.all(
      Array.from({ length: PROCESSES_MAX + QUEUE_MAX + SURPLUS }, () => startFetch(scene)),
    )
    const begun = await until(
      async () => fetches.filter((each) => each.head() !== ''),
      (answered) => answered.length >= PROCESSES_MAX + SURPLUS,
      SETTLES_WITHIN_MS,
    )
    const refused = begun.filter((each) => /^HTTP\/1\.1 503 /.test(each.head()))
    t.equal(refused.length, SURPLUS, 'the surplus fetches are refused')
    for (const each of refused) {
      t.match(each.head(), /\r\nRetry-After: [1-9]\d*\r\n/)
      t.match(each.head(), /\r\n\r\nThe server is busy with other Git requests\. .*\n$/)
    }
    const { body: metrics } = await askRaw(gatehouse.port, { path: '/metrics' })
    const load = (state: string) =>
      new RegExp(`^gatehouse_git_queue\\{(?:[^}]*,)?state="${state}"[^}]*\\} (\\d+)$`, 'm').exec(
        metrics.toString(),
      )?.[1]
    t.equal(load('running'), String(PROCESSES_MAX), 'the first fetches run')
    t.equal(load('waiting'), String(QUEUE_MAX), 'the next fetches wait')
    const running = await until(
      async () => (await gitProcessesOf(gatehouse.dataDir)).filter(isUploadPack).length,
      // Between fork and exec, a child of upload-pack has the command of its parent.
      (count) => count === PROCESSES_MAX,
      SETTLES_WITHIN_MS,
    )
    t.equal(running, PROCESSES_MAX)
    t.equal((await ada.api('GET', '/repos/ada/library')).status, 200, 'the API answers meanwhile')

    const served = fetches.filter((each) => !refused.includes(each))
    const sizes = await Promise.all(served.map((each) => each.readToEnd()))
    t.equal(sizes.length, PROCESSES_MAX + QUEUE_MAX)
    t.ok(
      sizes.every((bytes) => bytes > CONTENT_BYTES),
      `waiting fetches are served completely: ${sizes}`,
    )
  })
})

const isUploadPack = ({ command }: { readonly command: string }) => /upload-pack/.test(command)

interface SlowFetch {
  /** The first bytes of the answer; empty while there are none. */
  head(): string
  /** Reads the rest; returns the number of bytes. Throws if the reply is cut. */
  readToEnd(): Promise<number>
}

/** Starts a fetch of everything that stops reading after the first bytes, until `readToEnd`. */
async function startFetch({ gatehouse, ada, tip }: Scene): Promise<SlowFetch> {
  const socket = await connectTo(gatehouse.port)
  const body = fetchBody(tip)
  const request = { service: 'git-upload-pack', token: ada.token, bodyBytes: body.length } as const
  let head = ''
  const takeHead = (chunk: Buffer) => {
    socket.pause()
    head = chunk.toString('latin1')
  }
  socket.once('data', takeHead)
  socket.write(gitRequest(request))
  socket.write(body)
  return {
    head: () => head,
    readToEnd() {
      socket.off('data', takeHead)
      return readToEnd(socket, head)
    },
  }
}

/** The end of a pack's side band, and of the chunks around it. */
const END = /0000\r\n0\r\n\r\n$/

async function readToEnd(socket: Socket, head: string): Promise<number> {
  let bytes = head.length
  let tail = ''
  await new Promise<void>((resolve, reject) => {
    const cut = () => reject(new Error(`cut after ${bytes} bytes`))
    if (socket.closed) return cut()
    socket.on('close', cut)
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      tail = (tail + chunk.toString('latin1')).slice(-20)
      if (END.test(tail)) resolve()
    })
    socket.resume()
  })
  socket.destroy()
  return bytes
}

t.test('a client at its process limit is refused, and other clients are served', async (t) => {
  const scene = await aServer(t, large, {
    GATEHOUSE_GIT_CLIENT_PROCESSES_MAX: '1',
    GATEHOUSE_CACHE_DISK_MAX: '0',
  })
  const { gatehouse, ada, tip } = scene
  const bo = await gatehouse.addUser('bo')
  const copy = await newWorkingCopy(t)
  await copy.commit('more')
  const remote = ada.remote('ada/library.git')
  const push = () => copy.try(['push', remote, 'HEAD:refs/heads/more'])
  const slow = await startFetch(scene)
  await until(
    async () => slow.head(),
    (head) => head !== '',
    SETTLES_WITHIN_MS,
  )
  const words = /You have too many Git requests running or waiting\./
  const refused = await push()
  t.match(refused, { exitCode: 128, errorText: words }, 'git prints the sentence')
  const fetched = await post(scene, 'git-upload-pack', fetchBody(tip))
  t.match(fetched.headers, { 'retry-after': /^[1-9]\d*$/ })
  t.match([fetched.status, fetched.body.toString()], [429, words])
  const other = await post({ ...scene, ada: bo }, 'git-upload-pack', fetchBody(tip))
  t.equal(other.status, 200, 'another client is served')
  await slow.readToEnd()
  const pushed = await until(push, ({ exitCode }) => exitCode === 0, SETTLES_WITHIN_MS)
  t.equal(pushed.exitCode, 0, 'a push succeeds after the fetch has ended')
})

t.test('a server with default settings withstands floods', async (t) => {
  const scene = await aServer(t, small)
  const tests = {
    'fetch requests that are gzip bombs are refused at the size limit': refuseFetchBombs,
    'a compressed fetch request that is damaged is refused': refuseBrokenGzip,
    'pushes that are gzip bombs do not grow the memory': takePushBombs,
    'too many wants are refused, by git or by their size': refuseWants,
    'connections that stall within a head do not delay others and are closed':
      cutStalledConnections,
  }
  for (const [name, test] of Object.entries(tests)) {
    await t.test(name, async (t) => await test(t, scene))
  }
})

const UNKNOWN = '1'.repeat(40)
const HAVE = packetLine(`have ${UNKNOWN}\n`)

/** Returns the start of a fetch request, up to its first want. */
function fetchHead(tip: string): string {
  return `${packetLine('command=fetch')}0001${packetLine(`want ${tip}\n`)}`
}

async function refuseFetchBombs(t: Test, scene: Scene): Promise<void> {
  const bomb = await gzipBomb({
    head: fetchHead(scene.tip),
    piece: HAVE.repeat(10_000),
    bytes: 8 * FETCH_REQUEST_BYTES_MAX,
  })
  t.ok(bomb.length < FETCH_REQUEST_BYTES_MAX / 8, `${bomb.length} bytes are sent`)
  await stayWhole(t, scene, async () => {
    const send = () => post(scene, 'git-upload-pack', bomb, GZIP)
    const answers = await several(send, LARGE_AT_ONCE)
    for (const { status, body } of answers) {
      t.equal(status, 413)
      t.match(body.toString(), 'The request names too many objects.')
    }
  })
}

async function refuseBrokenGzip(t: Test, scene: Scene): Promise<void> {
  const whole = await gzipBomb({ head: fetchHead(scene.tip), piece: HAVE, bytes: 1_000_000 })
  const wrongSum = Buffer.from(whole)
  wrongSum.writeUInt8(wrongSum.readUInt8(whole.length - 8) ^ 1, whole.length - 8)
  const broken: Readonly<Record<string, Buffer>> = {
    'cut in the middle': whole.subarray(0, whole.length >> 1),
    // Zeros may decode to more `have` lines and to a flush packet, which git answers.
    'with ones in the middle': Buffer.from(whole).fill(0xff, whole.length >> 1, whole.length - 8),
    'with a wrong sum': wrongSum,
    'of random bytes': randomBytes(100_000),
    'of nothing': Buffer.alloc(0),
    'not compressed': fetchBody(scene.tip),
  }
  await stayWhole(t, scene, async () => {
    for (const [name, body] of Object.entries(broken)) {
      for (const sent of [body, [body]]) {
        const { status, body: text } = await post(scene, 'git-upload-pack', sent, GZIP)
        t.equal(status, 400, name)
        t.match(text.toString(), /^(?:The body is not complete gzip|Git cannot read this)/, name)
      }
    }
  })
  const answer = await post(scene, 'git-upload-pack', fetchBody(scene.tip))
  t.equal(answer.status, 200, 'a complete request is answered')
}

async function takePushBombs(t: Test, scene: Scene): Promise<void> {
  // The concurrent bombs unpack to more than a worker's memory limit.
  const bytes = (isFullSize ? 4_096 : 64) * MIB
  const command = pushHead(scene.tip, 'refs/heads/bomb').toString()
  const bombs = [
    await gzipBomb({ head: '', piece: '0'.repeat(MIB), bytes }),
    await gzipBomb({ head: `${command}PACK\0\0\0\x02`, piece: '\0'.repeat(MIB), bytes }),
  ]
  await stayWhole(t, scene, async () => {
    for (const bomb of bombs) {
      const answers = await several(() => post(scene, 'git-receive-pack', bomb, GZIP))
      for (const { status, body } of answers) {
        t.ok(status < 600, `${status}`)
        t.ok(body.length < 10_000, `the answer is short: ${body.length} bytes`)
      }
    }
  })
  const branches = await scene.ada.api('GET', '/repos/ada/library/branches')
  t.notMatch(JSON.stringify(branches.body), 'bomb', 'no push created a branch')
}

/** Start of the reply by status: the server's refusal, or git's reply to known or unknown wants. */
const WORDS_OF: Readonly<Record<number, RegExp>> = {
  413: /^The request names too many objects\.\n$/,
  200: /^(?:000dpackfile\n|[0-9a-f]{4}ERR upload-pack: not our ref)/,
}

async function refuseWants(t: Test, scene: Scene): Promise<void> {
  const unknown = packetLine(`want ${UNKNOWN}\n`)
  const known = packetLine(`want ${scene.tip}\n`)
  const body = (want: string, count: number) =>
    Buffer.from(`${fetchHead(scene.tip)}${want.repeat(count)}${packetLine('done\n')}0000`)
  t.ok(FEW_WANTS * unknown.length < FETCH_REQUEST_BYTES_MAX)
  t.ok(MANY_WANTS * unknown.length > FETCH_REQUEST_BYTES_MAX)
  const wants = {
    'too many unknown ones': { sent: body(unknown, MANY_WANTS), status: [200, 413] },
    'a known one too often': { sent: body(known, MANY_WANTS), status: [413] },
    'unknown ones within the bound': { sent: body(unknown, FEW_WANTS), status: [200] },
    'a known one within the bound': { sent: body(known, FEW_WANTS), status: [200] },
  }
  await stayWhole(t, scene, async () => {
    for (const [name, { sent, status }] of Object.entries(wants)) {
      // Git takes long to read those that are within the bound.
      const count = isFullSize || status.includes(413) ? LARGE_AT_ONCE : 1
      // Requests alternate between chunked and Content-Length.
      const answers = await several(
        (number) => post(scene, 'git-upload-pack', number % 2 === 0 ? [sent] : sent),
        count,
      )
      for (const answer of answers) {
        t.ok(status.includes(answer.status), `${name}: ${answer.status}`)
        t.match(answer.body.toString('latin1'), WORDS_OF[answer.status], name)
      }
    }
  })
}

async function cutStalledConnections(t: Test, scene: Scene): Promise<void> {
  const { gatehouse, ada } = scene
  const head = gitRequest({ service: 'git-upload-pack', token: ada.token })
  await stayWhole(t, scene, async () => {
    const sockets = await Promise.all(
      Array.from({ length: STALLED_CONNECTIONS }, () => connectTo(gatehouse.port)),
    )
    for (const socket of sockets) {
      socket.resume()
      socket.write(head.slice(0, head.length >> 1))
    }
    for (let number = 0; number < 20; number += 1) {
      t.equal((await ada.api('GET', '/user')).status, 200, 'the API answers meanwhile')
    }
    const open = await until(
      async () => sockets.filter((socket) => !socket.closed).length,
      (count) => count === 0,
      CUT_WITHIN_MS,
    )
    t.equal(open, 0, 'all stalled connections are closed')
    for (const socket of sockets) socket.destroy()
  })
}
