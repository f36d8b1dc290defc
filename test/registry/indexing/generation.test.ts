/** An index is built by its first reader after a change, once, as a consistent set of files. */

import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../../conf/database-location.js'
import { gzipText } from '../../../registry/archive/gzip-file.js'
import type { IndexMaker } from '../../../registry/index-maker.js'
import { rendered } from '../../../registry/indexing/rendered.js'
import { beginsRun } from '../../../registry/indexing/runs.js'
import { openPackageStore } from '../../../registry/lend-package-store.js'
import type { IndexFile, OpenIndex, PackageStore } from '../../../registry/package-store.js'
import type { Registry } from '../../../registry/registry.js'
import { openRegistry } from '../../../registry/registry.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { forEachDatabase, onOneDatabase } from '../../helpers/databases.js'
import { openContext } from '../../helpers/gateway.js'
import { isFullSize } from '../../helpers/test-size.js'

/** Creates a maker that lists each part, with the digests of these lists in a second file. */
function aMaker(
  state: { builds: number; rendered?: number; pauseMs?: number; fault?: Error } = { builds: 0 },
): IndexMaker {
  return {
    revision: 1,
    formsOf: () => ['plain', 'deflated'],
    render(entries) {
      state.rendered = (state.rendered ?? 0) + entries.length
      const lines = new Map<string, string[]>()
      for (const { part, packageName, version, metadata, file } of entries) {
        const line = `${packageName} ${version} ${metadata['note']} ${file.bytes}\n`
        lines.set(part, [...(lines.get(part) ?? []), line])
      }
      return new Map([...lines].map(([part, all]) => [part, rendered(all)]))
    },
    async build({ texts }, output) {
      state.builds += 1
      await sleep(state.pauseMs ?? 0)
      if (state.fault !== undefined) throw state.fault
      let all = ''
      for (const [part, text] of texts) {
        const { plain } = text.forms
        const { digests } = await output.write(`${part}/list`, plain === undefined ? [] : [plain])
        await output.write(`${part}/list.gz`, gzipText([text]))
        all += `${part} ${digests.sha256}\n`
      }
      await output.write('sums', [Buffer.from(all)])
    },
  }
}

interface Stage {
  readonly db: Database
  readonly registry: Registry
  /** A registry over the same database and storage, like that of another process. */
  readonly other: Registry
  readonly ada: User
  namespaceOf(registry: Registry, maker: IndexMaker): PackageStore
  publish(namespace: PackageStore, name: string, part?: string): Promise<void>
  textOf(file: IndexFile | undefined): Promise<string>
  read(index: OpenIndex | undefined, path: string): Promise<string>
}

type StageTest = (t: Test, stage: Stage) => Promise<void>

/** Runs a test of concurrent readers, which depends on the database. */
async function forEachStage(name: string, test: StageTest) {
  await forEachDatabase(t, name, (t, location) => onStage(t, location, test))
}

/** Runs a test on one database; test/sql/packages has its queries on both. */
async function onOneStage(name: string, test: StageTest) {
  await onOneDatabase(t, name, (t, location) => onStage(t, location, test))
}

async function onStage(t: Test, location: DatabaseLocation, test: StageTest): Promise<void> {
  const { context, fixture } = await openContext(t, { location })
  const { registry, db } = context
  const ada = await fixture.addUser('ada')
  const { settings, log } = fixture
  const { inspect, digest, matchPatterns } = registry
  const services = { inspect, digest, matchPatterns }
  const other = await openRegistry({ settings: () => settings, db, log, ...services })
  const textOf = async (file: IndexFile | undefined) => {
    if (file === undefined) return 'none'
    let text = ''
    for await (const chunk of await registry.storage.open(file.blobKey, {
      start: 0,
      end: file.bytes,
    })) {
      text += Buffer.from(chunk).toString('latin1')
    }
    return text
  }
  await test(t, {
    db,
    registry,
    other,
    ada,
    textOf,
    namespaceOf(from, maker) {
      const namespace = openPackageStore(from, {
        ownerId: ada.id,
        ownerName: 'ada',
        format: 'debian',
        user: ada,
        baseUrl: '',
        sourceOf: async () => undefined,
        index: maker,
      })
      t.teardown(() => namespace.close())
      return namespace
    },
    async publish(namespace, name, part = 'main') {
      const upload = await namespace.receive(oneChunk(name))
      await namespace.publish(upload, {
        packageName: name,
        version: '1',
        fileName: name,
        unique: 'file',
        indexes: [{ key: name, subject: 'stable', part, metadata: { note: `about ${name}` } }],
      })
    },
    read: async (index, path) => await textOf(await index?.findFile(path)),
  })
}

async function* oneChunk(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}

