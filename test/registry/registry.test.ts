/** Registries open their storage, follow the settings, and write their last counts. */

import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Settings } from '../../conf/settings.js'
import { openRegistry } from '../../registry/registry.js'
import { openContext } from '../helpers/gateway.js'
import { temporaryFolder } from '../helpers/temporary.js'

/** Rejects, because these tests upload nothing. */
const unused = {
  inspect: () => Promise.reject(new Error('nothing to inspect')),
  matchPatterns: () => Promise.reject(new Error('nothing to match')),
  digest: () => {
    throw new Error('nothing to digest')
  },
}

t.test('the storage is the configured one, and limits follow the current settings', async (t) => {
  const { context, fixture } = await openContext(t)
  const { db, log } = fixture
  const folder = join(await temporaryFolder(t), 'new', 'blobs')
  const location = { kind: 'files', folder } as const
  let settings: Settings = { ...fixture.settings, blobs: { ...fixture.settings.blobs, location } }
  const registry = await openRegistry({ settings: () => settings, db, log, ...unused })
  t.teardown(() => registry.stop())
  t.ok((await stat(registry.storage.incomingFolder)).isDirectory())
  t.ok(registry.storage.incomingFolder.startsWith(folder))
  t.equal(registry.settings(), settings.packages)
  settings = { ...settings, packages: { ...settings.packages, ownerBytesMax: 7 } }
  t.equal(registry.settings().ownerBytesMax, 7)
  t.not(registry.storage.incomingFolder, context.registry.storage.incomingFolder)
})

t.test('a storage that cannot be opened is an error at the start', async (t) => {
  const { fixture } = await openContext(t)
  const { db, log } = fixture
  const file = join(await temporaryFolder(t), 'file')
  await writeFile(file, '')
  const location = { kind: 'files', folder: join(file, 'blobs') } as const
  const settings = { ...fixture.settings, blobs: { ...fixture.settings.blobs, location } }
  await t.rejects(openRegistry({ settings: () => settings, db, log, ...unused }), {
    message: /^the folder \S+\/file\/blobs cannot be created \(ENOTDIR: .*\): set blobs\.url to a/,
  })
})

t.test('counted downloads are written at the end', async (t) => {
  const { context, fixture } = await openContext(t)
  const { db, log, settings } = fixture
  const registry = await openRegistry({ settings: () => settings, db, log, ...unused })
  const asked: string[] = []
  db.on('query', ({ sql }) => asked.push(sql))
  registry.downloads.count(1)
  registry.attachmentDownloads.count(1)
  const writes = () => asked.filter((sql) => /package_files|attachments/.test(sql))
  t.strictSame(writes(), [])
  await registry.stop()
  t.match(writes().sort(), [
    /select .* from `package_files`/,
    /update `attachments`/,
    /update `package_files`/,
  ])
  t.not(registry.downloads, context.registry.downloads)
})
