/** Operations of clients on a repository, by Gatehouse and by nginx with git. */

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { BenchmarkContext } from './benchmark.js'
import type { Servers } from './beside-git.js'
import { type Comparison, compare, type RoundResult, sideOf } from './compare.js'
import { OWNER } from './gatehouse.js'
import { type Command, runAsUser, runGitAsUser } from './user-git.js'

/** Operation of a client in an empty folder. */
export interface Operation {
  readonly label: string
  /** Number of operations of a round. */
  readonly count: number
  /** Number of clients at the same time; one by default. */
  readonly clients?: number
  /** Workspace that is copied into the folder; its time is not measured. */
  readonly workspace?: string
  readonly command: (url: string) => Command
  /** Commit that the folder `INTO` must have checked out or as its HEAD afterwards. */
  readonly tip?: string
}

/** Folder of a clone. */
export const INTO = 'clone'

/** Measures an operation on the repository with this name; returns a row of a table. */
export async function measureOperation(
  { gatehouse, git, folder, signal }: Servers,
  name: string,
  operation: Operation,
): Promise<readonly [string, Comparison]> {
  const workOf = (url: string) => () => repeat(operation, { url, folder, signal })
  const comparison = await compare(
    sideOf(gatehouse, workOf(`${gatehouse.url}/${OWNER}/${name}.git`)),
    sideOf(git, workOf(`${git.url}/${name}.git`)),
  )
  return [operation.label, comparison]
}

interface RepeatOptions extends BenchmarkContext {
  readonly url: string
}

async function repeat(operation: Operation, options: RepeatOptions): Promise<RoundResult> {
  const { count, clients = 1 } = operation
  let seconds = 0
  for (let done = 0; done < count; done += clients) {
    const folders = await Promise.all(
      Array.from({ length: clients }, () => prepare(operation, options)),
    )
    const startedAt = performance.now()
    await Promise.all(
      folders.map((cwd) => runAsUser(operation.command(options.url), { ...options, cwd })),
    )
    seconds += (performance.now() - startedAt) / 1_000
    for (const cwd of folders) await finish(operation, { ...options, cwd })
  }
  return { operations: count, seconds }
}

/** Makes the folder of a client; returns its path. */
async function prepare(
  { workspace }: Operation,
  { folder, signal }: RepeatOptions,
): Promise<string> {
  const cwd = await mkdtemp(join(folder, 'operation-'))
  if (workspace === 'empty') await runGitAsUser(['init', '--quiet'], { cwd, signal })
  else if (workspace !== undefined) await cp(workspace, cwd, { recursive: true })
  return cwd
}

/** Checks what the client has, and removes its folder. */
async function finish(
  { label, tip }: Operation,
  { cwd, signal }: RepeatOptions & { readonly cwd: string },
): Promise<void> {
  if (tip !== undefined) {
    const head = await runGitAsUser(['rev-parse', 'HEAD'], { cwd: join(cwd, INTO), signal })
    if (head.trim() !== tip) throw new Error(`${label}: the clone has ${head} and not ${tip}`)
  }
  await rm(cwd, { recursive: true })
}
