/** Threat: clients read inconsistent indexes during concurrent writes and crashes of workers. */

import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, t } from 'tap'
import { type Database, openDatabase } from '../../sql/database/database.js'
import { selectRows } from '../../sql/database/dialect.js'
import { freshLocation } from '../helpers/databases.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import {
  ALWAYS,
  type Change,
  INDEXED_FORMATS,
  type IndexedFormat,
  type Item,
  type Reader,
  type Seen,
} from '../helpers/index-clients.js'
import { listenersOn, workersOf } from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'

const WRITERS = isFullSize ? 4 : 2
/** Number of uploads and deletions by each writer. */
const CHANGES = isFullSize ? 125 : 9
const WORKERS = isFullSize ? 3 : 2
/** Minimum time between two kills; the maximum is twice that. */
const KILLS_EVERY_MS = isFullSize ? 2_000 : 1_000
/** Maximum pause of a writer between two changes. */
const PAUSE_MAX_MS = isFullSize ? 1_000 : 700
/** Time between two reads of one reader, in which a few changes or none occur. */
const READS_EVERY_MS = isFullSize ? 100 : 700
const FAULTS_SHOWN = 20

for (const kind of ['sqlite', 'mysql'] as const) {
  t.test(`indexes are consistent during writes and worker crashes, on ${kind}`, async (t) => {
    const location = await freshLocation(t, kind)
    const gatehouse = await startGatehouse(t, { location, workers: WORKERS })
    const ada = await gatehouse.addUser('ada')
    const scene: Scene = { gatehouse, ada, state: { isOver: false }, faults: [] }
    const fronts = INDEXED_FORMATS.map((format) => openFront(scene, format))
    for (const front of fronts) {
      await publish(front, ALWAYS)
      // The first read creates the signing key, which takes long.
      await readAll(front)
    }

    const readers = (await openReaders(t, fronts, kind)).map(readOn)
    const killer = killOn(scene)
    await Promise.all(Array.from({ length: WRITERS }, (_, at) => write(fronts, `writer${at}`)))
    scene.state.isOver = true
    const counts = await Promise.all(readers)
    const kills = await killer
    t.comment(`${kills} workers were killed; ${counts.map(wordsOf).join('; ')}`)
    t.ok(kills > 0, 'workers were killed during the writes')
    t.strictSame(scene.faults.slice(0, FAULTS_SHOWN), [], 'no client saw a fault')
    t.strictSame(serverErrorsIn(gatehouse.log()), [], 'the server logged no error')

    const db = await openDatabase({ location, connectionsMax: 2 })
    t.teardown(() => db.destroy())
    t.comment(`generations: ${JSON.stringify(await countGenerations(db))}`)
    const before = await Promise.all(fronts.map((front) => readAll(front)))
    await forgetIndexes(db)
    for (const [at, front] of fronts.entries()) {
      await t.test(front.format.name, (t) => checkIndex(t, front, before[at] ?? new Map()))
    }
  })
}

interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly state: { isOver: boolean }
  /** Faults that clients saw and that no killed worker explains. */
  readonly faults: string[]
}

/** A format under test, and the expected state of its packages. */
interface Front {
  readonly scene: Scene
  readonly format: IndexedFormat
  /** Items whose publication was acknowledged. */
  readonly published: Set<Item>
  /** Items whose removal was requested. */
  readonly beingRemoved: Set<Item>
  /** Items whose removal was acknowledged. */
  readonly gone: Set<Item>
}

function openFront(scene: Scene, format: IndexedFormat): Front {
  return { scene, format, published: new Set(), beingRemoved: new Set(), gone: new Set() }
}

interface Answer {
  readonly status: number
  readonly bytes: Buffer
  /** True if an earlier attempt got no reply because its worker was killed. */
  readonly isRepeated: boolean
}

