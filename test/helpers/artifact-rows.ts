/** Rows of artifacts, and the tasks that upload them. */

import { randomUUID } from 'node:crypto'
import type { Database } from '../../sql/database/database.js'
import { createArtifact, type NewArtifact } from '../../sql/runs/artifacts.js'
import { createTask, findRunningTask, type RunningTask } from '../../sql/runs/tasks.js'
import { aRun, jobAt } from './run-rows.js'

/** Creates a task of the first job of a run, which is a new one by default. */
export async function aRunningTask(
  db: Database,
  repositoryId: number,
  { run }: { readonly run?: Awaited<ReturnType<typeof aRun>> } = {},
): Promise<RunningTask> {
  const job = await jobAt(db, run ?? (await aRun(db, repositoryId)), 0)
  const fields = { jobId: job.id, repositoryId, runnerId: undefined, tokenHash: randomUUID() }
  const task = await findRunningTask(db, await createTask(db, fields))
  if (task === undefined) throw new Error('The task was not created.')
  return task
}

const DAY_MS = 86_400_000

/** Creates an artifact that nothing was uploaded for; it expires in a day. */
export async function anArtifact(
  db: Database,
  task: RunningTask,
  fields: Partial<NewArtifact> = {},
): Promise<{ readonly id: number; readonly repositoryId: number; readonly name: string }> {
  const name = fields.name ?? 'build'
  const expiresAtMs = Date.now() + DAY_MS
  const artifact = { task, version: 4, countMax: 500, expiresAtMs, ...fields, name } as const
  return { id: await createArtifact(db, artifact), repositoryId: task.repositoryId, name }
}
