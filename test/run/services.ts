/** What the test processes of one run share: fast temporary folders, MariaDB, migrated databases. */

import { access, chmod, constants, mkdir, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MARIADB_VARIABLE, startMariadb } from '../helpers/mariadb.js'
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

/** Starts the services of a run in a new folder. */
export async function startServices(): Promise<Services> {
  const notes: string[] = []
  const parent = (await isRoomy(MEMORY_FOLDER)) ? MEMORY_FOLDER : tmpdir()
  if (parent !== MEMORY_FOLDER) {
    notes.push(
      `${MEMORY_FOLDER} has no ${MEMORY_BYTES_MIN / 1024 ** 3} GiB free: tests run on disk`,
    )
  }
  const folder = await mkdtemp(join(parent, 'gatehouse-tests-'))
  // MariaDB and sshd have users of their own, which must find their way.
  await chmod(folder, 0o755)
  const temporary = join(folder, 'tmp')
  await mkdir(temporary)
  const disk = tmpdir()
  process.env['TMPDIR'] = temporary
  const mariadb = await startMariadb().catch((error: unknown) => {
    notes.push(`MariaDB is not available: ${error instanceof Error ? error.message : error}`)
    return undefined
  })
  const templates = join(folder, 'templates')
  await mkdir(templates)
  await makeTemplates(templates, mariadb)
  return {
    folder,
    notes,
    environment: {
      TMPDIR: temporary,
      [DISK_VARIABLE]: disk,
      [TEMPLATES_VARIABLE]: templates,
      ...(mariadb === undefined ? {} : { [MARIADB_VARIABLE]: String(mariadb.port) }),
    },
    async stop() {
      await mariadb?.remove()
      await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
    },
  }
}

async function isRoomy(folder: string): Promise<boolean> {
  try {
    await access(folder, constants.W_OK)
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize >= MEMORY_BYTES_MIN
  } catch {
    return false
  }
}