/** Sends the request until it is answered: its worker may be killed before the reply. */
async function ask({ scene }: Front, { method, path, body }: Change): Promise<Answer> {
  const { gatehouse, ada } = scene
  for (let isRepeated = false; ; isRepeated = true) {
    try {
      const answer = await fetch(`${gatehouse.url}${path}`, {
        method,
        headers: { authorization: `token ${ada.token}` },
        ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      })
      const bytes = Buffer.from(await answer.arrayBuffer())
      return { status: answer.status, bytes, isRepeated }
    } catch {
      // The connection was closed by the death of its worker.
    }
    await sleep(50)
  }
}

async function publish(front: Front, item: Item): Promise<void> {
  const { status, isRepeated } = await ask(front, front.format.publish(item))
  // 409: the previous attempt succeeded, and its reply was lost.
  if (status === 201 || (status === 409 && isRepeated)) front.published.add(item)
  else report(front, `the upload of ${item} was answered ${status}`)
}

async function remove(front: Front, item: Item): Promise<void> {
  front.beingRemoved.add(item)
  const { status, isRepeated } = await ask(front, front.format.remove(item))
  if (status === 204 || (status === 404 && isRepeated)) front.gone.add(item)
  else report(front, `the removal of ${item} was answered ${status}`)
}

function report({ scene, format }: Front, fault: string): void {
  scene.faults.push(`${format.name}: ${fault}`)
}

/** Changes the formats in rotation: two publications, then the removal of a random own version. */
async function write(fronts: readonly Front[], name: string): Promise<void> {
  for (let change = 0; change < CHANGES; change += 1) {
    await sleep(randomInt(PAUSE_MAX_MS))
    const front = fronts[change % fronts.length]
    if (front === undefined) throw new Error('no format')
    const round = Math.floor(change / fronts.length)
    if (round % 3 !== 2) await publish(front, `${name} 1.${round}`)
    else {
      const left = leftOf(front).filter((item) => item.startsWith(`${name} `))
      await remove(front, left[randomInt(left.length)] ?? '')
    }
  }
}

function leftOf({ published, gone }: Front): readonly Item[] {
  return [...published].filter((item) => !gone.has(item))
}

interface OpenReader {
  readonly front: Front
  readonly name: string
  readonly read: Reader
}

/**
 * Opens the real clients, and for each format a reader that fetches the index files directly. The
 * direct reader is fast enough to cause a new generation for nearly every change. Clients behave
 * the same with both databases, so each runs on one of them; at full size, on both.
 */
async function openReaders(
  t: Test,
  fronts: readonly Front[],
  kind: 'sqlite' | 'mysql',
): Promise<readonly OpenReader[]> {
  const clients = fronts.flatMap((front) =>
    Object.entries(front.format.readers).map(([name, open]) => ({ front, name, open })),
  )
  const here = clients.filter((_, at) => isFullSize || (at % 2 === 0) === (kind === 'sqlite'))
  const opened = here.map(async ({ front, name, open }) => {
    return { front, name, read: await open(t, front.scene.gatehouse.url) }
  })
  const direct = fronts.map((front) => {
    return { front, name: 'a direct read', read: () => readDirectly(t, front) }
  })
  return [...(await Promise.all(opened)), ...direct]
}

interface Count {
  readonly who: string
  readonly whole: number
  readonly cutOff: number
}

const wordsOf = ({ who, whole, cutOff }: Count) => `${who}: ${whole} and ${cutOff} cut off`

/** Reads until the writers have ended; checks each result against the acknowledged changes. */
async function readOn({ front, name, read }: OpenReader): Promise<Count> {
  const { state, faults } = front.scene
  let [whole, cutOff] = [0, 0]
  while (!state.isOver || (whole === 0 && faults.length === 0)) {
    const published = [...front.published]
    const gone = [...front.gone]
    try {
      const seen = await read()
      if (seen === undefined) cutOff += 1
      else {
        whole += 1
        judge(front, name, { seen, published, gone })
      }
    } catch (error) {
      report(front, `${name} failed: ${error}`)
    }
    await sleep(READS_EVERY_MS)
  }
  return { who: `${front.format.name}, ${name}`, whole, cutOff }
}

