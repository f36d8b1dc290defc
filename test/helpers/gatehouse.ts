/** The complete server as separate processes, which tests start, stop, kill and restart. */

import { type ChildProcess, type SpawnOptionsWithoutStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { normaliseScopes } from '../../gateway/auth/scopes.js'
import { hashToken, newToken } from '../../gateway/auth/token.js'
import { createToken } from '../../sql/accounts/tokens.js'
import { createUser } from '../../sql/accounts/users.js'
import { closeDatabase, openDatabase } from '../../sql/database/database.js'
import { freePort } from './free-port.js'
import { passwordHashOf, passwordOf } from './passwords.js'
import { PLAIN_NODE } from './plain-node.js'
import { until } from './server-processes.js'
import { copySqliteTemplate } from './templates.js'
import { diskFolder } from './temporary.js'

/** Compiled command line of this build. */
export const COMMAND_LINE = fileURLToPath(new URL('../../program/gatehouse.js', import.meta.url))
const STARTS_WITHIN_MS = 120_000
const STOPS_WITHIN_MS = 20_000
const LOGGED_WITHIN_MS = 60_000

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface GatehouseOptions {
  /** Database; by default SQLite in the data folder. */
  readonly location?: DatabaseLocation
  /** Puts the data folder on a real disk; those of other servers may be in memory. */
  readonly isOnDisk?: boolean
  /** Folder in which the data folder is created; by default one for temporary files. */
  readonly parent?: string
  /** Settings by variable, besides data folder, address, database and workers. */
  readonly environment?: Readonly<Record<string, string>>
  /** Host in the base URL; by default 127.0.0.1, which browsers do not treat as a domain. */
  readonly host?: string
  readonly workers?: number
  /** Account of the server's processes and files; by default the one that runs the tests. */
  readonly account?: { readonly uid: number; readonly gid: number }
  /** Path of the compiled command line; by default that of this build. */
  readonly program?: string
}

export interface CommandResult {
  readonly exitCode: number | null
  readonly output: string
  readonly errorText: string
}

export interface Gatehouse {
  readonly url: string
  readonly port: number
  readonly dataDir: string
  /** Process id of the supervisor. */
  readonly pid: number
  /** Returns the log of all starts so far; the last lines may arrive later than a reply. */
  readonly log: () => string
  /** Waits until the log matches, for at most a minute; returns the log. */
  logMatching(pattern: RegExp): Promise<string>
  /** Runs `gatehouse …` with the server's settings. */
  run(...args: readonly string[]): Promise<CommandResult>
  /** Creates a user with a token of these scopes; `passwordOf` has the password. */
  addUser(name: string, options?: { isAdmin?: boolean; scopes?: string }): Promise<Person>
  /** Starts the server, with another program if its path is given. */
  start(program?: string): Promise<void>
  /** Makes the supervisor replace its workers; resolves when the new ones serve. */
  reload(): Promise<void>
  /** Ends the supervisor with a signal; resolves with its exit code when all workers have ended. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

export interface Person {
  readonly name: string
  readonly password: string
  readonly token: string
  /** Sends an API request with the token; a body is sent as JSON. */
  api(method: string, path: string, body?: unknown): Promise<ApiAnswer>
  /** Returns the URL of a repository, with the token. */
  remote(path: string): string
}

export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  /** Parsed body; undefined for an empty one. */
  readonly body: unknown
}

/** Starts a server; it is stopped and its data removed at the end of the test. */
export async function startGatehouse(
  t: Teardown,
  options: GatehouseOptions = {},
): Promise<Gatehouse> {
  const { parent = options.isOnDisk === true ? diskFolder() : tmpdir() } = options
  const dataDir = await mkdtemp(join(parent, 'gatehouse-data-'))
  const { account } = options
  const file = join(dataDir, 'gatehouse.db')
  const { location = { kind: 'sqlite', file } } = options
  if (options.location === undefined) await copySqliteTemplate(file)
  if (account !== undefined) {
    const owned = options.location === undefined ? [dataDir, file] : [dataDir]
    for (const path of owned) await chown(path, account.uid, account.gid)
  }
  const port = await freePort()
  const environment = environmentOf(options, { dataDir, port })
  const url = environment['GATEHOUSE_HTTP_BASE_URL'] ?? `http://127.0.0.1:${port}`
  let server: ChildProcess | undefined
  let log = ''
  let { program = COMMAND_LINE } = options
  process.once('exit', () => server?.kill('SIGKILL'))

  async function start(next = program): Promise<void> {
    program = next
    const child = spawn('env', [...PLAIN_NODE, program, 'serve'], {
      env: environment,
      cwd: dataDir,
      ...account,
    })
    child.stderr?.on('data', (chunk: Buffer) => {
      log += chunk.toString()
    })
    child.stdout?.resume()
    server = child
    await untilReady(child, () => log)
  }

  async function stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) {
      return server?.exitCode ?? null
    }
    const ended = once(server, 'exit')
    server.kill(signal)
    const timer = setTimeout(() => server?.kill('SIGKILL'), STOPS_WITHIN_MS)
    await ended
    clearTimeout(timer)
    await untilPortIsFree(port)
    return server.exitCode
  }

  async function reload(): Promise<void> {
    const count = () => log.split('"msg":"new workers serve"').length
    const before = count()
    server?.kill('SIGHUP')
    const deadlineMs = Date.now() + STARTS_WITHIN_MS
    while (count() === before) {
      if (Date.now() > deadlineMs) throw new Error(`no new workers: ${log.slice(-2_000)}`)
      await sleep(30)
    }
  }

  t.teardown(async () => {
    await stop('SIGTERM')
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })
  await start()
  const run = (...args: readonly string[]) =>
    runCommand([program, ...args], { env: environment, cwd: dataDir, ...account })
  return {
    url,
    port,
    dataDir,
    run,
    start,
    stop,
    reload,
    get pid() {
      return server?.pid ?? -1
    },
    log: () => log,
    logMatching: (pattern) => until(async () => log, pattern.test.bind(pattern), LOGGED_WITHIN_MS),
    addUser: (name, wanted) => addUser({ port, location }, name, wanted),
  }
}

