/** Threat: acknowledged uploads are lost if the server is killed, or rows lack their bytes. */

import { createHash, randomBytes, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, t } from 'tap'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { openFileStorage } from '../../registry/storage/files.js'
import { sweepBlobs } from '../../registry/sweeper.js'
import { type Database, openDatabase } from '../../sql/database/database.js'
import { selectRows } from '../../sql/database/dialect.js'
import { freshLocation } from '../helpers/databases.js'
import { type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { killServer, until } from '../helpers/server-processes.js'
import { isFullSize } from '../helpers/test-size.js'

const ROUNDS: Readonly<Record<DatabaseLocation['kind'], number>> = isFullSize
  ? { sqlite: 150, mysql: 60 }
  : { sqlite: 2, mysql: 1 }

/** Number of concurrent uploads when the server is killed. */
const WRITERS = 6
const FILES_EACH = 8
const SIZES_BYTES = [0, 1_000, 200_000, 3_000_000]
const KILLED_WITHIN_MS = 400
const ACKNOWLEDGED_WITHIN_MS = 30_000

for (const kind of ['sqlite', 'mysql'] as const) {
  t.test(`acknowledged uploads survive kill -9 of the server, on ${kind}`, async (t) => {
    const location = await freshLocation(t, kind)
    const gatehouse = await startGatehouse(t, { location, isOnDisk: true })
    const ada = await gatehouse.addUser('ada')
    const db = await openDatabase({ location, connectionsMax: 2 })
    t.teardown(() => db.destroy())
    const kept = new Map<string, string>()
    for (let round = 0; round < ROUNDS[kind]; round += 1) {
      const writers = Array.from({ length: WRITERS }, (_, writer) =>
        upload({ gatehouse, ada }, `${round}-${writer}`, kept),
      )
      // A slow machine acknowledges no upload within the random delay alone.
      const isLast = round === ROUNDS[kind] - 1
      if (isLast) await until(async () => kept.size > 0, Boolean, ACKNOWLEDGED_WITHIN_MS)
      await sleep(randomInt(KILLED_WITHIN_MS))
      await killServer(gatehouse)
      await Promise.all(writers)
      await gatehouse.start()
      await checkRows(t, db, gatehouse)
    }
    t.ok(kept.size > 0, `${kept.size} uploads were acknowledged before a kill`)
    for (const [path, sha256] of kept) {
      const answer = await fetch(`${gatehouse.url}${path}`)
      const received = sha256Of(Buffer.from(await answer.arrayBuffer()))
      if (received !== sha256) t.fail(`${path} has other bytes than the acknowledged upload`)
    }
    await checkSweep(t, db, gatehouse)
  })
}

interface Scene {
  readonly gatehouse: Gatehouse
  readonly ada: Person
}

/** Uploads until the server is killed; records the digests of acknowledged files. */
async function upload(
  { gatehouse, ada }: Scene,
  name: string,
  kept: Map<string, string>,
): Promise<void> {
  const authorization = `token ${ada.token}`
  for (let index = 0; index < FILES_EACH; index += 1) {
    const body = randomBytes(SIZES_BYTES[index % SIZES_BYTES.length] ?? 0)
    const path = `/api/packages/ada/generic/tool/${name}/${index}`
    try {
      const answer = await fetch(`${gatehouse.url}${path}`, {
        method: 'PUT',
        body,
        headers: { authorization },
      })
      await answer.arrayBuffer()
      if (answer.status === 201) kept.set(path, sha256Of(body))
    } catch {
      return
    }
  }
}

/** Checks that every row of a file has its bytes, and that every version has a file. */
async function checkRows(t: Test, db: Database, gatehouse: Gatehouse): Promise<void> {
  const storage = await openFileStorage(`${gatehouse.dataDir}/blobs`)
  const rows = await selectRows<{ storage_key: string; bytes: number; sha256: string }>(
    db,
    'select b.storage_key, b.bytes, b.sha256 from package_files f join blobs b on b.id = f.blob_id',
  )
  for (const { storage_key, bytes, sha256 } of rows) {
    const hash = createHash('sha256')
    for await (const chunk of await storage.open(storage_key, { start: 0, end: bytes })) {
      hash.update(chunk)
    }
    if (hash.digest('hex') !== sha256) t.fail(`the bytes of ${storage_key} do not match its digest`)
  }
  const empty = await selectRows(
    db,
    'select 1 from package_versions v where not exists (select 1 from package_files f where f.version_id = v.id)',
  )
  t.strictSame(empty, [], `every version has a file; ${rows.length} files`)
}

/** Checks that the sweeper removes the blobs without a row, and no others. */
async function checkSweep(t: Test, db: Database, gatehouse: Gatehouse): Promise<void> {
  await gatehouse.stop()
  const storage = await openFileStorage(`${gatehouse.dataDir}/blobs`)
  const swept = await sweepBlobs({ db, storage, graceMs: 0 })
  t.comment(`${swept.left} uploads were left behind by the kills`)
  t.strictSame(await sweepBlobs({ db, storage, graceMs: 0 }), { unused: 0, left: 0 })
  await checkRows(t, db, gatehouse)
}

function sha256Of(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
