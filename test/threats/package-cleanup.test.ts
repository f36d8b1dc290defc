/** Threat: a cleanup rule breaks clients that install packages while it runs. */

import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, t } from 'tap'
import { newComposerProject } from '../helpers/composer-client.js'
import { packageZip } from '../helpers/composer-packages.js'
import { freshLocation } from '../helpers/databases.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { newGoClient } from '../helpers/go-client.js'
import {
  ALWAYS,
  type Change,
  INDEXED_FORMATS,
  type IndexedFormat,
  type Item,
  type Reader,
} from '../helpers/index-clients.js'
import { moduleZip } from '../helpers/modules.js'
import { isFullSize } from '../helpers/test-size.js'

/** Number of versions that real clients read completely, for each format. */
const VERSIONS = isFullSize ? 200 : 10
/** Number of versions of the Go module. */
const MODULE_VERSIONS = isFullSize ? 10_000 : 10
/** Files that a reader downloads after each read of a list. */
const DOWNLOADS = isFullSize ? 5 : 3
const KEPT = isFullSize ? 5 : 1
/** Clients that start many processes. At the normal size, a direct read takes their place. */
const SLOW_CLIENTS = ['R', 'apt on new machines']
/** Time between two reads of one reader. */
const READS_EVERY_MS = isFullSize ? 0 : 500
const WORKERS = 2
const RUN_WITHIN_MS = isFullSize ? 600_000 : 120_000
const FAULTS_SHOWN = 20

const RULE = { keep_count: KEPT, keep_pattern: '.*7(\\.0|-r0)?' }

const MODULE = '/api/packages/ada/go/example.com/tool/@v'
const COMPOSER = '/api/packages/ada/composer'

for (const kind of isFullSize ? (['sqlite', 'mysql'] as const) : (['mysql'] as const)) {
  t.test(`clients install packages while cleanup rules run, on ${kind}`, async (t) => {
    const location = await freshLocation(t, kind)
    const environment = { GATEHOUSE_MAINTENANCE_ENABLED: 'true' }
    const gatehouse = await startGatehouse(t, { location, workers: WORKERS, environment })
    const ada = await gatehouse.addUser('ada')
    const scene: Scene = { gatehouse, ada, state: { isOver: false }, faults: [] }
    const fronts = frontsOf(scene)
    await Promise.all(fronts.map((front) => publishAll(t, scene, front)))
    const readers = (await openReaders(t, fronts)).map((reader) => readOn(scene, reader))
    for (const front of fronts) await previewRule(t, scene, front)
    const old = await Promise.all(fronts.map((front) => front.urls()))
    await Promise.all(fronts.map((front) => runRule(t, scene, front)))
    scene.state.isOver = true
    const counts = await Promise.all(readers)
    t.comment(counts.join('; '))
    t.strictSame(scene.faults.slice(0, FAULTS_SHOWN), [], 'no client saw a fault')
    for (const [at, front] of fronts.entries()) {
      const names = await front.names()
      const left = front.listedOf(keptOf(front))
      t.strictSame(names.toSorted(), left.toSorted(), `${front.type}: the index`)
      t.strictSame(await missingOf(old[at] ?? []), [], `${front.type}: files of the old index`)
    }
    const isOfRequest = (line: string) => /"level":"(?:error|warn)".*"requestId"/.test(line)
    t.strictSame(gatehouse.log().split('\n').filter(isOfRequest).slice(0, FAULTS_SHOWN), [])
  })
}

interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly state: { isOver: boolean }
  readonly faults: string[]
}

/** A format, with versions that clients read. */
interface Front {
  readonly type: string
  readonly items: readonly Item[]
  publish(item: Item): Change | Promise<Change>
  /** Returns those of the existing items that the index lists. */
  listedOf(items: readonly Item[]): readonly Item[]
  /** Returns the items that the index lists now. */
  names(): Promise<readonly Item[]>
  /** Reads the index and returns the URLs of some of the files that it names. */
  urls(): Promise<readonly string[]>
  readonly readers: Readonly<Record<string, (t: Test) => Promise<Reader>>>
}

function frontsOf(scene: Scene): readonly Front[] {
  const indexed = INDEXED_FORMATS.map((format) => indexedFront(scene, format))
  return [...indexed, moduleFront(scene), composerFront(scene)]
}

function itemsOf(count: number): readonly Item[] {
  return Array.from({ length: count }, (_, n) => `tool 1.${n}`)
}

function keptOf({ items }: Front): readonly Item[] {
  const tools = items.filter((item) => item.startsWith('tool '))
  return items.filter(
    (item) => item === ALWAYS || tools.indexOf(item) >= tools.length - KEPT || item.endsWith('7'),
  )
}

