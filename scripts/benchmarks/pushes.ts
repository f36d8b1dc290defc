/** Pushes of one commit by real git clients, compared with nginx and git. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { BenchmarkContext } from './benchmark.js'
import type { Servers } from './beside-git.js'
import { compareRounds, type RoundResult, sideOf } from './compare.js'
import { OWNER } from './gatehouse.js'
import { addCommit } from './repositories.js'
import type { Table } from './table.js'
import { runGitAsUser } from './user-git.js'

/**
 * Number of pushes of a round. Each round has a repository of its own, because each push adds a
 * pack, and the maintenance that combines packs is off.
 */
const PUSHES = 20
const ROUNDS = 5

/**
 * Settings of the peer's repository: anonymous pushes, data on the disk before the answer, and no
 * maintenance, which is off in Gatehouse too.
 */
export const PEER_SETTINGS = [
  ['http.receivepack', 'true'],
  ['core.fsync', 'committed,pack-metadata,commit-graph'],
  ['receive.autogc', 'false'],
] as const

export async function measurePushes({ gatehouse, git, folder, signal }: Servers): Promise<Table> {
  // The first round is a warm-up.
  const names = Array.from({ length: ROUNDS + 1 }, (_, round) => `pushes-${round}`)
  for (const name of names) {
    await gatehouse.makeRepository(name)
    const peer = await newRepository(name, { folder, signal })
    for (const [key, value] of PEER_SETTINGS) {
      await runGitAsUser(['config', key, value], { cwd: peer, signal })
    }
    await git.addRepository(name, peer)
  }
  const workOf = async (client: string, base: string) => {
    const cwd = await newRepository(client, { folder, signal })
    await addCommit(cwd, signal, { isFirst: true })
    const left = names.values()
    return () => push(cwd, `${base}/${left.next().value}.git`, signal)
  }
  const remote = new URL(`${gatehouse.url}/${OWNER}`)
  remote.username = OWNER
  remote.password = gatehouse.token
  const comparison = await compareRounds(
    ROUNDS,
    sideOf(gatehouse, await workOf('client', remote.href)),
    sideOf(git, await workOf('client-of-peer', git.url)),
  )
  return {
    title: 'Pushes of one commit to a small repository, one after the other',
    peers: ['nginx + git'],
    unit: 'pushes',
    rows: [['push of one commit', comparison]],
    notes: ['both flush objects and refs to disk; only Gatehouse authenticates'],
  }
}

async function newRepository(name: string, { folder, signal }: BenchmarkContext): Promise<string> {
  const path = join(folder, `push-${name}.git`)
  await mkdir(path)
  await runGitAsUser(['init', '--quiet', '--bare', '--initial-branch=main'], { cwd: path, signal })
  return path
}

/** Adds commits and pushes each; only the pushes are timed. */
async function push(cwd: string, url: string, signal: AbortSignal): Promise<RoundResult> {
  let seconds = 0
  for (let done = 0; done < PUSHES; done += 1) {
    await addCommit(cwd, signal)
    const startedAt = performance.now()
    await runGitAsUser(['push', '--quiet', url, 'main'], { cwd, signal })
    seconds += (performance.now() - startedAt) / 1_000
  }
  return { operations: PUSHES, seconds }
}