await forEachStage('a published package is in the next index that is opened', async (t, stage) => {
  const { registry, other, namespaceOf, publish, read } = stage
  const maker = aMaker()
  const namespace = namespaceOf(registry, maker)
  t.equal(await namespace.openIndex('stable'), undefined, 'there is no index yet')
  await publish(namespace, 'one')
  t.equal(await read(await namespace.openIndex('stable'), 'main/list'), 'one 1 about one 3\n')
  await publish(namespace, 'two')
  await publish(namespaceOf(other, maker), 'three', 'extra')
  const index = await namespace.openIndex('stable')
  t.equal(await read(index, 'main/list'), 'one 1 about one 3\ntwo 1 about two 3\n')
  t.equal(await read(index, 'extra/list'), 'three 1 about three 5\n')
  t.equal(await read(index, 'none/list'), 'none')
  t.equal(await namespace.openIndex('testing'), undefined)
})

await forEachStage('an index is built once for any number of readers', async (t, stage) => {
  const { registry, other, namespaceOf, publish, read } = stage
  const state = { builds: 0, pauseMs: 50 }
  const stores = [registry, other].map((from) => namespaceOf(from, aMaker(state)))
  const [namespace] = stores
  if (namespace === undefined) throw new Error('no package store')
  await publish(namespace, 'one')
  const opened = await Promise.all(
    Array.from({ length: 20 }, (_, at) => (stores[at % 2] ?? namespace).openIndex('stable')),
  )
  t.equal(state.builds, 1)
  const lists = await Promise.all(opened.map((index) => read(index, 'main/list')))
  t.strictSame([...new Set(lists)], ['one 1 about one 3\n'])
  await namespace.openIndex('stable')
  t.equal(state.builds, 1, 'and not again without a change')
})

const PACKAGES = isFullSize ? 700 : 70

/**
 * Names for packages. The start of runs follows from the names, so it is the same each time. One of
 * 128 names begins a run. For several runs with few packages, every twelfth name is one that does.
 */
function* packageNames(): Generator<string, never> {
  const all = Array.from({ length: 10_007 }, (_, at) => `package-${(at * 7_919) % 10_007}`)
  const starts = all.filter(beginsRun)
  const others = all.filter((name) => !beginsRun(name))
  for (let at = 0; ; at += 1) {
    const list = at % 12 === 0 ? starts : others
    const name = isFullSize ? all[at] : list.shift()
    if (name === undefined) throw new Error('no more names')
    yield name
  }
}

await onOneStage('an updated index equals one that is built from nothing', async (t, stage) => {
  const { db, registry, namespaceOf, publish, read } = stage
  const state = { builds: 0, rendered: 0 }
  const namespace = namespaceOf(registry, aMaker(state))
  const names = new Set<string>()
  const next = packageNames()
  const publishOne = async (part?: string) => {
    const name = next.next().value
    await publish(namespace, name, part)
    names.add(name)
  }
  for (let at = 0; at < PACKAGES; at += 1) await publishOne(at % 7 ? 'main' : 'extra')
  const readAll = async () => {
    const index = await namespace.openIndex('stable')
    const paths = ['main/list', 'main/list.gz', 'extra/list', 'extra/list.gz', 'sums']
    return await Promise.all(paths.map((path) => read(index, path)))
  }
  await readAll()
  let renewed = 0
  for (let round = 0; round < 12; round += 1) {
    for (let change = 0; change <= round % 3; change += 1) {
      if (round % 2) await publishOne()
      const [name = ''] = names
      names.delete(name)
      await namespace.removeVersion(name, '1')
    }
    state.rendered = 0
    const files = await readAll()
    renewed += state.rendered / names.size
    await db('package_index_files').delete()
    await db('package_indexes').update({ built: 0 })
    t.strictSame(await readAll(), files)
  }
  t.ok(renewed < 10, `entries of ${renewed} of 12 full indexes were rendered`)
})

await onOneStage('every way to delete a file changes the index', async (t, stage) => {
  const { registry, namespaceOf, publish, read } = stage
  const namespace = namespaceOf(registry, aMaker())
  for (const name of ['one', 'two', 'three']) await publish(namespace, name)
  const list = async () => read(await namespace.openIndex('stable'), 'main/list')
  t.equal((await list()).split('\n').length, 4)
  await namespace.removeFile({ packageName: 'one', version: '1', fileName: 'one' })
  t.notMatch(await list(), /one/)
  await namespace.removeVersion('two', '1')
  t.equal(await list(), 'three 1 about three 5\n')
  await namespace.removeVersion('three', '1')
  t.equal(await list(), 'none', 'neither the index nor its files exist any more')
})

