/** A server with a real sshd in front, and users who connect with the real ssh. */

import { join } from 'node:path'
import { runToEnd } from '../../cgi/process/run.js'
import { parseSshKey } from '../../conf/ssh-key.js'
import { closeDatabase, type Database, openDatabase } from '../../sql/database/database.js'
import { type Gatehouse, type GatehouseOptions, type Person, startGatehouse } from './gatehouse.js'
import { until } from './server-processes.js'
import { type Account, sshAccount } from './ssh-account.js'
import { makeKeyPair } from './ssh-keys.js'
import { type Sshd, type SshdOptions, startSshd } from './sshd.js'
import { temporaryFolder } from './temporary.js'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

/** SSH client with a private key. */
export interface Caller {
  /** Path of the private key. */
  readonly keyFile: string
  /** Line of the public key. */
  readonly publicKey: string
  readonly fingerprint: string
  /** Environment in which git uses this key. */
  readonly environment: Readonly<Record<string, string>>
  /** Runs `ssh` with a command, or without one; returns the result. */
  call(command?: string, options?: CallOptions): Promise<CallResult>
}

export interface CallOptions {
  /** Further options of ssh. */
  readonly options?: readonly string[]
  /** Environment of ssh. */
  readonly environment?: Readonly<Record<string, string>>
  readonly input?: string | Uint8Array
}

export interface CallResult {
  readonly exitCode: number | undefined
  readonly output: string
  readonly errorText: string
}

export type LogLine = Readonly<Record<string, unknown>>

export interface SshGatehouse {
  readonly account: Account
  readonly gatehouse: Gatehouse
  readonly sshd: Sshd
  /** Returns the SSH address of `owner/repo`. */
  remote(path: string): string
  /** Creates a client with a new key, which the server does not know. */
  newCaller(name: string, ...kind: readonly string[]): Promise<Caller>
  /** Creates a user with a token and a key. */
  addPerson(name: string): Promise<Person & Caller>
  /** Adds the client's key to a user; returns its id. */
  addKey(person: Person, caller: Caller): Promise<number>
  /** Runs a query in the server's database. */
  ask<T>(query: (db: Database) => Promise<T>): Promise<T>
  /** Waits for a log line with these fields; returns all of them. */
  logged(fields: LogLine): Promise<ReadonlyArray<LogLine>>
}

/** Starts the server and sshd for a test. */
export async function startSshGatehouse(
  t: Teardown,
  options: Omit<GatehouseOptions, 'account'> & Pick<SshdOptions, 'edit'> = {},
): Promise<SshGatehouse> {
  const account = sshAccount()
  const gatehouse = await startGatehouse(t, { ...options, account })
  const { dataDir } = gatehouse
  const { edit } = options
  const socket = join(dataDir, 'run/ssh.sock')
  const sshd = await startSshd(t, { account, socket, ...(edit === undefined ? {} : { edit }) })
  const folder = await temporaryFolder(t)

  async function ask<T>(query: (db: Database) => Promise<T>): Promise<T> {
    const { location = { kind: 'sqlite', file: join(dataDir, 'gatehouse.db') } } = options
    const db = await openDatabase({ location, connectionsMax: 1 })
    try {
      return await query(db)
    } finally {
      await closeDatabase(db)
    }
  }
  const newCaller = async (name: string, ...kind: readonly string[]) =>
    await makeCaller(sshd, folder, { name, kind: kind.length > 0 ? kind : ['-t', 'ed25519'] })

  return {
    account,
    gatehouse,
    sshd,
    ask,
    addKey,
    newCaller,
    remote: (path) => `${sshd.host}:${path}.git`,
    async addPerson(name) {
      const person = await gatehouse.addUser(name)
      const caller = await newCaller(name)
      await addKey(person, caller)
      return { ...person, ...caller }
    },
    logged: (fields) =>
      until(
        async () => linesWith(gatehouse.log(), fields),
        (lines) => lines.length > 0,
        LOGGED_WITHIN_MS,
      ),
  }
}

/** Time limit for a log line: the line of a session is written after its client has the reply. */
const LOGGED_WITHIN_MS = 60_000

function linesWith(log: string, fields: LogLine): readonly LogLine[] {
  const lines: readonly LogLine[] = log
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
  return lines.filter((line) =>
    Object.entries(fields).every(([name, value]) => line[name] === value),
  )
}

async function addKey(person: Person, { publicKey, fingerprint }: Caller): Promise<number> {
  const input = { title: fingerprint, key: publicKey }
  const { status, body } = await person.api('POST', '/user/keys', input)
  if (status !== 201) throw new Error(`the key was not added: ${status} ${JSON.stringify(body)}`)
  return (body as { id: number }).id
}

interface KeyInput {
  readonly name: string
  /** Options of ssh-keygen for the type of the key. */
  readonly kind: readonly string[]
}

async function makeCaller(sshd: Sshd, folder: string, { name, kind }: KeyInput): Promise<Caller> {
  const publicKey = await makeKeyPair(folder, name, ...kind)
  const keyFile = join(folder, name)
  return {
    keyFile,
    publicKey,
    fingerprint: parseSshKey(publicKey).fingerprint,
    environment: sshd.environmentOf(keyFile),
    call: (command, options) => callSsh(sshd, { ...options, keyFile, command }),
  }
}

/** Runs `ssh` with the key in a file. */
export async function callSsh(
  sshd: Sshd,
  call: CallOptions & { readonly keyFile: string; readonly command?: string | undefined },
): Promise<CallResult> {
  const { keyFile, command, options = [], environment, input } = call
  const [ssh = '', ...words] = sshd.clientOf(keyFile, ...options)
  const target = [sshd.host, ...(command === undefined ? [] : [command])]
  const { exitCode, output, errorText } = await runToEnd(ssh, [...words, ...target], {
    environment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', ...environment },
    ...(input === undefined ? {} : { input }),
    timeoutMs: 120_000,
    outputBytesMax: 1_048_576,
  })
  return { exitCode, output: output.toString(), errorText }
}
