/** Disks of the data folder are read at most once a second and decide if writes are accepted. */

import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { insufficientStorage } from '../../../conf/disk-failure.js'
import { Failure } from '../../../conf/failures.js'
import { loadSettings } from '../../../conf/load.js'
import { type DiskWatch, watchDisks } from '../../../gateway/request/disk-watch.js'
import { mountSmallDisk, type SmallDisk } from '../../helpers/small-disk.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const STATE_KEPT_MS = 1_100
const SILENT = pino({ level: 'silent' })

interface Scene {
  readonly disk: SmallDisk
  readonly watch: DiskWatch
}

async function scene(t: Test, options: string, freeMin: string): Promise<Scene | undefined> {
  const disk = await mountSmallDisk(t, options)
  if (disk === undefined) {
    t.comment('skipped: a small disk cannot be mounted on this machine')
    return undefined
  }
  return { disk, watch: watchOf(disk.path, freeMin) }
}

function watchOf(dataDir: string, freeMin: string): DiskWatch {
  const settings = loadSettings({
    GATEHOUSE_CONFIG: undefined,
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_DATA_DISK_FREE_MIN: freeMin,
  })
  return watchDisks({ settings: () => settings, log: SILENT })
}

const refusalOf = async (watch: DiskWatch) => (await watch.state()).refusal

t.test('writes are refused below the configured free space and accepted above it', async (t) => {
  const found = await scene(t, 'size=16m', '8MiB')
  if (found === undefined) return
  const { disk, watch } = found
  await watch.refuseWrites()
  const before = await watch.state()
  t.strictSame(
    before.folders.map(({ name }) => name),
    ['data', 'repositories', 'database', 'blobs', 'cache'],
  )
  t.ok(before.folders.every(({ freeBytes }) => freeBytes > 8_388_608 && freeBytes <= 16_777_216))
  await disk.fill(4_194_304)
  t.equal(await refusalOf(watch), undefined, 'the disk is not read again within a second')
  await sleep(STATE_KEPT_MS)
  t.equal(await refusalOf(watch), 'data: less than 8388608 bytes are free')
  await t.rejects(async () => watch.refuseWrites(), { name: 'Error', message: /disk is full/ })
  await disk.free()
  await sleep(STATE_KEPT_MS)
  await watch.refuseWrites()
})

t.test('a separate disk below the data folder counts, except that of the cache', async (t) => {
  const dataDir = await temporaryFolder(t)
  await mkdir(join(dataDir, 'cache', 'packs'), { recursive: true })
  await mkdir(join(dataDir, 'blobs'))
  const cache = await mountSmallDisk(t, 'size=1m')
  if (cache === undefined) return
  const settings = loadSettings({
    GATEHOUSE_CONFIG: undefined,
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_BLOBS_URL: `file:${join(cache.path, 'not', 'there', 'yet')}`,
    GATEHOUSE_DATA_DISK_FREE_MIN: '2MiB',
  })
  const watch = watchDisks({ settings: () => settings, log: SILENT })
  t.equal(await refusalOf(watch), 'blobs: less than 2097152 bytes are free')
})

t.test('a disk without inodes refuses writes unless the limit is off', async (t) => {
  const found = await scene(t, 'size=16m,nr_inodes=100', '1MiB')
  if (found === undefined) return
  t.equal(await refusalOf(found.watch), 'data: fewer than 1024 inodes are free')
  t.equal(await refusalOf(watchOf(found.disk.path, '0')), undefined)
})

t.test('a read-only disk refuses writes', async (t) => {
  const found = await scene(t, 'size=16m', '0')
  if (found === undefined) return
  const { disk, watch } = found
  t.ok(await disk.remount('ro'))
  t.match(await refusalOf(watch), /^data: EROFS/)
  await disk.remount('rw')
  await sleep(STATE_KEPT_MS)
  t.equal(await refusalOf(watch), undefined)
})

t.test('after a failed write, writes are refused until a trial write succeeds', async (t) => {
  const found = await scene(t, 'size=4m', '0')
  if (found === undefined) return
  const { disk, watch } = found
  await disk.fill(0)
  t.equal(await refusalOf(watch), undefined, 'the limit is off, and no write has failed')
  watch.noteFailure(new Failure('unavailable', 'of something else', { cause: new Error('x') }))
  watch.noteFailure(insufficientStorage())
  await sleep(STATE_KEPT_MS)
  t.equal(await refusalOf(watch), undefined, 'no write has failed yet')
  watch.noteFailure(insufficientStorage(new Error('a failed write')))
  for (const round of ['first', 'second']) {
    await sleep(STATE_KEPT_MS)
    t.match(await refusalOf(watch), /^data: ENOSPC/, round)
  }
  await disk.free()
  await sleep(STATE_KEPT_MS)
  t.equal(await refusalOf(watch), undefined)
  t.strictSame(await readdir(disk.path), [], 'no trial file is left')
})
