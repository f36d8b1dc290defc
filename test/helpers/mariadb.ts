/** A real MariaDB server for tests, which they can stop, kill and restart. */

import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createConnection } from 'mysql2/promise'
import { freePort } from './free-port.js'

const USER = 'gatehouse'
export const MARIADB_PASSWORD = 'pass/word:@é'

const STARTS_WITHIN_MS = 60_000
const STOPS_WITHIN_MS = 30_000

/** Variable with the port of the server that all processes of a run share. */
export const MARIADB_VARIABLE = 'TEST_MARIADB_PORT'

/** A server that this process does not control. */
export interface MariadbClient {
  readonly port: number
  /** Creates an empty schema and returns its URL. */
  createSchema(): Promise<URL>
  /** Runs statements as an administrator and returns the rows of the last one. */
  run(...statements: readonly string[]): Promise<readonly Record<string, unknown>[]>
}

export interface Mariadb extends MariadbClient {
  /** Stops the server with SIGTERM or another signal, and waits for its end. */
  stop(signal?: NodeJS.Signals): Promise<void>
  /** Starts it again on the same port with the same data. */
  start(): Promise<void>
  /** Stops it and removes its folder. */
  remove(): Promise<void>
}

/** Returns a client of the server on a port, with the account that `startMariadb` creates. */
export function connectMariadb(port: number): MariadbClient {
  async function run(...statements: readonly string[]) {
    const connection = await connect(port)
    try {
      let rows: unknown = []
      for (const statement of statements) [rows] = await connection.query(statement)
      return Array.isArray(rows) ? (rows as Record<string, unknown>[]) : []
    } finally {
      await connection.end()
    }
  }
  return {
    port,
    run,
    async createSchema() {
      const name = `gatehouse_${randomBytes(6).toString('hex')}`
      await run(`create database ${name}`)
      return new URL(
        `mysql://${USER}:${encodeURIComponent(MARIADB_PASSWORD)}@127.0.0.1:${port}/${name}`,
      )
    },
  }
}

