/** Threat: texts and uploads that are expensive to parse block the event loop. */

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { type Test, t } from 'tap'
import { arOf, controlOf, DEBIAN_BINARY, debOf, pack } from '../helpers/debs.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { loopDelaysOf } from '../helpers/loop-delay.js'
import { aPicture } from '../helpers/pictures.js'
import { makeRepository } from '../helpers/repositories.js'
import { workersOf } from '../helpers/server-processes.js'
import { tarOf } from '../helpers/tar-bytes.js'
import { isFullSize } from '../helpers/test-size.js'
import { newWorkingCopy } from '../helpers/working-copy.js'
import { zipOf } from '../helpers/zips.js'
import { busyZstdFrame, zstdFrameOfZeros } from '../helpers/zstd-frames.js'

/** Limit of each sample of the event loop's delay. Without a thread pool, a bomb took seconds. */
const DELAY_SECONDS_MAX = 1

/** CPU time of the first view: the deadline of two seconds, and the rest of the request. */
const FIRST_CPU_SECONDS = 4
const SECOND_CPU_SECONDS = 1

interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly worker: number
}

async function startScene(): Promise<Scene> {
  const gatehouse = await startGatehouse(t, { workers: 1 })
  const ada = await gatehouse.addUser('ada')
  const [worker = 0] = await workersOf(gatehouse.pid)
  return { gatehouse, ada, worker }
}

const scene = await startScene()

/** Requests `/livez` every 50 ms during the action; returns the duration of each request in ms. */
async function whilePolling({ gatehouse }: Scene, action: () => Promise<unknown>) {
  const times: number[] = []
  let isDone = false
  const polling = (async () => {
    while (!isDone) {
      const startedMs = performance.now()
      await (await fetch(`${gatehouse.url}/livez`)).text()
      times.push(performance.now() - startedMs)
      await sleep(50)
    }
  })()
  await action()
  isDone = true
  await polling
  return times
}

/** Fails the test if the server measured a delay of its event loop above the bound. */
async function checkDelays(t: Test, scene: Scene, times: readonly number[]): Promise<void> {
  const delays = await loopDelaysOf(scene.gatehouse)
  const slowest = Math.max(...times).toFixed()
  t.comment(`${times.length} answers of /livez, ${slowest} ms at most; ${delays.samples} samples`)
  t.ok(delays.samples >= times.length, `${delays.samples} samples`)
  t.equal(delays.above(DELAY_SECONDS_MAX), 0, 'samples above the bound')
}

/** Clock ticks per second on Linux (sysconf(3), _SC_CLK_TCK). */
const TICKS_PER_SECOND = 100

/** Processor seconds of a process and all its threads so far (proc_pid_stat(5)). */
function cpuSecondsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

/** Repeats a piece up to the size that a page highlights, in lines of a length that it shows. */
function fileOf(piece: string): string {
  const line = piece.repeat(Math.floor(4_900 / piece.length))
  return `${line}\n`.repeat(Math.floor(196_000 / (line.length + 1)))
}

/** Files whose highlighting takes longer than the deadline, by name and repeated piece. */
const ALL_SLOW_FILES: ReadonlyArray<readonly [name: string, piece: string]> = [
  ['slow.java', '$'],
  ['slow.md', '[a]('],
]
const SLOW_FILES = isFullSize ? ALL_SLOW_FILES : ALL_SLOW_FILES.slice(0, 1)

/** Pieces whose repetition triggers quadratic rules of grammars. */
const PIECES = [
  'a',
  'a ',
  'A_',
  '0',
  '0x',
  '1.',
  '_',
  '$',
  '@',
  '#',
  '# ',
  '#a ',
  '%',
  '&',
  '*',
  '**',
  '-',
  '/',
  '//',
  '/*',
  '\\',
  '\\\\',
  '"',
  '\\"',
  "'",
  '`',
  '```',
  '~',
  '<',
  '<a',
  '<!--',
  '<?',
  '(',
  '((',
  '[',
  '[[',
  '{',
  '{{',
  '<a ',
  'a(',
  'a<',
  'a.',
  'a:',
  'a=',
  'a,',
  '=',
  '==',
  ':',
  '::',
  ';',
  '|',
  '!',
  '?',
  '@a',
  '$a',
  '${',
  '#{',
  '\t',
  '  ',
  '[a](',
  '> ',
  '- ',
  'r"',
  "'a",
]

t.test('files that take long to highlight do not delay other requests', async (t) => {
  const { gatehouse, ada, worker } = scene
  const remote = ada.remote(await makeRepository(ada, 'bombs'))
  const copy = await newWorkingCopy(t)
  const files = isFullSize ? [...SLOW_FILES, ...everyFile()] : SLOW_FILES
  const paths: string[] = []
  for (const [at, [name, piece]] of files.entries()) {
    paths.push(`${at}-${name}`)
    await copy.commit(`${at}-${name}`, fileOf(piece))
  }
  await copy.git('push', '--quiet', remote, 'HEAD:main')
  const view = async (path: string) => {
    const before = cpuSecondsOf(worker)
    const answer = await fetch(`${gatehouse.url}/ada/bombs/src/branch/main/${path}`)
    const text = await answer.text()
    t.equal(answer.status, 200, path)
    return { text, cpuSeconds: cpuSecondsOf(worker) - before }
  }
  const times = await whilePolling(scene, async () => {
    for (const [at, path] of paths.entries()) {
      const [first, second] = [await view(path), await view(path)]
      t.ok(first.cpuSeconds < FIRST_CPU_SECONDS, `${path}: ${first.cpuSeconds} s`)
      t.ok(second.cpuSeconds < SECOND_CPU_SECONDS, `${path} again: ${second.cpuSeconds} s`)
      if (at < SLOW_FILES.length) {
        t.match(first.text, 'without highlighting: highlighting it takes too long.', path)
        t.match(first.text, '<tr id="L1">')
        t.equal(second.text, first.text)
      }
    }
  })
  await checkDelays(t, scene, times)
})

