/** Services that the test processes of a run share: folders, MariaDB, S3 and migrated databases. */

import { access, chmod, constants, mkdir, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PORTS_VARIABLE } from '../helpers/free-port.js'
import { MARIADB_VARIABLE, startMariadb } from '../helpers/mariadb.js'
import { S3_VARIABLE, startS3Server } from '../helpers/s3-server.js'
import { makeTemplates, TEMPLATES_VARIABLE } from '../helpers/templates.js'
import { DISK_VARIABLE } from '../helpers/temporary.js'

/** File system in memory. */
const MEMORY_FOLDER = '/dev/shm'
/** Free space that is required to use memory; a run uses about a tenth of it at most. */
const MEMORY_BYTES_MIN = 6 * 1024 ** 3

export interface Services {
  /** Folder that `stop` removes with its contents. */
  readonly folder: string
  /** Environment variables of the test processes. */
  readonly environment: Readonly<Record<string, string>>
  /** Lines about unavailable services. */
  readonly notes: readonly string[]
  stop(): Promise<void>
}

/** Minimum number of files for shared servers; with fewer, each file starts its own servers. */
const FILES_MIN = 8

/** Starts the services of a run in a new folder. */
export async function startServices(files: number): Promise<Services> {
  const notes: string[] = []
  const disk = tmpdir()
  const parent = (await hasFreeSpace(MEMORY_FOLDER)) ? MEMORY_FOLDER : disk
  if (parent === disk) {
    notes.push(
      `${MEMORY_FOLDER} has less than ${MEMORY_BYTES_MIN / 1024 ** 3} GiB free: tests run on disk`,
    )
  }
  const folder = await mkdtemp(join(parent, 'gatehouse-tests-'))
  // MariaDB and sshd run as other users, which must be able to open the folder.
  await chmod(folder, 0o755)
  const [temporary, templates] = [join(folder, 'tmp'), join(folder, 'templates')]
  const [compiled, ports] = [join(folder, 'compiled'), join(folder, 'ports')]
  for (const path of [temporary, templates, compiled, ports]) await mkdir(path)
  // Servers behind sshd run as another user, who has a folder of their own in this one.
  await chmod(compiled, 0o1777)
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
      // The processes of the run share compiled code.
      NODE_COMPILE_CACHE: compiled,
      [PORTS_VARIABLE]: ports,
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
