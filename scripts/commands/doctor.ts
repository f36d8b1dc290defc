/** `gatehouse doctor`: checks the installation and reports faults with their remedy. */

import { createHash, randomBytes } from 'node:crypto'
import { access, constants, mkdir, rm, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { findGit } from '../../cgi/process/git.js'
import { reasonOf } from '../../conf/lib/reason-of.js'
import { loadSettings } from '../../conf/load.js'
import type { Settings } from '../../conf/settings.js'
import { checkAddress, refuseClockOf } from '../../gateway/doctor/address.js'
import { checkBackups } from '../../gateway/doctor/backups.js'
import { checkFileSystem } from '../../gateway/doctor/file-system.js'
import { refuseOtherSecret } from '../../gateway/doctor/site-identity.js'
import { checkCertificate } from '../../gateway/http/certificate.js'
import { probePath, SENT_BY_GATEWAY, SENT_BY_PROXY } from '../../gateway/http/sendfile.js'
import { openStorage } from '../../registry/storage/open.js'
import { findServerTime } from '../../sql/database/clock.js'
import { closeDatabase, openDatabase } from '../../sql/database/database.js'
import { migrationStatus, refuseNewerDatabase } from '../../sql/database/migrate.js'
import type { Command } from './command.js'
import { checkSsh, isSshSetUp } from './sshd-configuration.js'

const FREE_BYTES_MIN = 1_073_741_824
const OPEN_FILES_MIN = 4_096
const PROXY_TIMEOUT_MS = 10_000
const DAY_MS = 86_400_000
/** Programs that renew certificates do so weeks before the end. */
const VALID_DAYS_MIN = 7

/** Check of one part. Its result is printed; an error it throws is a fault. */
interface Check {
  readonly name: string
  readonly run: (settings: Settings) => Promise<string>
}

const CHECKS: readonly Check[] = [
  { name: 'database', run: checkDatabase },
  { name: 'address', run: checkAddress },
  { name: 'git', run: checkGit },
  { name: 'git limits', run: checkGitLimits },
  { name: 'disk', run: checkDisk },
  { name: 'blobs', run: checkBlobs },
  { name: 'backups', run: checkBackups },
  { name: 'limits', run: checkLimits },
  { name: 'certificate', run: checkTls },
  { name: 'sshd', run: checkSshd },
  { name: 'sendfile', run: checkSendfile },
  { name: 'file system', run: checkFileSystem },
]

export const DOCTOR_COMMANDS: readonly Command[] = [
  {
    words: ['doctor', 'ssh'],
    usage: '[--config FILE]',
    about:
      "Checks the setup for clones over SSH, with the system's sshd_config or another; as root.",
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
    about:
      'Checks settings, database, address, git, disks, backups, TLS, sshd; exit 1 for a fault.',
    positionals: [],
    options: {},
    async run() {
      const settings = loadSettings()
      console.log('ok      configuration: read')
      let faults = 0
      for (const { name, run } of CHECKS) {
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

async function checkDatabase({ database, data }: Settings): Promise<string> {
  const db = await openDatabase(database)
  try {
    await refuseNewerDatabase(db)
    const waiting = (await migrationStatus(db)).filter((entry) => entry.appliedAtMs === undefined)
    if (waiting.length > 0) {
      throw new Error(`${waiting.length} migration(s) not applied: run 'gatehouse db migrate'`)
    }
    await refuseOtherSecret(db, data.dir)
    const serverTimeMs = await findServerTime(db)
    if (serverTimeMs !== undefined) refuseClockOf('the database server', serverTimeMs)
    return `${database.location.kind}, migrated`
  } finally {
    await closeDatabase(db)
  }
}

async function checkGit(): Promise<string> {
  const git = await findGit()
  return `${git.version.join('.')} at ${git.file}`
}

/** Checks that git's memory can be limited; otherwise one request can exhaust the machine's. */
async function checkGitLimits({
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

async function checkDisk({ data }: Settings): Promise<string> {
  await mkdir(data.dir, { recursive: true, mode: 0o750 })
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

/** Writes a small blob, reads it and removes it. */
async function checkBlobs(settings: Settings): Promise<string> {
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
    if (!Buffer.concat(chunks).equals(content))
      throw new Error('the content read differs from the content written')
  } catch (error) {
    throw new Error(`${place} cannot be used: ${reasonOf(error)}`)
  }
  return `${place} is writable`
}

/** Checks the limit of open files; each clone and push needs several. */
async function checkLimits(): Promise<string> {
  const report = process.report?.getReport() as { userLimits?: Record<string, { soft: unknown }> }
  const soft = report.userLimits?.['open_files']?.soft
  const openFiles = soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft)
  if (openFiles < OPEN_FILES_MIN) {
    throw new Error(
      `the limit of ${openFiles} open files is low: raise it to ${OPEN_FILES_MIN} (LimitNOFILE=)`,
    )
  }
  return `${openFiles} open files`
}

/** Checks dates and names of the certificate with which the gateway serves HTTPS. */
async function checkTls({ http: { tls, baseUrl } }: Settings): Promise<string> {
  if (tls === undefined) return 'off (http.tls_certificate is not set)'
  const { validFrom, validTo, isFor } = checkCertificate(tls)
  const dates = `valid from ${dayOf(validFrom)} to ${dayOf(validTo)}`
  const days = (validTo.getTime() - Date.now()) / DAY_MS
  if (validFrom.getTime() > Date.now() || days < VALID_DAYS_MIN) {
    throw new Error(
      `${tls.certificate} is ${dates}: renew it ${VALID_DAYS_MIN} days before its end, then run 'systemctl reload gatehouse'`,
    )
  }
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '')
  if (!isFor(host)) {
    throw new Error(`${tls.certificate} does not name ${host}, the host of http.base_url`)
  }
  return `for ${host}, ${dates}`
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}

/** Requests a file through the proxy, to see whether the proxy sends it. */
async function checkSendfile({ data, http }: Settings): Promise<string> {
  if (http.sendfile === undefined) return 'off (http.sendfile is not set)'
  const path = probePath(data.dir)
  const url = `${http.baseUrl}/sendfilez`
  await mkdir(dirname(path), { recursive: true, mode: 0o750 })
  await writeFile(path, SENT_BY_PROXY, { mode: 0o640 })
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(PROXY_TIMEOUT_MS) }).catch(
      (error: unknown) => {
        throw new Error(`${url} cannot be requested: ${reasonOf(error)}`)
      },
    )
    const text = await response.text()
    if (text === SENT_BY_PROXY) return `nginx sends files of ${data.dir}`
    const advice = `the alias of its location ${http.sendfile.prefix} must be ${data.dir}/, and nginx must be able to read ${path}`
    if (response.headers.has('x-accel-redirect')) {
      throw new Error(`the proxy of ${http.baseUrl} does not act on X-Accel-Redirect: use nginx`)
    }
    if (text !== SENT_BY_GATEWAY) throw new Error(`${url} answered ${response.status}: ${advice}`)
    throw new Error(
      `the gateway sent ${url} itself: reload it, and see that the proxy is in http.trusted_proxies and sends X-Forwarded-For`,
    )
  } finally {
    await rm(path, { force: true })
  }
}

/** Checks sshd if it is set up for Git; a server with HTTPS only has no fault. */
async function checkSshd(settings: Settings): Promise<string> {
  if (!(await isSshSetUp(settings))) return "not set up for Git (see 'gatehouse doctor ssh')"
  const fault = (await checkSsh(settings)).find(({ isFault }) => isFault)
  if (fault !== undefined) throw new Error(`${fault.name}: ${fault.text}`)
  return 'set up for Git'
}
