/** Files from which jobs are planned: those of runs with deferred jobs, and called ones. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

/** A workflow file of a run. */
export interface JobPlan {
  readonly id: number
  readonly runId: number
  /** Text of the file. */
  readonly text: string
  /** The call of the file; undefined for the file of the run. */
  readonly call: WorkflowCall | undefined
}

/** Call of a reusable workflow. */
export interface WorkflowCall {
  /** The job that calls. */
  readonly callerId: number
  /** Name of that job, which is before those of the called jobs. */
  readonly name: string
  /** Number of calls in each other. */
  readonly depth: number
  /** Path of the file, with repository and ref if it is of another one. */
  readonly path: string
  readonly repositoryId: number
  readonly commitId: string
  /** Values of the inputs, as expressions see them. */
  readonly inputs: Readonly<Record<string, string | number | boolean>>
  /** Texts with expressions by the names of the outputs. */
  readonly outputs: Readonly<Record<string, string>>
  /** The file of the caller, whose secrets the called workflow gets. */
  readonly callerPlanId: number | undefined
  readonly secrets: 'inherit' | Readonly<Record<string, { secret: string } | { text: string }>>
}

/** Inserts a file and returns its id. */
export async function addPlan(
  trx: Database,
  { runId, text, call }: Omit<JobPlan, 'id'>,
): Promise<number> {
  const [id] = await trx('workflow_plans').insert({
    run_id: runId,
    text,
    caller_job_id: call?.callerId ?? null,
    workflow_call: call === undefined ? null : JSON.stringify(call),
  })
  if (id === undefined) throw new Error('The insert returned no id.')
  return id
}

/** Returns a file; undefined if its run was deleted. */
export async function findPlan(db: Database, id: number): Promise<JobPlan | undefined> {
  const [row] = await selectRows<PlanRow>(
    db,
    'select p.id, p.run_id, p.text, p.workflow_call from workflow_plans p where p.id = ?',
    [id],
  )
  if (row === undefined) return undefined
  const call = row.workflow_call === null ? undefined : JSON.parse(row.workflow_call)
  return { id: row.id, runId: row.run_id, text: row.text, call }
}

/** Returns the call of a file; undefined for the file of a run. */
export async function findCall(db: Database, planId: number): Promise<WorkflowCall | undefined> {
  const [found] = await selectCalls(db, 'p.id = ?', planId)
  return found?.call
}

export interface PlanOfCall {
  readonly planId: number
  readonly call: WorkflowCall
}

/** Returns the calls of a job, one for each combination of its matrix. */
export async function listCallsOf(db: Database, jobId: number): Promise<readonly PlanOfCall[]> {
  return await selectCalls(db, 'p.caller_job_id = ? order by p.id', jobId)
}

/** Returns the number of workflows that the jobs of the newest attempt of a run have called. */
export async function countCalls(db: Database, runId: number): Promise<number> {
  const [row] = await selectRows<{ total: number }>(
    db,
    `select count(*) as total from workflow_plans p join workflow_jobs j on j.id = p.caller_job_id
      where p.run_id = ? and j.last_attempt is null`,
    [runId],
  )
  return Number(row?.total ?? 0)
}

/** Selects calls without the texts of their files, which may be long. */
async function selectCalls(
  db: Database,
  condition: string,
  binding: number,
): Promise<readonly PlanOfCall[]> {
  const rows = await selectRows<{ id: number; workflow_call: string }>(
    db,
    `select p.id, p.workflow_call from workflow_plans p
      where p.workflow_call is not null and ${condition}`,
    [binding],
  )
  return rows.map((row) => ({ planId: row.id, call: JSON.parse(row.workflow_call) }))
}

interface PlanRow {
  readonly id: number
  readonly run_id: number
  readonly text: string
  readonly workflow_call: string | null
}
