/** What the test processes of a run share: temporary folders, MariaDB, and migrated databases. */

import { access, chmod, constants, mkdir, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MARIADB_VARIABLE, startMariadb } from '../helpers/mariadb.js'
import { S3_VARIABLE, startS3Server } from '../helpers/s3-server.js'
import { makeTemplates, TEMPLATES_VARIABLE } from '../helpers/templates.js'
import { DISK_VARIABLE } from '../helpers/temporary.js'

/** A file system in memory; a run takes at most about a tenth of this at one time. */
const MEMORY_FOLDER = '/dev/shm'
const MEMORY_BYTES_MIN = 6 * 1024 ** 3

export interface Services {
  /** Removed by `stop`, with all that is in it. */
  readonly folder: string
  /** Variables that the test processes get. */
  readonly environment: Readonly<Record<string, string>>
  /** Lines about what the run goes without. */
  readonly notes: readonly string[]
  stop(): Promise<void>
}

/** A run of fewer files starts no servers for all: each file starts what it needs. */
const FILES_MIN = 8

/** Starts the services of a run in a new folder. */
export async function startServices(files: number): Promise<Services> {
  const notes: string[] = []
  const disk = tmpdir()
  const parent = (await hasFreeSpace(MEMORY_FOLDER)) ? MEMORY_FOLDER : disk
  if (parent === disk) {
    notes.push(
      `${MEMORY_FOLDER} has no ${MEMORY_BYTES_MIN / 1024 ** 3} GiB free: tests run on disk`,
    )
  }
  const folder = await mkdtemp(join(parent, 'gatehouse-tests-'))
  // MariaDB and sshd have users of their own, which must find their way.
  await chmod(folder, 0o755)
  const [temporary, templates] = [join(folder, 'tmp'), join(folder, 'templates')]
  for (const path of [temporary, templates]) await mkdir(path)
  process.env['TMPDIR'] = temporary
  const start = async <T>(name: string, starting: () => Promise<T>) => {
    if (files < FILES_MIN) return undefined
    return await starting().catch((error: unknown) => {
      notes.push(`${name} is not available: ${error instanceof Error ? error.message : error}`)
      return undefined
    })
  }
  const [mariadb, s3] = await Promise.all([
    start('MariaDB', startMariadb),
    start('The S3 server', startS3Server),
  ])
  await makeTemplates(templates, mariadb)
  return {
    folder,
    notes,
    environment: {
      TMPDIR: temporary,
      // Each process of the run loads what one of them has compiled.
      NODE_COMPILE_CACHE: join(folder, 'compiled'),
      [DISK_VARIABLE]: disk,
      [TEMPLATES_VARIABLE]: templates,
      ...(mariadb === undefined ? {} : { [MARIADB_VARIABLE]: String(mariadb.port) }),
      ...(s3 === undefined ? {} : { [S3_VARIABLE]: String(s3.port) }),
    },
    async stop() {
      await Promise.all([mariadb?.remove(), s3?.remove()])
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

async function hasFreeSpace(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK)
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize >= MEMORY_BYTES_MIN
  } catch {
    return false
  }
}