function indexedFront(scene: Scene, format: IndexedFormat): Front {
  const { url } = scene.gatehouse
  const files = async () => {
    const entries = await Promise.all(
      format.paths.map(async (path) => [path, await bytesAt(`${url}${path}`)] as const),
    )
    return new Map(entries.flatMap(([path, bytes]) => (bytes ? [[path, bytes] as const] : [])))
  }
  const names = async () => await format.namesIn(t, await files())
  const urls = async () => {
    const listed = new Set(await names())
    return items.filter((item) => listed.has(item)).map((item) => url + fileOf(format, item))
  }
  const items = [ALWAYS, ...itemsOf(VERSIONS)]
  const clients = Object.entries(format.readers)
    .filter(([name]) => isFullSize || !SLOW_CLIENTS.includes(name))
    .map(([name, open]) => [name, (t: Test) => open(t, url)] as const)
  return {
    type: format.name,
    items,
    publish: (item) => format.publish(item),
    listedOf: (items) => format.listedOf(items),
    names,
    urls,
    readers: {
      ...Object.fromEntries(clients),
      'a direct read': async () => () => readUrls(urls),
    },
  }
}

/** Returns the path of the file of an item. */
function fileOf({ name, remove }: IndexedFormat, item: Item): string {
  const [tool = '', version = ''] = item.split(' ')
  if (name === 'cran') return `/api/packages/ada/cran/src/contrib/${tool}_${version}.tar.gz`
  const { path } = remove(item)
  if (name === 'alpine') return path
  const architecture = path.slice(path.lastIndexOf('/') + 1)
  return `/api/packages/ada/debian/pool/stable/main/${tool}_${version}_${architecture}.deb`
}

function moduleFront({ gatehouse: { url } }: Scene): Front {
  const list = async () => (await textAt(`${url}${MODULE}/list`)).trim().split('\n')
  const some = async () => sample(await list()).map((version) => `${url}${MODULE}/${version}`)
  const urls = async () => {
    const versions = await some()
    return versions.flatMap((one) => ['.info', '.mod', '.zip'].map((end) => one + end))
  }
  return {
    type: 'go',
    items: itemsOf(MODULE_VERSIONS),
    listedOf: (items) => items,
    async publish(item) {
      const body = await moduleZip(`example.com/tool@v${item.slice('tool '.length)}.0`)
      return { method: 'PUT', path: '/api/packages/ada/go/upload', body }
    },
    names: async () => (await list()).map((version) => `tool ${version.slice(1, -2)}`),
    urls,
    readers: {
      'a direct read': async () => () => readUrls(urls),
      async 'the go command'(t) {
        const client = await newGoClient(t, { proxy: `${url}/api/packages/ada/go` })
        return async () => {
          const listed = await client.goJson('list', '-m', '-versions', '-json', 'example.com/tool')
          const versions = (listed['Versions'] ?? []) as unknown as readonly string[]
          const wanted = versions[randomInt(versions.length)]
          await client.goJson('mod', 'download', '-json', `example.com/tool@${wanted}`)
          return { listed: [], missing: new Map() }
        }
      },
    },
  }
}

function composerFront({ gatehouse: { url } }: Scene): Front {
  const records = async () => {
    const { packages } = JSON.parse(await textAt(`${url}${COMPOSER}/p2/acme/tool.json`))
    const found: ReadonlyArray<{ version: string; dist: { url: string } }> = packages['acme/tool']
    return found
  }
  const urls = async () => sample(await records()).map(({ dist }) => dist.url)
  return {
    type: 'composer',
    items: itemsOf(VERSIONS),
    listedOf: (items) => items,
    publish(item) {
      const version = `${item.slice('tool '.length)}.0`
      const body = packageZip({ name: 'acme/tool', version })
      return { method: 'PUT', path: COMPOSER, body }
    },
    names: async () => (await records()).map(({ version }) => `tool ${version.slice(0, -2)}`),
    urls,
    readers: {
      'a direct read': async () => () => readUrls(urls),
      Composer: async (t) => async () => {
        const project = await newComposerProject(t, { registry: url + COMPOSER })
        const versions = (await records()).map(({ version }) => version)
        const wanted = versions[randomInt(versions.length)] ?? ''
        const { exitCode, output } = await project.run('require', `acme/tool:${wanted}`)
        // Composer reads the list again, in which the version may be missing by then.
        const isGone = /does not match (?:the|your) constraint/.test(output)
        if (exitCode !== 0 && !isGone) throw new Error(output)
        return { listed: [], missing: new Map() }
      },
    },
  }
}