await onOneStage('an opened index is unchanged and is found by digest', async (t, stage) => {
  const { registry, namespaceOf, publish, read, textOf } = stage
  const namespace = namespaceOf(registry, aMaker())
  await publish(namespace, 'one')
  const before = await namespace.openIndex('stable')
  const sums = await read(before, 'sums')
  await publish(namespace, 'two')
  const after = await namespace.openIndex('stable')
  t.equal(await read(before, 'main/list'), 'one 1 about one 3\n')
  const [, digest = ''] = sums.trim().split(' ')
  const found = await namespace.findIndexFile('stable', { algorithm: 'sha256', digest })
  t.equal(await textOf(found), 'one 1 about one 3\n', 'by the digest in the old sums')
  t.equal(found?.digests.sha512, createHash('sha512').update('one 1 about one 3\n').digest('hex'))
  const newer = await namespace.findIndexFile('stable', {
    algorithm: 'sha512',
    digest: (await after?.findFile('main/list'))?.digests.sha512 ?? '',
  })
  t.match(await textOf(newer), /two/)
  t.equal(await namespace.findIndexFile('stable', { algorithm: 'sha256', digest: 'x' }), undefined)
  const [one, two] = [await before?.findFile('sums'), await after?.findFile('sums')]
  t.ok(
    (two?.modifiedAtMs ?? 0) >= (one?.modifiedAtMs ?? 0) + 1_000,
    'no two generations have the same second',
  )
})

await forEachStage('a read renews an index after half of its validity', async (t, stage) => {
  const { db, registry, other, namespaceOf, publish } = stage
  const HOUR_MS = 3_600_000
  const state = { builds: 0, validMs: HOUR_MS as number | undefined, pauseMs: 20 }
  const maker = { ...aMaker(state), validMs: () => state.validMs }
  const stores = [registry, other].map((from) => namespaceOf(from, maker))
  const [namespace] = stores as [PackageStore]
  await publish(namespace, 'one')
  const read = async () => (await namespace.openIndex('stable'))?.changedAtMs ?? 0
  const age = (ms: number) => db('package_indexes').decrement('changed_at', ms)
  await read()
  await age(HOUR_MS / 2 - 30_000)
  await read()
  t.equal(state.builds, 1, 'shortly before')
  await age(30_000)
  await Promise.all([...stores, ...stores].map((store) => store.openIndex('stable')))
  t.ok(Date.now() - (await read()) < 60_000, 'the index has a new date')
  t.equal(state.builds, 2, 'once for concurrent readers')
  for (const validMs of [2 * HOUR_MS, undefined, HOUR_MS]) {
    const before = state.builds
    state.validMs = validMs
    await read()
    await read()
    t.equal(state.builds, before + 1, `the setting changes to ${validMs}`)
  }
  await age(HOUR_MS / 4)
  await publish(namespace, 'two')
  await age(2 * HOUR_MS)
  t.ok(Date.now() - (await read()) < 60_000, 'the first read after a change has a new date')
  state.validMs = undefined
  await read()
  await age(100 * HOUR_MS)
  const before = state.builds
  await read()
  t.equal(state.builds, before, 'without a limit')
})

await onOneStage('a failed build changes nothing, and the next one succeeds', async (t, stage) => {
  const { registry, namespaceOf, publish, read } = stage
  const state: { builds: number; fault?: Error } = { builds: 0 }
  const namespace = namespaceOf(registry, aMaker(state))
  await publish(namespace, 'one')
  await namespace.openIndex('stable')
  await publish(namespace, 'two')
  state.fault = new Error('no more disk')
  await t.rejects(namespace.openIndex('stable'), { message: 'no more disk' })
  delete state.fault
  t.match(await read(await namespace.openIndex('stable'), 'main/list'), /two/)
})

await onOneStage(
  'a lost file of the last generation does not prevent a build',
  async (t, stage) => {
    const { registry, namespaceOf, publish, read } = stage
    const namespace = namespaceOf(registry, aMaker())
    for (const lost of ['main/list', '.layout']) {
      await publish(namespace, `before ${lost}`)
      const file = await (await namespace.openIndex('stable'))?.findFile(lost)
      await registry.storage.remove(file?.blobKey ?? 'none')
      await publish(namespace, `after ${lost}`)
      const list = await read(await namespace.openIndex('stable'), 'main/list')
      t.match(list, new RegExp(`after ${lost} `))
      t.match(list, new RegExp(`before ${lost} `))
    }
  },
)

await onOneStage('old generations are deleted after a while', async (t, stage) => {
  const { db, registry, namespaceOf, publish } = stage
  const namespace = namespaceOf(registry, aMaker())
  for (const name of ['one', 'two', 'three']) {
    await publish(namespace, name)
    await namespace.openIndex('stable')
    await db('package_index_files').update({ created_at: 1 })
  }
  const rows = await db('package_index_files').distinct('generation').orderBy('generation')
  t.strictSame(
    rows.map(({ generation }: { generation: number }) => generation),
    [2, 3],
    'the last replaced one is kept',
  )
})
