/** `gatehouse repo …`: maintenance of repositories on the server. */

import { stat } from 'node:fs/promises'
import { openJournal } from '../../cgi/maintenance/journal.js'
import { type Maintained, maintainRepository } from '../../cgi/maintenance/maintenance.js'
import { recover } from '../../cgi/maintenance/recovery.js'
import { sweepRepository } from '../../cgi/maintenance/sweeper.js'
import { findGit, type Git } from '../../cgi/process/git.js'
import { repositoryPath } from '../../cgi/repository/paths.js'
import { Failure } from '../../conf/failures.js'
import { asDurationMs } from '../../conf/field.js'
import type { Settings } from '../../conf/settings.js'
import {
  type PruneContext,
  pruneNow,
  pruneSubject,
  releaseCommit,
} from '../../gateway/actions/repositories/prune-repository.js'
import { PRUNE_REPOSITORY } from '../../gateway/jobs/prune-repository.js'
import { enqueueJob } from '../../sql/admin/jobs.js'
import {
  type Command,
  type CommandCall,
  CommandError,
  UsageError,
  withDatabase,
} from './command.js'
import { parseFullName, requireRepository } from './named-repository.js'

const maintain: Command = {
  words: ['repo', 'maintain'],
  usage: 'OWNER/REPO',
  about: 'Removes stale files and repacks a repository now, as the server does after pushes.',
  positionals: ['OWNER/REPO'],
  options: {},
  async run(call) {
    const wanted = parseFullName(call.positionals[0] ?? '')
    await withDatabase(async (db, settings) => {
      const { data } = settings
      const { owner, name, storage } = await requireRepository(db, wanted)
      const path = await requireFolder(data.dir, storage)
      const { packsBefore, packsAfter, sizeKib } = await maintainNow(settings, path)
      const packs = `${packsBefore} packs before, ${packsAfter} after`
      console.log(`maintained ${owner.name}/${name}: ${packs}, ${sizeKib} KiB`)
    })
  },
}

const prune: Command = {
  words: ['repo', 'prune'],
  usage: 'OWNER/REPO [--now | --grace DURATION] [--commit ID] [--closed-pulls]',
  about: 'Permanently removes the unreachable objects of a repository.',
  positionals: ['OWNER/REPO'],
  options: {
    now: { type: 'boolean', about: 'Removes objects of any age, without the grace period.' },
    grace: {
      type: 'string',
      value: 'DURATION',
      about: 'Removes only objects older than this; by default maintenance.prune_grace.',
    },
    commit: {
      type: 'string',
      value: 'ID',
      about: 'Commit that must be removed; fails with the names of refs that reach it.',
    },
    'closed-pulls': {
      type: 'boolean',
      about: 'Also drops the commits of closed pull requests that reach the commit.',
    },
  },
  async run(call) {
    const wanted = parseFullName(call.positionals[0] ?? '')
    const order = { graceMs: graceOf(call), commit: commitOf(call) }
    const dropsClosedPulls = call.values['closed-pulls'] === true
    await withDatabase(async (db, settings) => {
      const { dir } = settings.data
      const repository = await requireRepository(db, wanted)
      await requireFolder(dir, repository.storage)
      const context = {
        db,
        settings,
        git: await findLimitedGit(settings.git),
        journal: await openJournal(dir),
      }
      const { removed, lfsObjects, sizeKib } = await interruptible(dir, async (signal) => {
        await releaseCommit(context, repository, { ...order, dropsClosedPulls })
        await pruneLater(context, { repositoryId: repository.id, ...order })
        return await pruneNow(context, repository, { ...order, signal })
      })
      const { owner, name } = repository
      const lfs = lfsObjects === 0 ? '' : ` and ${lfsObjects} LFS objects`
      console.log(`pruned ${owner.name}/${name}: ${removed} objects${lfs} removed, ${sizeKib} KiB`)
      if (order.graceMs === 0) console.error(WARNING)
    })
  },
}

const WARNING =
  'Clones and forks keep the objects: passwords and keys that were pushed must be changed.'

/** Delay of the job that prunes again, which also completes the work of a killed command. */
const SECOND_PRUNE_MS = 300_000

function pruneLater({ db }: PruneContext, wanted: Parameters<typeof pruneSubject>[0]) {
  const subject = pruneSubject(wanted)
  return enqueueJob(db, { kind: PRUNE_REPOSITORY.kind, subject, delayMs: SECOND_PRUNE_MS })
}

function graceOf({ values }: CommandCall): number | undefined {
  const { now, grace } = values
  if (now === true && grace !== undefined) throw new UsageError('give --now or --grace, not both')
  if (now === true) return 0
  if (grace === undefined) return undefined
  try {
    return asDurationMs(grace)
  } catch (cause) {
    throw new UsageError(`--grace '${grace}' is not a duration such as '30m' or '336h'`, { cause })
  }
}

function commitOf({ values }: CommandCall): string | undefined {
  const { commit } = values
  return typeof commit === 'string' ? commit : undefined
}

/** Returns the path of a repository's folder. Throws CommandError if it does not exist. */
async function requireFolder(dataDir: string, storage: string): Promise<string> {
  const path = repositoryPath(dataDir, storage)
  await stat(path).catch((cause: unknown) => {
    throw new CommandError(`the folder ${path} does not exist`, { cause })
  })
  return path
}

function maintainNow({ data, git }: Settings, path: string): Promise<Maintained> {
  return interruptible(data.dir, async (signal) => {
    await sweepRepository(data.dir, path)
    const journal = await openJournal(data.dir)
    return await maintainRepository(await findLimitedGit(git), path, { journal, signal })
  })
}

/** Returns git with the memory limit of the server's git processes. */
async function findLimitedGit({ memoryBytesMax }: Settings['git']): Promise<Git> {
  return { ...(await findGit()), memoryBytesMax }
}

/** Runs `work` with a signal that aborts on SIGINT, because git has its own process group. */
async function interruptible<T>(
  dataDir: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const interrupted = new AbortController()
  const interrupt = () => interrupted.abort()
  for (const signal of SIGNALS) process.on(signal, interrupt)
  try {
    return await work(interrupted.signal)
  } catch (error) {
    if (error instanceof Failure) throw error
    await recover(dataDir)
    throw new CommandError(error instanceof Error ? error.message : String(error), { cause: error })
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export const REPO_COMMANDS: readonly Command[] = [maintain, prune]
