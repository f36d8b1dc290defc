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

async function repeat(
  { label, count, workspace, command, tip }: Operation,
  { url, folder, signal }: RepeatOptions,
): Promise<RoundResult> {
  let seconds = 0
  for (let done = 0; done < count; done += 1) {
    const cwd = await mkdtemp(join(folder, 'operation-'))
    if (workspace === 'empty') await runGitAsUser(['init', '--quiet'], { cwd, signal })
    else if (workspace !== undefined) await cp(workspace, cwd, { recursive: true })
    const startedAt = performance.now()
    await runAsUser(command(url), { cwd, signal })
    seconds += (performance.now() - startedAt) / 1_000
    if (tip !== undefined) {
      const head = await runGitAsUser(['rev-parse', 'HEAD'], { cwd: join(cwd, INTO), signal })
      if (head.trim() !== tip) throw new Error(`${label}: the clone has ${head} and not ${tip}`)
    }
    await rm(cwd, { recursive: true })
  }
  return { operations: count, seconds }
}
