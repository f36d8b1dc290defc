/** `ssh`: clones through the helper and the gateway, compared with plain sshd and git-shell. */

import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseSshKey } from '../../conf/ssh-key.js'
import { addUserKey } from '../../sql/accounts/keys.js'
import { findUser } from '../../sql/accounts/users.js'
import { closeDatabase, openDatabase } from '../../sql/database/database.js'
import { installHelper } from '../commands/ssh-helper.js'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { compare, sideOf } from './compare.js'
import { OWNER, startGatehouse } from './gatehouse.js'
import { cloneRepeatedly } from './load.js'
import { fillRepository, type Shape } from './repositories.js'
import { createCpuGroup, freePort, type RunningServer } from './server.js'
import { makeAccount, makeKey, runProgram, startSshd } from './sshd.js'
import type { Table } from './table.js'

const CLONES = 50

/** Small repository, such as a CI job clones. */
const SHAPE: Shape = { files: 20, fileBytes: 2_000, commits: 50, filesChanged: 2 }

const ACCOUNT = 'gatehouse-bench'
const PEER_ACCOUNT = 'gatehouse-bench-peer'

export const SSH_BENCHMARK: Benchmark = {
  name: 'ssh',
  about: 'clones over SSH, compared with sshd, authorized_keys and git-shell; as root',
  async *run(stage) {
    const undo: Array<() => Promise<unknown>> = []
    try {
      yield* measure(stage, undo)
    } finally {
      for (const step of undo.reverse()) await step()
    }
  },
}

/** URL to clone from, and the environment that git needs for it. */
interface Side {
  readonly url: string
  readonly environment: Readonly<Record<string, string>>
}

type Undo = Array<() => Promise<unknown>>

async function* measure(stage: BenchmarkContext, undo: Undo): AsyncGenerator<Table> {
  const { folder, signal } = stage
  // Both accounts need access to their repositories below this folder.
  await chmod(folder, 0o755)
  for (const [name, shell] of [
    [ACCOUNT, '/bin/sh'],
    [PEER_ACCOUNT, '/usr/bin/git-shell'],
  ] as const) {
    await makeAccount(name, shell)
    undo.push(() => runProgram('userdel', name))
  }
  const key = await makeKey(folder)
  const product = await startProduct(stage, { key, undo })
  const peer = await startPeer(stage, { key, undo, repository: product.repository })
  const rows: Table['rows'][number][] = []
  for (const parallel of [1, CLONES]) {
    const work = ({ url, environment }: Side) => {
      const options = { count: CLONES, parallel, folder, signal, environment }
      return () => cloneRepeatedly(url, options)
    }
    const comparison = await compare(
      sideOf(product, work(product.side)),
      sideOf(peer, work(peer.side)),
    )
    rows.push([parallel === 1 ? 'sequential' : `${CLONES} concurrent`, comparison])
  }
  yield {
    title: `A small repository over SSH: git clone --no-checkout, ${CLONES} clones`,
    peers: ['git-shell'],
    unit: 'clones',
    rows,
  }
}

interface Setup {
  readonly key: Awaited<ReturnType<typeof makeKey>>
  readonly undo: Undo
}

async function startProduct(stage: BenchmarkContext, { key, undo }: Setup) {
  const { folder, signal } = stage
  const gatehouse = await startGatehouse(stage, { account: ACCOUNT })
  undo.push(() => gatehouse.stop())
  const source = join(folder, 'source.git')
  await runProgram('git', 'init', '--quiet', '--bare', '--initial-branch=main', source)
  await fillRepository(source, SHAPE, signal)
  const { path: repository } = await gatehouse.addRepository('small', source)
  await addOwnerKey(gatehouse.databaseFile, key.publicKey)
  const trusted = await mkdtemp('/var/lib/gatehouse-bench-')
  undo.push(() => rm(trusted, { recursive: true }))
  const helper = await installHelper(trusted)
  const port = await freePort()
  const socket = join(folder, 'data', 'run', 'ssh.sock')
  const lines = [
    'AuthorizedKeysFile none',
    `AuthorizedKeysCommand ${helper} keys ${socket} %t %k`,
    `AuthorizedKeysCommandUser ${ACCOUNT}`,
    'AcceptEnv GIT_PROTOCOL',
  ]
  await startSide(undo, startSshd(gatehouse.cpu, { folder, port, lines, signal }))
  return {
    cpu: gatehouse.cpu,
    repository,
    side: sideAt(`${ACCOUNT}@127.0.0.1:${OWNER}/small.git`, key.sshTo(port)),
  }
}

async function startPeer(
  { folder, signal }: BenchmarkContext,
  { key, undo, repository }: Setup & { readonly repository: string },
) {
  const own = join(folder, 'git-shell')
  await mkdir(own)
  await runProgram('cp', '-r', repository, join(own, 'small.git'))
  await writeFile(join(own, 'authorized_keys'), `restrict ${key.publicKey}\n`)
  await runProgram('chown', '-R', `${PEER_ACCOUNT}:`, own)
  const cpu = await createCpuGroup('git-shell')
  undo.push(() => cpu.remove())
  const port = await freePort()
  const lines = [
    `AuthorizedKeysFile ${own}/authorized_keys`,
    'StrictModes no',
    'AcceptEnv GIT_PROTOCOL',
  ]
  await startSide(undo, startSshd(cpu, { folder, port, lines, signal }))
  return { cpu, side: sideAt(`${PEER_ACCOUNT}@127.0.0.1:${own}/small.git`, key.sshTo(port)) }
}

async function startSide(undo: Undo, starting: Promise<RunningServer>): Promise<void> {
  const server = await starting
  undo.push(() => server.stop())
}

function sideAt(url: string, ssh: string): Side {
  return { url, environment: { GIT_SSH_COMMAND: ssh } }
}

async function addOwnerKey(databaseFile: string, publicKey: string): Promise<void> {
  const location = { kind: 'sqlite', file: databaseFile } as const
  const db = await openDatabase({ location, connectionsMax: 1 })
  try {
    const user = await findUser(db, OWNER)
    if (user === undefined) throw new Error(`there is no user ${OWNER}`)
    await addUserKey(db, { userId: user.id, title: 'bench', key: parseSshKey(publicKey) })
  } finally {
    await closeDatabase(db)
  }
}
