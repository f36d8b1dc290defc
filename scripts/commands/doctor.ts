/** `gatehouse doctor`: checks the installation and reports faults with their remedy. */

import { createHash, randomBytes } from 'node:crypto'
import { access, constants, mkdir, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findGit } from '../../cgi/process/git.js'
import { loadSettings } from '../../conf/load.js'
import type { Settings } from '../../conf/settings.js'
import { openStorage } from '../../registry/storage/open.js'
import { closeDatabase, openDatabase } from '../../sql/database/database.js'
import { migrationStatus } from '../../sql/database/migrate.js'
import type { Command } from './command.js'
import { checkSsh, isSshSetUp } from './sshd-configuration.js'

const FREE_BYTES_MIN = 1_073_741_824
const OPEN_FILES_MIN = 4_096

/** One look; what it returns is printed, what it throws is a fault. */
interface Look {
  readonly name: string
  readonly run: (settings: Settings) => Promise<string>
}

const LOOKS: readonly Look[] = [
  { name: 'database', run: lookAtDatabase },
  { name: 'git', run: lookAtGit },
  { name: 'git limits', run: lookAtGitLimits },
  { name: 'disk', run: lookAtDisk },
  { name: 'blobs', run: lookAtBlobs },
  { name: 'limits', run: lookAtLimits },
  { name: 'sshd', run: lookAtSshd },
]

export const DOCTOR_COMMANDS: readonly Command[] = [
  {
    words: ['doctor', 'ssh'],
    usage: '[--config FILE]',
    about: "Checks what clones over SSH need, with the system's sshd_config or another; as root.",
    positionals: [],
    options: {
      config: {
        type: 'string',
        value: 'FILE',
        about: "Reads this sshd_config; the default is the system's.",
      },
    },
    async run({ values }) {
      const { config } = values
      const findings = await checkSsh(
        loadSettings(),
        typeof config === 'string' ? config : undefined,
      )
      for (const { name, isFault, text } of findings) {
        console.log(`${isFault ? 'FAULT ' : 'ok    '}  ${name}: ${text}`)
      }
      if (findings.some(({ isFault }) => isFault)) process.exitCode = 1
    },
  },
  {
    words: ['doctor'],
    usage: '',
    about: 'Checks configuration, database, git, disk, blobs, limits and sshd; exit 1 for a fault.',
    positionals: [],
    options: {},
    async run() {
      const settings = loadSettings()
      console.log('ok      configuration: read')
      let faults = 0
      for (const { name, run } of LOOKS) {
        try {
          console.log(`ok      ${name}: ${await run(settings)}`)
        } catch (error) {
          faults += 1
          console.log(`FAULT   ${name}: ${error instanceof Error ? error.message : String(error)}`)
        }
      }
      if (faults > 0) process.exitCode = 1
    },
  },
]

async function lookAtDatabase({ database }: Settings): Promise<string> {
  const db = await openDatabase(database)
  try {
    const waiting = (await migrationStatus(db)).filter((entry) => entry.appliedAtMs === undefined)
    if (waiting.length === 0) return `${database.location.kind}, migrated`
    throw new Error(`${waiting.length} migration(s) wait: run 'gatehouse db migrate'`)
  } finally {
    await closeDatabase(db)
  }
}

async function lookAtGit(): Promise<string> {
  const git = await findGit()
  return `${git.version.join('.')} at ${git.file}`
}

/** Without limits, the input of one request can make git take all memory of the machine. */
async function lookAtGitLimits({
  git: { memoryBytesMax, processesMax },
}: Settings): Promise<string> {
  const { prlimit } = await findGit()
  if (prlimit === undefined) {
    throw new Error(
      'prlimit cannot be run: install util-linux, or allow setrlimit in the container',
    )
  }
  const mib = Math.floor(memoryBytesMax / 1_048_576)
  return `${mib} MiB of memory for each of ${processesMax} processes, by ${prlimit}`
}

async function lookAtDisk({ data }: Settings): Promise<string> {
  await mkdir(data.dir, { recursive: true, mode: 0o750 })
  await access(data.dir, constants.R_OK | constants.W_OK | constants.X_OK).catch(() => {
    throw new Error(`${data.dir} cannot be written: give it to the user that runs gatehouse`)
  })
  const { bavail, bsize } = await statfs(data.dir)
  const freeBytes = bavail * bsize
  const freeGib = (freeBytes / 1_073_741_824).toFixed(1)
  if (freeBytes < FREE_BYTES_MIN) throw new Error(`${data.dir} has ${freeGib} GiB free`)
  return `${data.dir} can be written, ${freeGib} GiB free`
}

/** Keeps a small blob, reads it and removes it. */
async function lookAtBlobs(settings: Settings): Promise<string> {
  const { location } = settings.blobs
  const isFolder = location.kind === 'files'
  const place = isFolder ? location.folder : `bucket ${location.bucket} at ${location.origin}`
  try {
    const storage = await openStorage(settings)
    const content = randomBytes(64)
    const digest = createHash('sha256').update(content).digest('hex')
    const key = `${digest}-${randomBytes(8).toString('hex')}`
    const path = join(storage.incomingFolder, key)
    await writeFile(path, content, { mode: 0o600 })
    await storage.put(key, { path, bytes: content.length })
    const chunks: Buffer[] = []
    for await (const chunk of await storage.open(key, { start: 0, end: content.length })) {
      chunks.push(Buffer.from(chunk))
    }
    await storage.remove(key)
    if (!Buffer.concat(chunks).equals(content)) throw new Error('other bytes came back')
  } catch (error) {
    throw new Error(`${place} cannot be used: ${reasonOf(error)}`)
  }
  return `${place} can be written`
}

/** Returns the message of the innermost cause, which is usually the error of the system. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message
}

/** Each clone and push holds a handful of files open. */
async function lookAtLimits(): Promise<string> {
  const report = process.report?.getReport() as { userLimits?: Record<string, { soft: unknown }> }
  const soft = report.userLimits?.['open_files']?.soft
  const openFiles = soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
  if (openFiles < OPEN_FILES_MIN) {
    throw new Error(
      `${openFiles} open files are few: raise them to ${OPEN_FILES_MIN} (LimitNOFILE=)`,
    )
  }
  return `${openFiles} open files`
}

/** Whoever serves Git over HTTPS alone has no fault here. */
async function lookAtSshd(settings: Settings): Promise<string> {
  if (!(await isSshSetUp(settings))) return "not set up for Git ('gatehouse doctor ssh' says more)"
  const fault = (await checkSsh(settings)).find(({ isFault }) => isFault)
  if (fault !== undefined) throw new Error(`${fault.name}: ${fault.text}`)
  return 'set up for Git'
}
