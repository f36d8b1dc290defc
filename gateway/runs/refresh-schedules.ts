/** Schedules of a repository, rebuilt from the workflow files on its default branch. */

import { withObjects } from '../../cgi/objects/with-objects.js'
import { findRepositoryById, type Repository } from '../../sql/repositories/repositories.js'
import { type NewSchedule, replaceSchedules } from '../../sql/runs/schedules.js'
import { branchReference } from '../actions/pulls/refresh-pulls.js'
import { hasActions } from '../actions/repositories/has-actions.js'
import type { Context } from '../request/context.js'
import { repositoryPathOf } from '../request/repository-path.js'
import { nextTime } from '../workflows/cron.js'
import { mayName, readWorkflowCommit, type WorkflowFile } from './workflow-files.js'

/** Maximum number of schedules of a repository; further ones start nothing. */
const SCHEDULES_MAX = 100

/**
 * Stores the schedules in the files at the tip of the default branch; none if the repository has no
 * Actions. Schedules of files that cannot be read are removed.
 */
export async function refreshSchedules(
  context: Context,
  repositoryId: number,
  nowMs = Date.now(),
): Promise<void> {
  const repository = await findRepositoryById(context.db, repositoryId)
  if (repository === undefined) return
  const schedules: NewSchedule[] = []
  for (const file of await filesOf(context, repository)) {
    for (const cron of await cronsOf(context, repository, file)) {
      const nextAtMs = nextTime(cron, nowMs)
      if (nextAtMs !== undefined) schedules.push({ file: file.name, cron, nextAtMs })
    }
  }
  await replaceSchedules(context.db, repositoryId, schedules.slice(0, SCHEDULES_MAX))
}

async function filesOf(context: Context, repository: Repository): Promise<readonly WorkflowFile[]> {
  if (!hasActions(context, repository)) return []
  const path = repositoryPathOf(context, repository)
  const commit = await withObjects(context.git, path, (objects) =>
    readWorkflowCommit(objects, branchReference(repository.defaultBranch)),
  )
  return commit?.files.filter(({ text }) => mayName(text, 'schedule')) ?? []
}

async function cronsOf(
  context: Context,
  repository: Repository,
  { text }: WorkflowFile,
): Promise<readonly string[]> {
  // No expression is empty, so the file is read and starts nothing.
  const occurrence = { event: 'schedule', cron: '', changedPaths: [] } as const
  const plan = await context.planFile({ text, occurrence }, repository.owner.id)
  return plan.kind === 'ignored' ? plan.crons : []
}
