/** A Galera cluster of three MariaDB nodes, and HAProxy as docs/database.md configures it. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { freePort } from './free-port.js'
import {
  commonFlags,
  connectMariadb,
  type MariadbClient,
  type MariadbData,
  makeData,
  makeEmptyData,
} from './mariadb.js'
import { until } from './server-processes.js'
import { temporaryFolder } from './temporary.js'

const DOCUMENT = fileURLToPath(new URL('../../../docs/database.md', import.meta.url))
const PROVIDER = '/usr/lib/galera/libgalera_smm.so'
const NODES = 3
const JOINS_WITHIN_MS = 120_000

export interface Galera {
  /** Client of the node that the proxy has chosen. */
  readonly proxy: MariadbClient
  /** Clients of the nodes. */
  readonly nodes: readonly MariadbClient[]
  /** Ends a node with SIGKILL. */
  kill(node: number): Promise<void>
  /** Starts a node, and waits until it is one of three again. */
  start(node: number): Promise<void>
}

/** Starts the cluster and the proxy; both end with the test. */
export async function startGalera(t: Test): Promise<Galera> {
  const folder = await temporaryFolder(t)
  await chmod(folder, 0o755)
  const members = await Promise.all(
    Array.from({ length: NODES }, (_, at) => prepareMember(join(folder, `node${at}`), at)),
  )
  const clients = members.map(({ port }) => connectMariadb(port))
  const addresses = members.map(({ groupPort }) => `127.0.0.1:${groupPort}`).join(',')
  const processes: (ChildProcess | undefined)[] = []

  async function start(node: number, count: number, ...flags: readonly string[]): Promise<void> {
    const [member, client] = [members[node], clients[node]]
    if (member === undefined || client === undefined) throw new Error(`there is no node ${node}`)
    const options = [...flagsOf(member), `--wsrep-cluster-address=gcomm://${addresses}`, ...flags]
    processes[node] = spawn('mariadbd', options, { stdio: 'ignore' })
    const joined = `${count} ON`
    const state = await until(
      () => stateOf(client),
      (now) => now === joined,
      JOINS_WITHIN_MS,
    )
    if (state !== joined) throw new Error(`node ${node} did not join the cluster: ${state}`)
  }

  async function kill(node: number): Promise<void> {
    const child = processes[node]
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  t.teardown(() => Promise.all(members.map((_, node) => kill(node))))
  for (const [node, { setup }] of members.entries()) {
    const flags = setup === undefined ? [] : ['--wsrep-new-cluster', `--init-file=${setup}`]
    await start(node, node + 1, ...flags)
  }
  return {
    proxy: connectMariadb(await startHaproxy(t, folder, members)),
    nodes: clients,
    kill,
    start: (node) => start(node, NODES),
  }
}

interface Member extends Omit<MariadbData, 'setup'> {
  readonly port: number
  /** Port for the communication of the cluster. */
  readonly groupPort: number
  /** Ports for changes that a node has missed, and for all data. */
  readonly changesPort: number
  readonly copyPort: number
  /** File of statements for the first node. */
  readonly setup: string | undefined
}

async function prepareMember(folder: string, node: number): Promise<Member> {
  await mkdir(folder)
  const data = node === 0 ? await makeData(folder) : await makeEmptyData(folder)
  return {
    setup: undefined,
    ...data,
    port: await freePort(),
    groupPort: await freePort(),
    changesPort: await freePort(),
    copyPort: await freePort(),
  }
}

function flagsOf({ data, temporary, ...member }: Member): readonly string[] {
  const { port, groupPort, changesPort, copyPort } = member
  const provider = {
    'gmcast.listen_addr': `tcp://127.0.0.1:${groupPort}`,
    'ist.recv_addr': `127.0.0.1:${changesPort}`,
    'evs.suspect_timeout': 'PT3S',
    'evs.inactive_timeout': 'PT6S',
  }
  const options = Object.entries(provider).map(([name, value]) => `${name}=${value}`)
  return [
    '--no-defaults',
    ...commonFlags(data, temporary),
    `--port=${port}`,
    `--socket=${join(data, 'socket')}`,
    '--bind-address=127.0.0.1',
    '--skip-name-resolve',
    '--binlog-format=ROW',
    '--innodb-autoinc-lock-mode=2',
    '--wsrep-on=ON',
    `--wsrep-provider=${PROVIDER}`,
    `--wsrep-provider-options=${options.join(';')}`,
    `--wsrep-node-address=127.0.0.1:${groupPort}`,
    '--wsrep-sst-method=rsync',
    `--wsrep-sst-receive-address=127.0.0.1:${copyPort}`,
  ]
}

/** Returns the size of the cluster, and `ON` if the node serves; undefined without an answer. */
async function stateOf(node: MariadbClient): Promise<string | undefined> {
  const rows = await node
    .run(
      `select variable_value as value from information_schema.global_status
        where variable_name in ('wsrep_cluster_size', 'wsrep_ready') order by variable_name`,
    )
    .catch(() => undefined)
  return rows?.map(({ value }) => value).join(' ')
}

/** Starts HAProxy with the lines of the document, and returns its port. */
async function startHaproxy(t: Test, folder: string, members: readonly Member[]): Promise<number> {
  const port = await freePort()
  const lines = /```\n(listen database\n[^`]*)```/.exec(await readFile(DOCUMENT, 'utf8'))?.[1]
  if (lines === undefined) throw new Error(`${DOCUMENT} has no lines for HAProxy`)
  const file = join(folder, 'haproxy.cfg')
  const placed = members.reduce(
    (text, member, at) => text.replace(`192.0.2.1${at + 1}:3306`, `127.0.0.1:${member.port}`),
    lines.replace('127.0.0.1:3306', `127.0.0.1:${port}`),
  )
  await writeFile(file, placed)
  const proxy = spawn('haproxy', ['-f', file], { stdio: 'ignore' })
  t.teardown(async () => {
    const ended = once(proxy, 'exit')
    proxy.kill()
    await ended
  })
  const client = connectMariadb(port)
  await until(() => stateOf(client), Boolean, JOINS_WITHIN_MS)
  return port
}