function everyFile(): ReadonlyArray<readonly [name: string, piece: string]> {
  const library = createRequire(import.meta.url)('highlight.js/lib/common') as {
    listLanguages(): readonly string[]
  }
  return library
    .listLanguages()
    .flatMap((language) => PIECES.map((piece) => [`x.${language}`, piece] as const))
}

const README_BYTES = 261_000
const ALL_TEXTS = ['<b>', '[', '> ', '- ', '*a ', '_a_', '`', '<', '<a href="', '&lt', '|a', '1. ']
const TEXTS = isFullSize ? ALL_TEXTS : ALL_TEXTS.slice(0, 1)

t.test('Markdown that takes long to render does not delay other requests', async (t) => {
  const { gatehouse, ada } = scene
  const times = await whilePolling(scene, async () => {
    for (const [at, piece] of TEXTS.entries()) {
      const name = await makeRepository(ada, `readme-${at}`)
      const content = piece.repeat(README_BYTES / piece.length)
      const encoded = Buffer.from(content).toString('base64')
      const made = await ada.api('POST', `/repos/${name}/contents/README.md`, { content: encoded })
      t.equal(made.status, 201)
      const answer = await fetch(`${gatehouse.url}/${name}`)
      t.equal(answer.status, 200, piece)
      t.match(await answer.text(), /class="markdown"|shown as plain text/, piece)
    }
    const issue = { title: 'deep', body: '<b>'.repeat(20_000) }
    const name = await makeRepository(ada, 'issues')
    t.equal((await ada.api('POST', `/repos/${name}/issues`, issue)).status, 201)
    t.equal((await fetch(`${gatehouse.url}/${name}/issues/1`)).status, 200)
  })
  await checkDelays(t, scene, times)
})

interface Upload {
  readonly name: string
  /** Path below `/api/packages/ada`. */
  readonly path: string
  readonly body: Uint8Array
}

/** Number of entries of an archive of empty files. */
const ENTRIES = isFullSize ? 20_000 : 2_000

/** Returns uploads of several formats whose unpacking or parsing costs far more than their size. */
async function uploads(): Promise<readonly Upload[]> {
  const zeros = Buffer.alloc(8_388_608)
  const times = (count: number, piece: Buffer) => Buffer.concat(Array(count).fill(piece))
  const bzip2 = (input: Uint8Array) => execFileSync('bzip2', ['--stdout'], { input })
  const deb = (packing: string, control: Uint8Array) =>
    arOf([DEBIAN_BINARY, { name: `control.tar${packing}`, body: control }])
  const paths = Array.from({ length: ENTRIES }, (_, at) => `a/${at}`)
  const zip = await zipOf(Object.fromEntries(paths.map((path) => [path, ''])))
  const tar = tarOf(paths.map((path) => ({ path })))
  const nested = `{"name":"a/b","extra":${'['.repeat(500_000)}`
  return [
    { name: 'bzip2', path: '/composer', body: times(40, bzip2(zeros)) },
    { name: 'bzip2 of a tar', path: '/composer', body: bzip2(tar) },
    { name: 'gzip', path: '/composer', body: times(40, gzipSync(zeros)) },
    { name: 'gzip of a tar', path: '/cran/src', body: gzipSync(tar) },
    { name: 'zip', path: '/composer', body: zip },
    { name: 'zip as a module', path: '/go/upload', body: zip },
    { name: 'JSON', path: '/composer', body: await zipOf({ 'composer.json': nested }) },
    { name: 'xz', path: DEBIAN, body: deb('.xz', times(4, pack(zeros, '.xz'))) },
    { name: 'zstd', path: DEBIAN, body: deb('.zst', zstdFrameOfZeros(1 << 30)) },
    { name: 'zstd that is busy', path: DEBIAN, body: deb('.zst', busyZstdFrame()) },
    { name: 'ar', path: DEBIAN, body: arOf(Array.from({ length: 5_000 }, () => ({ name: 'a' }))) },
    { name: 'control file', path: DEBIAN, body: debOf({ control: hostileControl() }) },
  ]
}

const DEBIAN = '/debian/pool/stable/main/upload'

function hostileControl(): string {
  return `${controlOf({})}Depends: ${'a (= 1), '.repeat(20_000)}\n`
}

t.test('uploads that take long to parse do not delay other requests', async (t) => {
  const { gatehouse, ada, worker } = scene
  const sent = await uploads()
  const image = aPicture({ width: 4_096, height: 4_096 }).toString('base64')
  const times = await whilePolling(scene, async () => {
    for (const { name, path, body } of sent) {
      const before = cpuSecondsOf(worker)
      const answer = await fetch(`${gatehouse.url}/api/packages/ada${path}`, {
        method: 'PUT',
        body: Buffer.from(body),
        headers: { authorization: `token ${ada.token}` },
      })
      await answer.arrayBuffer()
      t.ok(answer.status === 400 || answer.status === 201, `${name}: ${answer.status}`)
      const cpuSeconds = cpuSecondsOf(worker) - before
      t.ok(cpuSeconds < 8, `${name}: ${cpuSeconds} s for ${body.length} bytes`)
    }
    t.equal((await ada.api('POST', '/user/avatar', { image })).status, 204, 'picture')
  })
  await checkDelays(t, scene, times)
})
