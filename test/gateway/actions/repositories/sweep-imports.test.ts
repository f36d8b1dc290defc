/** Removal of imports whose process has ended; running imports are kept. */

import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import t, { type Test } from 'tap'
import { processSpace } from '../../../../cgi/process/process-space.js'
import { markProcess } from '../../../../cgi/process/process-table.js'
import { newStorageKey, repositoryPath } from '../../../../cgi/repository/paths.js'
import { sweepImports } from '../../../../gateway/actions/repositories/sweep-imports.js'
import { beginImport, listImports } from '../../../../sql/repositories/repository-imports.js'
import { openContext } from '../../../helpers/gateway.js'

interface Changes {
  readonly machine?: string
  readonly process?: string
  readonly leaseMs?: number
}

async function anImport(t: Test, changes: Changes) {
  const { fixture } = await openContext(t)
  const { db, settings } = fixture
  const ada = await fixture.addUser('ada')
  const storage = newStorageKey()
  const own = { machine: processSpace(), process: JSON.stringify(markProcess(process.pid)) }
  await beginImport(db, {
    ownerId: ada.id,
    name: 'r',
    storage,
    leaseMs: 30_000,
    ...own,
    ...changes,
  })
  const path = repositoryPath(settings.data.dir, storage)
  await mkdir(`${path}.new-0123456789ab/objects`, { recursive: true })
  await mkdir(`${path}/objects`, { recursive: true })
  const neighbour = repositoryPath(settings.data.dir, `${storage.slice(0, 2)}${'0'.repeat(30)}`)
  await mkdir(neighbour)
  const sweep = () => sweepImports(db, settings.data.dir)
  return { path, neighbour, sweep, rows: async () => (await listImports(db)).length }
}

const DEAD = JSON.stringify({ pid: process.pid, identity: 'another boot' })

for (const [name, changes] of Object.entries<Changes>({
  'an import whose process has ended': { process: DEAD },
  'an import of another machine whose lease has expired': { machine: 'elsewhere', leaseMs: -1 },
})) {
  t.test(`${name} is removed`, async (t) => {
    const { path, neighbour, sweep, rows } = await anImport(t, changes)
    t.equal(await sweep(), 1)
    t.equal(await rows(), 0)
    t.notOk(existsSync(path))
    t.strictSame(await readdir(dirname(path)), [neighbour.slice(dirname(path).length + 1)])
    t.equal(await sweep(), 0)
  })
}

for (const [name, changes] of Object.entries<Changes>({
  'an import of this process': {},
  'an import of another machine': { machine: 'elsewhere', process: DEAD },
})) {
  t.test(`${name} is kept`, async (t) => {
    const { path, sweep, rows } = await anImport(t, changes)
    t.equal(await sweep(), 0)
    t.equal(await rows(), 1)
    t.ok(existsSync(path))
  })
}
