/** Gatehouse under measurement: the built server with an account and repositories. */

import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runToEnd } from '../../cgi/process/run.js'
import type { TlsFiles } from '../../conf/settings.js'
import type { BenchmarkContext } from './benchmark.js'
import { createCpuGroup, freePort, type MeasuredServer, startServer, USER_PATH } from './server.js'
import { runProgram } from './sshd.js'
import { runGitAsUser } from './user-git.js'

/** Number of workers, equal to the number of processes of the peers. */
export const WORKERS = 2

const COMMAND_LINE = fileURLToPath(new URL('../../program/gatehouse.js', import.meta.url))
const COMMAND_MS = 60_000
export const OWNER = 'ada'

export interface Gatehouse extends MeasuredServer {
  readonly dataDir: string
  readonly databaseFile: string
  readonly token: string
  /** Returns the address of a repository of the owner, with the token for pushes. */
  pushAddress(name: string): string
  /** Creates a public repository of the owner, without commits. */
  makeRepository(name: string): Promise<{ readonly path: string }>
  /** Creates a public repository of the owner and pushes `HEAD` of another to its branch main. */
  addRepository(name: string, source: string): Promise<{ readonly path: string }>
}

export interface GatehouseOptions {
  /** Account of the server; by default the one of the benchmark. */
  readonly account?: string
  /** Settings. */
  readonly environment?: Readonly<Record<string, string>>
}

/** Starts a server with its data in the benchmark's folder. */
export async function startGatehouse(
  { folder, signal }: BenchmarkContext,
  { account, environment: settings }: GatehouseOptions = {},
): Promise<Gatehouse> {
  const port = await freePort()
  const dataDir = join(folder, 'data')
  const environment = {
    PATH: USER_PATH,
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${port}`,
    GATEHOUSE_HTTP_WORKERS: String(WORKERS),
    // Maintenance would start during measurements, and the peers read the same repositories.
    GATEHOUSE_MAINTENANCE_ENABLED: 'false',
    ...settings,
  }
  const cpu = await createCpuGroup('gatehouse')
  await mkdir(dataDir)
  if (account !== undefined) await runProgram('chown', `${account}:`, dataDir)
  const serve = [process.execPath, COMMAND_LINE, 'serve'] as const
  const program = account === undefined ? serve : ([...runAs(account), ...serve] as const)
  const logFile = join(folder, 'gatehouse.log')
  const server = await startServer(cpu, { program, environment, logFile, signal }, { port })
  const url = `http://127.0.0.1:${port}`
  const run = (...words: readonly string[]) => runCommand(words, environment)
  await run('user', 'create', OWNER, '--password', 'a long password', '--email', 'ada@example.com')
  const made = await run('token', 'create', OWNER, '--name', 'bench', '--scopes', 'all')
  const token = made.trim()
  const pushAddress = (name: string) =>
    `http://${OWNER}:${token}@127.0.0.1:${port}/${OWNER}/${name}.git`
  const makeRepository = async (name: string) => {
    const before = new Set(await listFolders(dataDir))
    await createRepository(url, { name, token })
    const path = (await listFolders(dataDir)).find((candidate) => !before.has(candidate))
    if (path === undefined) throw new Error(`the repository ${name} has no folder`)
    return { path }
  }
  return {
    url,
    token,
    cpu,
    dataDir,
    databaseFile: join(dataDir, 'gatehouse.db'),
    pushAddress,
    makeRepository,
    async addRepository(name, source) {
      const made = await makeRepository(name)
      const words = ['push', '--quiet', pushAddress(name), 'HEAD:refs/heads/main']
      await runGitAsUser(words, { cwd: source, signal })
      return made
    },
    async stop() {
      await server.stop()
      await cpu.remove()
    },
  }
}

/** Starts a further gateway of the same data, which serves HTTPS itself. */
export async function startSecure(
  { folder, signal }: BenchmarkContext,
  { dataDir }: Gatehouse,
  tls: TlsFiles,
): Promise<MeasuredServer> {
  const port = await freePort()
  const environment = {
    PATH: USER_PATH,
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${port}`,
    GATEHOUSE_HTTP_WORKERS: String(WORKERS),
    GATEHOUSE_HTTP_TLS_CERTIFICATE: tls.certificate,
    GATEHOUSE_HTTP_TLS_KEY: tls.key,
    GATEHOUSE_MAINTENANCE_ENABLED: 'false',
  }
  const cpu = await createCpuGroup('secure')
  const program = [process.execPath, COMMAND_LINE, 'serve'] as const
  const logFile = join(folder, 'secure.log')
  const server = await startServer(cpu, { program, environment, logFile, signal }, { port })
  return {
    url: `https://127.0.0.1:${port}`,
    cpu,
    async stop() {
      await server.stop()
      await cpu.remove()
    },
  }
}

function runAs(account: string): readonly [string, ...string[]] {
  return ['setpriv', '--reuid', account, '--regid', account, '--clear-groups']
}

async function runCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const { exitCode, output, errorText } = await runToEnd(
    process.execPath,
    [COMMAND_LINE, ...words],
    { environment, timeoutMs: COMMAND_MS, outputBytesMax: 65_536 },
  )
  if (exitCode !== 0) throw new Error(`gatehouse ${words.slice(0, 2).join(' ')}: ${errorText}`)
  return output.toString()
}

async function createRepository(
  url: string,
  { name, token }: { readonly name: string; readonly token: string },
): Promise<void> {
  const response = await fetch(`${url}/api/v1/user/repos`, {
    method: 'POST',
    headers: { Authorization: `token ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, description: 'A repository to measure with.' }),
  })
  if (response.status !== 201)
    throw new Error(`the repository ${name} was not created: ${await response.text()}`)
  await response.arrayBuffer()
}

async function listFolders(dataDir: string): Promise<readonly string[]> {
  const root = join(dataDir, 'repositories')
  const entries = await readdir(root, { recursive: true }).catch(() => [])
  return entries
    .filter((entry) => /^..\/[0-9a-f]+\.git$/.test(entry))
    .map((entry) => join(root, entry))
}