interface Reading {
  readonly seen: Seen
  /** Items published before the read began. */
  readonly published: readonly Item[]
  readonly gone: readonly Item[]
}

function judge(front: Front, name: string, { seen, published, gone }: Reading): void {
  const { format, beingRemoved } = front
  const listed = new Set(seen.listed)
  const isWanted = (item: Item) => format.listedOf([item, ...seen.listed]).includes(item)
  for (const item of published) {
    if (beingRemoved.has(item) || listed.has(item) || !isWanted(item)) continue
    report(front, `${name} does not list ${item}, which was acknowledged before`)
  }
  for (const item of gone) {
    if (listed.has(item)) report(front, `${name} lists ${item}, which was removed before`)
  }
  for (const [item, why] of seen.missing) {
    if (!beingRemoved.has(item)) report(front, `${name} lists ${item}, and did not get it: ${why}`)
  }
}

async function readDirectly(t: Test, front: Front): Promise<Seen> {
  const listed = await front.format.namesIn(t, await readAll(front))
  return { listed, missing: new Map() }
}

async function readAll(front: Front): Promise<ReadonlyMap<string, Buffer>> {
  const files = new Map<string, Buffer>()
  for (const path of front.format.paths) {
    const { status, bytes } = await ask(front, { method: 'GET', path })
    // 404: the architecture has no packages.
    if (status === 200) files.set(path, bytes)
    else if (status !== 404) throw new Error(`${path} was answered ${status}`)
  }
  return files
}

async function killOn({ gatehouse, state }: Scene): Promise<number> {
  for (let kills = 0; ; ) {
    await sleep(KILLS_EVERY_MS + randomInt(KILLS_EVERY_MS))
    if (state.isOver) return kills
    // A worker is killed only if all of them listen, so that others can serve meanwhile.
    if ((await listenersOn(gatehouse.port)) < WORKERS) continue
    const workers = await workersOf(gatehouse.pid)
    process.kill(workers[randomInt(workers.length)] ?? Number.NaN, 'SIGKILL')
    kills += 1
  }
}

/** Returns the warnings and errors of requests in the log. */
function serverErrorsIn(log: string): readonly string[] {
  const isOfRequest = (line: string) => /"level":"(?:error|warn)".*"requestId"/.test(line)
  return log.split('\n').filter(isOfRequest).slice(0, FAULTS_SHOWN)
}

/** Counts the generations of indexes by format. */
async function countGenerations(db: Database): Promise<Readonly<Record<string, number>>> {
  const rows = await selectRows<{ format: string; count: number }>(
    db,
    `select i.format, count(distinct f.generation) as count from package_indexes i
      join package_index_files f on f.index_id = i.id group by i.format order by i.format`,
  )
  return Object.fromEntries(rows.map(({ format, count }) => [format, Number(count)]))
}

/** Deletes all generated indexes, so that the next read builds them from scratch. */
async function forgetIndexes(db: Database): Promise<void> {
  await db('package_index_files').delete()
  await db('package_indexes').update({ built: 0 })
}

/** Checks that the index lists exactly the remaining items and equals one built from scratch. */
async function checkIndex(
  t: Test,
  front: Front,
  before: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const { format } = front
  const names = await format.namesIn(t, before)
  const left = format.listedOf(leftOf(front))
  t.ok(left.length > 1, `${left.length} are left`)
  t.strictSame(names.toSorted(), left.toSorted(), 'the index lists exactly the remaining items')
  const again = await readAll(front)
  t.strictSame([...again.keys()], [...before.keys()], 'the rebuilt index has the same files')
  for (const [path, bytes] of before) {
    t.equal(again.get(path)?.toString('latin1'), bytes.toString('latin1'), path)
  }
}