function sample<T>(values: readonly T[]): readonly T[] {
  return Array.from({ length: Math.min(DOWNLOADS, values.length) }, () => {
    const value = values[randomInt(values.length)]
    if (value === undefined) throw new Error('nothing to choose from')
    return value
  })
}

/** Reads an index and downloads some of its files; files that are missing are an error. */
async function readUrls(urls: () => Promise<readonly string[]>) {
  const missing = await missingOf(await urls())
  if (missing.length > 0) throw new Error(missing.join(', '))
  return { listed: [], missing: new Map() }
}

async function missingOf(urls: readonly string[]): Promise<readonly string[]> {
  const missing: string[] = []
  for (const url of urls) {
    const answer = await fetch(url)
    await answer.arrayBuffer()
    if (answer.status !== 200) missing.push(`${answer.status} ${url}`)
  }
  return missing
}

/** Returns the bytes at a URL; undefined if there are none, for an architecture without files. */
async function bytesAt(url: string): Promise<Buffer | undefined> {
  const answer = await fetch(url)
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (answer.status === 404) return undefined
  if (answer.status !== 200) throw new Error(`${url} was answered ${answer.status}`)
  return bytes
}

async function textAt(url: string): Promise<string> {
  return (await bytesAt(url))?.toString() ?? ''
}

/** Publishes in order, because a rule keeps the newest versions. */
async function publishAll(t: Test, { gatehouse, ada }: Scene, front: Front): Promise<void> {
  for (const item of front.items) {
    const { method, path, body } = await front.publish(item)
    const answer = await fetch(`${gatehouse.url}${path}`, {
      method,
      headers: { authorization: `token ${ada.token}` },
      body: new Uint8Array(body ?? []),
    })
    const text = await answer.text()
    if (answer.status !== 201) t.fail(`${front.type} ${item}: ${answer.status} ${text}`)
  }
  await front.names()
}

interface OpenReader {
  readonly front: Front
  readonly name: string
  readonly read: Reader
}

async function openReaders(t: Test, fronts: readonly Front[]): Promise<readonly OpenReader[]> {
  const clients = fronts.flatMap((front) =>
    Object.entries(front.readers).map(async ([name, open]) => {
      const read = await open(t)
      // The first read takes longer, and shows that the client works at all.
      await read()
      return { front, name, read }
    }),
  )
  return await Promise.all(clients)
}

/** Reads until the rules have run, and at least once more. Returns the number of reads. */
async function readOn({ state, faults }: Scene, { front, name, read }: OpenReader) {
  const kept = front.listedOf(keptOf(front))
  for (let reads = 1; ; reads += 1) {
    const isLast = state.isOver
    try {
      const seen = await read()
      const listed = new Set(seen?.listed)
      for (const item of kept) {
        if (listed.size > 0 && !listed.has(item)) {
          faults.push(`${front.type}, ${name}: ${item} is not listed`)
        }
      }
      for (const [item, why] of seen?.missing ?? []) {
        faults.push(`${front.type}, ${name}: ${item} is listed and missing: ${why}`)
      }
    } catch (error) {
      faults.push(`${front.type}, ${name}: ${error}`)
    }
    if (isLast) return `${front.type}, ${name}: ${reads} reads`
    await sleep(READS_EVERY_MS)
  }
}

const rulePath = ({ type }: Front) => `/packages/ada/-/cleanup-rules/${type}`

async function previewRule(t: Test, { ada }: Scene, front: Front): Promise<void> {
  const path = rulePath(front)
  t.equal((await ada.api('PUT', path, { ...RULE, enabled: true })).status, 200)
  const { body } = await ada.api('GET', `${path}/preview`)
  const versions = front.items.length - keptOf(front).length
  t.match(body, { versions }, `${front.type}: the preview`)
}

async function runRule(t: Test, { ada }: Scene, front: Front): Promise<void> {
  const path = rulePath(front)
  t.equal((await ada.api('POST', `${path}/run`)).status, 202)
  const deadlineMs = Date.now() + RUN_WITHIN_MS
  for (;;) {
    const { body } = await ada.api('GET', path)
    const { last_run } = body as { readonly last_run: { readonly versions: number } | null }
    if (last_run !== null) {
      const versions = front.items.length - keptOf(front).length
      t.match(last_run, { versions, error: '' }, `${front.type}: the run`)
      return
    }
    if (Date.now() > deadlineMs) throw new Error(`the rule for ${front.type} did not run`)
    await sleep(100)
  }
}
