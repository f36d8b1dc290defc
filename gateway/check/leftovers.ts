/** Check C1: no leftovers of crashes are older than the interval of the sweeps. */

import { isRunningPush, listJournalEntries } from '../../cgi/maintenance/journal.js'
import { listStaleFiles } from '../../cgi/maintenance/stale-files.js'
import {
  listUnfinished,
  sweepRepositories,
  sweepRepository,
} from '../../cgi/maintenance/sweeper.js'
import { repositoryPath } from '../../cgi/repository/paths.js'
import { listIncoming, sweepBlobs } from '../../registry/sweeper.js'
import { isHeld } from '../../sql/admin/holds.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import { type CheckContext, type CheckScope, type CheckStep, UNSWEPT_MS } from './finding.js'
import { examineRepositories, withWiki } from './repository-folders.js'

/** Yields leftovers. The repair runs the sweep, which keeps files of running processes. */
export async function* checkLeftovers(
  context: CheckContext,
  scope: CheckScope,
): AsyncGenerator<CheckStep> {
  const { settings, storage } = context
  const dataDir = settings.data.dir
  yield* checkStaleFiles(context, scope)
  if (scope.repositories !== undefined) return
  const unfinished = () => listUnfinished(dataDir, UNSWEPT_MS)
  yield* leftover(unfinished, {
    problem: 'A repository was neither created nor removed completely',
    job: 'sweep-repositories',
    repair: () => sweepRepositories(dataDir, { isHeld: () => isHeld(context.db) }),
  })
  yield* leftover(() => listIncoming(storage, UNSWEPT_MS), {
    problem: 'The file of an interrupted upload was not removed',
    job: 'sweep-packages',
    repair: () => sweepBlobs(context),
  })
  yield* leftover(() => listDeadPushes(dataDir), {
    problem: 'An interrupted push was not recovered',
    job: 'sweep-repositories',
  })
}

function checkStaleFiles(context: CheckContext, scope: CheckScope): AsyncGenerator<CheckStep> {
  const dataDir = context.settings.data.dir
  const pathsOf = (repository: Repository) =>
    withWiki(repository).map(({ storage }) => repositoryPath(dataDir, storage))
  return examineRepositories(context, scope, {
    async examine(repository) {
      const found = await Promise.all(pathsOf(repository).map((path) => listStaleFiles(path)))
      const old = found
        .flatMap((files) => [...files])
        .filter(([, { changedAtMs }]) => changedAtMs < Date.now() - UNSWEPT_MS)
      return old.map(([path]) => ({
        code: 'C1',
        subject: `${repository.owner.name}/${repository.name}`,
        problem: `${path} was left by an interrupted process`,
        remedy: remedyOf('sweep-repositories'),
      }))
    },
    async repair(repository) {
      for (const path of pathsOf(repository)) await sweepRepository(dataDir, path)
    },
  })
}

interface Leftover {
  readonly problem: string
  /** Kind of the job that should have removed it. */
  readonly job: string
  readonly repair?: () => Promise<unknown>
}

async function* leftover(
  list: () => Promise<readonly string[]>,
  { problem, job, repair }: Leftover,
): AsyncGenerator<CheckStep> {
  for (const path of await list()) {
    yield {
      finding: { code: 'C1', subject: path, problem, remedy: remedyOf(job) },
      persists: async () => (await list()).includes(path),
      ...(repair === undefined
        ? {}
        : {
            async repair() {
              await repair()
            },
          }),
    }
  }
}

function remedyOf(job: string): string {
  return `See on the page /admin/jobs why the job ${job} did not remove it`
}

async function listDeadPushes(dataDir: string): Promise<readonly string[]> {
  const dead: string[] = []
  for (const [path, push] of await listJournalEntries(dataDir)) {
    const isOld = push.startedAtMs < Date.now() - UNSWEPT_MS
    if (isOld && !(await isRunningPush(dataDir, push))) dead.push(path)
  }
  return dead
}
