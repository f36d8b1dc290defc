/** Workflows of a repository that are switched off, by the names of their files. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

/** Returns the names of the files of the disabled workflows. */
export async function disabledWorkflows(
  db: Database,
  repositoryId: number,
): Promise<ReadonlySet<string>> {
  const rows = await selectRows<{ workflow_file: string }>(
    db,
    'select s.workflow_file from workflow_switches s where s.repository_id = ?',
    [repositoryId],
  )
  return new Set(rows.map((row) => row.workflow_file))
}

/** A workflow file of a repository. */
export interface WorkflowPlace {
  readonly repositoryId: number
  /** Name of the file, without its folder. */
  readonly file: string
}

/** Disables a workflow: it starts no run until it is enabled. */
export async function disableWorkflow(
  db: Database,
  { repositoryId, file }: WorkflowPlace,
): Promise<void> {
  await db('workflow_switches')
    .insert({ repository_id: repositoryId, workflow_file: file, disabled_at: Date.now() })
    .onConflict(['repository_id', 'workflow_file'])
    .ignore()
}

/** Enables a workflow. */
export async function enableWorkflow(
  db: Database,
  { repositoryId, file }: WorkflowPlace,
): Promise<void> {
  await db('workflow_switches').where({ repository_id: repositoryId, workflow_file: file }).delete()
}
