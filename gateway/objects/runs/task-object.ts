/** The ActionTask of this API: a claimed job, in the form that older clients read. */

import { type Static, Type } from 'typebox'
import type { Repository } from '../../../sql/repositories/repositories.js'
import type { ListedTask } from '../../../sql/runs/task-list.js'
import type { Context } from '../../request/context.js'
import { TIME } from '../schema.js'
import { apiTime } from '../times.js'
import { runUrls, shortReference } from './run-words.js'

const TASK = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    head_branch: Type.String(),
    head_sha: Type.String(),
    run_number: Type.Integer(),
    event: Type.String(),
    display_title: Type.String(),
    status: Type.String({ description: 'running, success, failure, cancelled or skipped' }),
    workflow_id: Type.String(),
    url: Type.String({ description: 'page of the run' }),
    created_at: TIME,
    updated_at: TIME,
    run_started_at: TIME,
  },
  { $id: 'ActionTask' },
)

export const TASKS = Type.Object(
  { total_count: Type.Integer(), workflow_runs: Type.Array(TASK) },
  { $id: 'ActionTaskResponse' },
)

/** Returns a task of the repository. */
export function taskObject(
  context: Context,
  repository: Repository,
  task: ListedTask,
): Static<typeof TASK> {
  const run = { id: task.runId, number: task.runNumber }
  return {
    id: task.id,
    name: task.jobName,
    head_branch: shortReference(task.reference),
    head_sha: task.commitId,
    run_number: task.runNumber,
    event: task.event,
    display_title: task.title,
    // Gitea's word for a task that is being cancelled.
    status: task.status === 'cancelling' ? 'running' : task.status,
    workflow_id: task.workflowFile,
    url: runUrls(context, repository, run).html_url,
    created_at: apiTime(task.claimedAtMs),
    updated_at: apiTime(task.changedAtMs),
    run_started_at: apiTime(task.claimedAtMs),
  }
}
