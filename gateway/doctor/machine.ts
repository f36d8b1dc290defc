/** Checks of `gatehouse doctor` on the limits of this machine: disk, open files, git's memory. */

import { access, constants, readFile, statfs } from 'node:fs/promises'
import { findGit } from '../../cgi/process/git.js'
import { createFolder } from '../../conf/lib/folders.js'
import type { Settings } from '../../conf/settings.js'

const FREE_BYTES_MIN = 1_073_741_824
const OPEN_FILES_MIN = 4_096

/** Checks that git's memory can be limited; otherwise one request can exhaust the machine's. */
export async function checkGitLimits({
  git: { memoryBytesMax, processesMax },
}: Settings): Promise<string> {
  const { prlimit } = await findGit()
  if (prlimit === undefined) {
    throw new Error(
      'prlimit cannot be run: install util-linux, or allow setrlimit in the container',
    )
  }
  const mib = Math.floor(memoryBytesMax / 1_048_576)
  return `${mib} MiB of memory for each of ${processesMax} git processes, set by ${prlimit}`
}

/** Checks that the data folder is writable, and has space. */
export async function checkDisk({ data }: Settings): Promise<string> {
  await createFolder(data.dir, { mode: 0o750, setting: 'data.dir' })
  await access(data.dir, constants.R_OK | constants.W_OK | constants.X_OK).catch(() => {
    throw new Error(`${data.dir} is not writable: change its owner to the user that runs gatehouse`)
  })
  const { bavail, bsize } = await statfs(data.dir)
  const freeBytes = bavail * bsize
  const freeGib = gib(freeBytes)
  if (freeBytes < data.freeBytesMin) {
    throw new Error(
      `${data.dir} has only ${freeGib} GiB free, so writes are refused: free ${gib(data.freeBytesMin)} (data.disk_free_min)`,
    )
  }
  if (freeBytes < FREE_BYTES_MIN)
    throw new Error(`${data.dir} has only ${freeGib} GiB free: free at least 1`)
  return `${data.dir} is writable, ${freeGib} GiB free`
}

function gib(bytes: number): string {
  return (bytes / 1_073_741_824).toFixed(1)
}

/** Checks the limit of open files; each clone and push needs several. */
export async function checkLimits(): Promise<string> {
  const limits = await readFile('/proc/self/limits', 'utf8')
  const soft = /^Max open files +(\d+|unlimited)/m.exec(limits)?.[1]
  const openFiles = soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
  if (openFiles < OPEN_FILES_MIN) {
    throw new Error(
      `the limit of ${openFiles} open files is low: raise it to ${OPEN_FILES_MIN} (LimitNOFILE=)`,
    )
  }
  return `${openFiles} open files`
}
