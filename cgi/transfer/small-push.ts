/** Small pushes to existing branches, for which git only checks and indexes the pack. */

import { join, relative } from 'node:path'
import { checkComplete } from '../objects/connectivity.js'
import { type Git, gitEnvironment, startGit } from '../process/git.js'
import { lowerPriority, TRANSFER_NICENESS } from '../process/priority.js'
import type { BranchMove } from '../refs/move-branch.js'
import { type Quarantine, withQuarantine } from '../repository/quarantine.js'
import { hasUsualSettings, readPresentState } from '../repository/repository-state.js'
import { keepPacks } from './take-commit.js'

/** A pack that was read from the request of a push. */
export interface SmallPush extends Pick<BranchMove, 'before' | 'after'> {
  /** The pack as the client has sent it. */
  readonly pack: Uint8Array
  readonly signal: AbortSignal
  readonly timeoutMs: number
}

/**
 * Checks a pack as `git receive-pack` would, and adds it to the repository, flushed to disk. The
 * branch can then be moved. Returns false with nothing added if that program must decide: about
 * packs with faults, missing objects, and repositories with settings of their own. Must be in the
 * journal, so that no object is pruned meanwhile.
 */
export async function takeSmallPack(git: Git, path: string, push: SmallPush): Promise<boolean> {
  const state = readPresentState(path)
  if (state === undefined || !hasUsualSettings(state)) return false
  const { before, after } = push
  return await withQuarantine(path, async (quarantine) => {
    const pack = await indexPack(git, path, { ...push, quarantine })
    if (pack === undefined) return false
    const found = await checkComplete(path, { pack, before, after })
    const isComplete =
      found === 'complete' ||
      (found === 'unproven' && (await isConnected(git, path, { ...push, quarantine })))
    if (isComplete) await keepPacks(path, quarantine.folder)
    return isComplete
  })
}

type QuarantinedPush = SmallPush & { readonly quarantine: Quarantine }

const INDEX = ['index-pack', '--stdin', '--fix-thin', '--strict', '--threads=1']

/**
 * Checks a pack and its objects as git does for each push, and writes it with its index. Returns
 * its path from the folder of the repository's packs; undefined if git refuses it.
 */
async function indexPack(
  git: Git,
  path: string,
  push: QuarantinedPush,
): Promise<string | undefined> {
  const output = await outputOf(git, path, { push, args: INDEX, input: push.pack })
  const id = /^pack\t([0-9a-f]+)\n$/.exec(output ?? '')?.[1]
  if (id === undefined) return undefined
  const file = join(push.quarantine.folder, 'pack', `pack-${id}.pack`)
  return relative(join(path, 'objects', 'pack'), file)
}

/** Git's own check of a push: that no object is missing between the new commit and all refs. */
const CHECK = ['rev-list', '--objects', '--stdin', '--quiet', '--not', '--all']

async function isConnected(git: Git, path: string, push: QuarantinedPush): Promise<boolean> {
  const input = Buffer.from(`${push.after}\n`)
  return (await outputOf(git, path, { push, args: CHECK, input })) !== undefined
}

interface Command {
  readonly push: QuarantinedPush
  readonly args: readonly string[]
  readonly input: Uint8Array
}

/** Returns the output of git; undefined if it failed, or was ended at a limit. */
async function outputOf(git: Git, path: string, { push, args, input }: Command) {
  const { quarantine, signal, timeoutMs } = push
  const running = await startGit(git, 'push', [git.file, ...args], {
    cwd: path,
    environment: { ...gitEnvironment(git, { config: [] }), ...quarantine.variables },
    signal,
    timeoutMs,
  })
  lowerPriority(running.pid, TRANSFER_NICENESS)
  void running.input.write(input).then(() => running.input.end())
  let output = ''
  try {
    for await (const chunk of running.output) output += Buffer.from(chunk).toString()
  } catch {
    // The same happens to `git receive-pack`, whose report says what is wrong.
  }
  return (await running.ended).exitCode === 0 ? output : undefined
}
