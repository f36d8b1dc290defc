/** An index under fire: writers, workers that die, and apt, which never meets a torn set. */

import { randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, t } from 'tap'
import type { DatabaseLocation } from '../../conf/settings.js'
import { type Database, openDatabase } from '../../sql/database.js'
import { type AptRoot, newAptRoot } from '../helpers/apt-client.js'
import { freshLocation } from '../helpers/databases.js'
import { controlOf, debOf } from '../helpers/debs.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { workersOf } from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'

const WRITERS = 4
/** Uploads and deletes of each. */
const CHANGES: Readonly<Record<DatabaseLocation['kind'], number>> = isFullSize
  ? { sqlite: 125, mysql: 125 }
  : { sqlite: 16, mysql: 12 }
const KILLS_EVERY_MS = 1_500
const PAUSE_MAX_MS = 250
/** What apt says of files that do not belong together; a worker that dies is none of these. */
const TORN = /Hash Sum mismatch|unexpected size|is not signed|NO_PUBKEY|BADSIG|404 |File has unexp/i

for (const kind of ['sqlite', 'mysql'] as const) {
  t.test(`apt reads while packages come and go and workers die, on ${kind}`, async (t) => {
    const location = await freshLocation(t, kind)
    const gatehouse = await startGatehouse(t, { location })
    const scene = await openScene(t, gatehouse)
    await upload(scene, 'always', '1.0')
    const state = { isOver: false }
    const readers = [readOn(t, scene, state), readOn(t, scene, state)]
    const killer = killOn(gatehouse, state)
    const left = await Promise.all(
      Array.from({ length: WRITERS }, (_, at) => write(scene, `writer-${at}`, CHANGES[kind])),
    )
    state.isOver = true
    const updates = await Promise.all(readers)
    t.comment(`${await killer} workers died during ${updates.join(' and ')} updates of apt`)
    t.ok(Math.min(...updates) > 0, 'apt was updated meanwhile')
    const files = await readIndex(scene)
    const names = [...files.packages.matchAll(/^Package: (.*)\nVersion: (.*)$/gm)]
    t.strictSame(
      names.map(([, name, version]) => `${name} ${version}`).sort(),
      ['always 1.0', ...left.flat()].sort(),
      'the index lists what is there, and nothing else',
    )
    const db = await openDatabase({ location, connectionsMax: 2 })
    t.teardown(() => db.destroy())
    await forgetIndexes(db)
    t.strictSame(await readIndex(scene), files, 'made from nothing it is the same to the byte')
  })
}

interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly url: string
  readonly key: Uint8Array
}

async function openScene(t: Test, gatehouse: Gatehouse): Promise<Scene> {
  const ada = await gatehouse.addUser('ada')
  const url = `${gatehouse.url}/api/packages/ada/debian`
  const key = await fetch(`${url}/repository.key`)
  t.equal(key.status, 200)
  return { gatehouse, ada, url, key: new Uint8Array(await key.arrayBuffer()) }
}

/** Asks until there is an answer: a worker may die before it. */
async function ask({ url, ada }: Scene, method: string, path: string, body?: Buffer) {
  for (;;) {
    try {
      const headers = { authorization: `token ${ada.token}` }
      const answer = await fetch(`${url}${path}`, {
        ...{ method, headers },
        ...(body === undefined ? {} : { body: new Uint8Array(body) }),
      })
      const bytes = Buffer.from(await answer.arrayBuffer())
      if (answer.status < 500) return { status: answer.status, bytes }
    } catch {
      // The connection went with its worker.
    }
    await sleep(50)
  }
}

async function upload(scene: Scene, name: string, version: string): Promise<void> {
  const control = controlOf({ Package: name, Version: version })
  const { status } = await ask(scene, 'PUT', '/pool/stable/main/upload', debOf({ control }))
  // 409: the one before was taken, and its answer lost.
  if (status !== 201 && status !== 409) throw new Error(`an upload was answered ${status}`)
}

/** Publishes versions and deletes every other one again; answers what is left. */
async function write(scene: Scene, name: string, changes: number): Promise<readonly string[]> {
  const left: string[] = []
  for (let change = 0; change < changes; change += 1) {
    const version = `1.${change}`
    await sleep(randomInt(PAUSE_MAX_MS))
    if (change % 3 === 2) {
      const gone = left.shift()?.split(' ')[1] ?? ''
      await ask(scene, 'DELETE', `/pool/stable/main/${name}/${gone}/amd64`)
    } else {
      await upload(scene, name, version)
      left.push(`${name} ${version}`)
    }
  }
  return left
}

/** Updates apt until it is over, and has it find the package that is always there. */
async function readOn(t: Test, scene: Scene, state: { isOver: boolean }): Promise<number> {
  let updates = 0
  const sources = [`deb [signed-by=KEY] ${scene.url} stable main`]
  for (; !state.isOver; updates += 1) {
    // A root of its own each time: what apt knows already it would not fetch.
    const apt: AptRoot = await newAptRoot(t, { sources, key: scene.key })
    const update = await apt.get('update')
    t.notMatch(update.output, TORN, 'a set that is whole')
    if (update.exitCode !== 0 || /^(?:Err|W):/m.test(update.output)) continue
    const { output } = await apt.cache('policy', 'always')
    t.match(output, /Candidate: 1\.0/, 'with what was there before')
  }
  return updates
}

async function killOn(gatehouse: Gatehouse, state: { isOver: boolean }): Promise<number> {
  for (let kills = 0; ; kills += 1) {
    await sleep(KILLS_EVERY_MS)
    if (state.isOver) return kills
    const [worker] = await workersOf(gatehouse.pid)
    try {
      if (worker !== undefined) process.kill(worker, 'SIGKILL')
    } catch {
      // It has just died, and its successor is not there yet.
    }
  }
}

async function readIndex(scene: Scene) {
  const read = async (path: string) => {
    const { status, bytes } = await ask(scene, 'GET', `/dists/stable/${path}`)
    if (status !== 200) throw new Error(`${path} was answered ${status}`)
    return bytes
  }
  return {
    packages: (await read('main/binary-amd64/Packages')).toString(),
    packed: (await read('main/binary-amd64/Packages.gz')).toString('base64'),
    release: (await read('Release')).toString(),
    signed: (await read('InRelease')).toString(),
  }
}

/** As if none had ever been made. */
async function forgetIndexes(db: Database): Promise<void> {
  await db('package_index_files').delete()
  await db('package_indexes').update({ built: 0 })
}