function environmentOf(
  { location, environment, host, workers = 2 }: GatehouseOptions,
  { dataDir, port }: { readonly dataDir: string; readonly port: number },
): Record<string, string> {
  const database = location?.kind === 'mysql' ? location.url.href : undefined
  const file = location?.kind === 'sqlite' ? `sqlite:${location.file}` : undefined
  return {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${port}`,
    GATEHOUSE_HTTP_WORKERS: String(workers),
    GATEHOUSE_HTTP_DRAIN: '0s',
    GATEHOUSE_HTTP_SHUTDOWN_GRACE: '5s',
    // Maintenance would disturb tests that check processes and files; journeys/upkeep enables it.
    GATEHOUSE_MAINTENANCE_ENABLED: 'false',
    // Tests must not depend on the free space of this machine.
    GATEHOUSE_CACHE_DISK_FREE: '16MiB',
    GATEHOUSE_DATA_DISK_FREE_MIN: '0',
    ...(database === undefined ? {} : { GATEHOUSE_DATABASE_URL: database }),
    ...(file === undefined ? {} : { GATEHOUSE_DATABASE_URL: file }),
    ...(host === undefined ? {} : { GATEHOUSE_HTTP_BASE_URL: `http://${host}:${port}` }),
    ...environment,
  }
}

async function addUser(
  { port, location }: { readonly port: number; readonly location: DatabaseLocation },
  name: string,
  { isAdmin = false, scopes = 'all' }: { isAdmin?: boolean; scopes?: string } = {},
): Promise<Person> {
  const token = newToken()
  const db = await openDatabase({ location, connectionsMax: 1 })
  try {
    const { id } = await createUser(db, {
      name,
      isAdmin,
      email: `${name.toLowerCase()}@noreply.127.0.0.1`,
      passwordHash: await passwordHashOf(name),
    })
    await createToken(db, {
      userId: id,
      name: 'test',
      hash: hashToken(token),
      lastEight: token.slice(-8),
      scopes: normaliseScopes(scopes.split(',')),
    })
  } finally {
    await closeDatabase(db)
  }
  return {
    name,
    password: passwordOf(name),
    token,
    api: (method, path, body) =>
      askApi(port, { method, path, body, authorization: `token ${token}` }),
    remote: (path) => `http://${name}:${token}@127.0.0.1:${port}/${path}`,
  }
}

export interface ApiRequest {
  readonly method?: string
  /** Path below `/api/v1`. */
  readonly path: string
  readonly body?: unknown
  readonly authorization?: string
}

/** Sends a request to the API of the server on a port. */
export async function askApi(port: number, request: ApiRequest): Promise<ApiAnswer> {
  const { method = 'GET', path, body, authorization } = request
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const parsed = text === '' ? undefined : (JSON.parse(text) as unknown)
  return { status: response.status, headers: response.headers, body: parsed }
}

async function runCommand(
  args: readonly string[],
  options: SpawnOptionsWithoutStdio,
): Promise<CommandResult> {
  const child = spawn('env', [...PLAIN_NODE, ...args], options)
  let output = ''
  let errorText = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    errorText += chunk.toString()
  })
  await once(child, 'close')
  return { exitCode: child.exitCode, output, errorText }
}

/** Resolves when all workers serve. Throws if the server ends before that. */
async function untilReady(child: ChildProcess, log: () => string): Promise<void> {
  const deadlineMs = Date.now() + STARTS_WITHIN_MS
  const linesBefore = log().split('"msg":"serving"').length
  while (log().split('"msg":"serving"').length === linesBefore) {
    if (child.exitCode !== null) throw new Error(`the server ended: ${log().slice(-2_000)}`)
    if (Date.now() > deadlineMs) throw new Error(`the server is not ready: ${log().slice(-2_000)}`)
    await sleep(30)
  }
}

async function untilPortIsFree(port: number): Promise<void> {
  const deadlineMs = Date.now() + STOPS_WITHIN_MS
  while (Date.now() < deadlineMs) {
    const response = await fetch(`http://127.0.0.1:${port}/livez`).catch(() => undefined)
    if (response === undefined) return
    await response.arrayBuffer()
    await sleep(50)
  }
}