/** Creates and starts a server. Throws if Debian's mariadb-server is not installed. */
export async function startMariadb(): Promise<Mariadb> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-mariadb-'))
  let server: ChildProcess | undefined
  // The teardown may not run: the installation can fail, or the process can exit before.
  process.once('exit', () => {
    server?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const { data, temporary, setup } = await makeData(folder)
  const port = await freePort()

  async function start(): Promise<void> {
    server = spawn(
      'mariadbd',
      [
        '--no-defaults',
        ...commonFlags(data, temporary),
        `--port=${port}`,
        `--socket=${join(data, 'socket')}`,
        `--init-file=${setup}`,
        '--bind-address=127.0.0.1',
        '--skip-name-resolve',
        // Unsuitable settings, on which Gatehouse must not depend.
        '--character-set-server=latin1',
        '--collation-server=latin1_swedish_ci',
        '--sql-mode=NO_BACKSLASH_ESCAPES',
      ],
      { stdio: 'ignore' },
    )
    await untilItAnswers(port, server)
  }

  async function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill(signal)
    const stopped = await Promise.race([
      ended.then(() => true),
      sleep(STOPS_WITHIN_MS, false, { ref: false }),
    ])
    if (stopped === true) return
    server.kill('SIGKILL')
    await ended
  }

  await start()
  return {
    ...connectMariadb(port),
    stop,
    start,
    async remove() {
      await stop('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export interface MariadbData {
  readonly data: string
  /** Folder of temporary tables, which only one server may use. */
  readonly temporary: string
  /** File of statements that create the account of `connectMariadb`. */
  readonly setup: string
}

/** Creates the data of a new server in a folder. */
export async function makeData(folder: string): Promise<MariadbData> {
  const data = join(folder, 'data')
  const temporary = await makeTemporary(folder)
  await run('cp', ['-a', await freshlyInstalled(), data])
  const setup = join(folder, 'setup.sql')
  await writeFile(
    setup,
    `create user if not exists '${USER}'@'%' identified by '${MARIADB_PASSWORD}';
grant all on *.* to '${USER}'@'%' with grant option;\n`,
  )
  return { data, temporary, setup }
}

/** Creates a data folder that another node of a cluster fills. */
export async function makeEmptyData(folder: string): Promise<Omit<MariadbData, 'setup'>> {
  const data = join(folder, 'data')
  const temporary = await makeTemporary(folder)
  await mkdir(data)
  if (process.getuid?.() === 0) await run('chown', ['mysql:mysql', data])
  return { data, temporary }
}

async function makeTemporary(folder: string): Promise<string> {
  const temporary = join(folder, 'temporary')
  await mkdir(temporary)
  await chmod(temporary, 0o777)
  // The server drops root privileges, and must still be able to open the data folder.
  await chmod(folder, 0o755)
  return temporary
}

/**
 * Returns a newly installed data folder, which is created once because that takes longer than most
 * tests. If several processes create it concurrently, the first one's is used.
 */
async function freshlyInstalled(): Promise<string> {
  const [version] = /\d[^ ]+/.exec(await run('mariadbd', ['--version'])) ?? []
  const name = `mariadb-${version}-of-${process.getuid?.()}`
  const folder = fileURLToPath(new URL(`../../../.programs/${name}`, import.meta.url))
  if (existsSync(folder)) return folder
  await mkdir(dirname(folder), { recursive: true })
  const scratch = await mkdtemp(join(tmpdir(), 'gatehouse-mariadb-new-'))
  try {
    await chmod(scratch, 0o755)
    const temporary = join(scratch, 'temporary')
    await mkdir(temporary)
    await chmod(temporary, 0o777)
    await run('mariadb-install-db', [
      '--no-defaults',
      ...commonFlags(join(scratch, 'data'), temporary),
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      '--skip-name-resolve',
    ])
    const own = `${folder}-${process.pid}`
    await run('cp', ['-a', join(scratch, 'data'), own])
    await rename(own, folder).catch(() => rm(own, { recursive: true }))
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
  return folder
}

/** Returns the options of every server of the tests. */
export function commonFlags(data: string, temporary: string): readonly string[] {
  const user = process.getuid?.() === 0 ? ['--user=mysql'] : []
  return [
    ...user,
    `--datadir=${data}`,
    // A starting server removes the temporary tables of all servers with the same tmpdir.
    `--tmpdir=${temporary}`,
    '--innodb-buffer-pool-size=64M',
    // Creating and dropping a schema of 72 tables is faster without 72 files.
    '--innodb-file-per-table=OFF',
    '--max-connections=2000',
    '--innodb-log-file-size=8M',
    '--innodb-flush-log-at-trx-commit=2',
    '--innodb-flush-method=nosync',
    // Each schema lives for seconds; kept statistics of its tables double the time to empty them.
    '--innodb-stats-persistent=OFF',
    '--skip-log-bin',
  ]
}

async function connect(port: number) {
  return await createConnection({
    host: '127.0.0.1',
    port,
    user: USER,
    password: MARIADB_PASSWORD,
    connectTimeout: 2_000,
    multipleStatements: true,
    supportBigNumbers: true,
  })
}

async function untilItAnswers(port: number, server: ChildProcess): Promise<void> {
  const deadlineMs = Date.now() + STARTS_WITHIN_MS
  for (;;) {
    if (server.exitCode !== null) throw new Error(`mariadbd ended with ${server.exitCode}`)
    try {
      const connection = await connect(port)
      await connection.end()
      return
    } catch (error) {
      if (Date.now() > deadlineMs) throw error
    }
    await sleep(50)
  }
}

async function run(command: string, flags: readonly string[]): Promise<string> {
  const child = spawn(command, flags, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk
    })
  }
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ended with ${code}: ${output}`)
  return output
}
