/** List of the tasks of a repository, with the job and the run of each. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { offsetOf, type Page, type Paged } from '../database/page.js'
import type { Run } from './runs.js'
import { isFinal, type RunStatus } from './statuses.js'

export interface ListedTask
  extends Pick<Run, 'title' | 'event' | 'reference' | 'commitId' | 'workflowFile'> {
  readonly id: number
  readonly jobName: string
  readonly status: RunStatus
  readonly runId: number
  readonly runNumber: number
  readonly claimedAtMs: number
  /** Time of the last change that is known. */
  readonly changedAtMs: number
}

/** Returns the tasks, newest first. */
export async function listTasks(
  db: Database,
  repositoryId: number,
  page: Page,
): Promise<Paged<ListedTask>> {
  const [count] = await selectRows<{ total: number }>(
    db,
    'select count(*) as total from workflow_tasks t where t.repository_id = ?',
    [repositoryId],
  )
  const rows = await selectRows<TaskRow>(
    db,
    `select t.id, t.claimed_at, t.heard_at, t.stopped_at, j.name, j.status, j.task_id,
      r.id as run_id, r.number, r.title, r.event, r.ref, r.commit_id, r.workflow_file
      from workflow_tasks t join workflow_jobs j on j.id = t.job_id
        join workflow_runs r on r.id = j.run_id
      where t.repository_id = ? order by t.id desc limit ? offset ?`,
    [repositoryId, page.limit, offsetOf(page)],
  )
  return { entries: rows.map(taskOf), total: Number(count?.total ?? 0) }
}

interface TaskRow {
  readonly id: number
  readonly claimed_at: number
  readonly heard_at: number
  readonly stopped_at: number | null
  readonly name: string
  readonly status: RunStatus
  readonly task_id: number | null
  readonly run_id: number
  readonly number: number
  readonly title: string
  readonly event: string
  readonly ref: string
  readonly commit_id: string
  readonly workflow_file: string
}

function taskOf(row: TaskRow): ListedTask {
  // Another runner may have got the job of a task whose answer was lost.
  const isCurrent = row.task_id === row.id && (row.stopped_at === null || isFinal(row.status))
  return {
    id: row.id,
    jobName: row.name,
    status: isCurrent ? row.status : 'failure',
    runId: row.run_id,
    runNumber: row.number,
    title: row.title,
    event: row.event,
    reference: row.ref,
    commitId: row.commit_id,
    workflowFile: row.workflow_file,
    claimedAtMs: row.claimed_at,
    changedAtMs: row.stopped_at ?? row.heard_at,
  }
}
