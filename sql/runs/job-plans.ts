/** Files from which deferred jobs are planned when their needs have ended. */

import type { Database } from '../database/database.js'

export interface JobPlan {
  readonly runId: number
  /** Text of the workflow file. */
  readonly text: string
}

/** Inserts a file and returns its id. */
export async function addPlan(trx: Database, { runId, text }: JobPlan): Promise<number> {
  const [id] = await trx('workflow_plans').insert({ run_id: runId, text })
  if (id === undefined) throw new Error('The insert returned no id.')
  return id
}

/** Returns a file; undefined if its run was deleted. */
export async function findPlan(db: Database, id: number): Promise<JobPlan | undefined> {
  const row: { run_id: number; text: string } | undefined = await db('workflow_plans')
    .where({ id })
    .first('run_id', 'text')
  return row && { runId: row.run_id, text: row.text }
}
