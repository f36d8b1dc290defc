/** The newest run of a workflow file, for its badge. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { Run } from './runs.js'

export interface NewestRunQuery {
  readonly repositoryId: number
  readonly workflowFile: string
  /** Full name of the ref. */
  readonly reference: string
  /** Undefined for all events. */
  readonly event: string | undefined
}

/** Number of the newest runs of a repository that are searched. */
const SEARCHED_MAX = 1_000

/**
 * Returns the newest run of a file on a ref; undefined if none of the newest 1,000 runs of the
 * repository is one. Runs of pull requests are left out, because other users can make them fail.
 */
export async function findNewestRun(
  db: Database,
  { repositoryId, workflowFile, reference, event }: NewestRunQuery,
): Promise<Pick<Run, 'workflowName' | 'status'> | undefined> {
  const [row] = await selectRows<Pick<Run, 'status'> & { readonly workflow_name: string }>(
    db,
    `select r.workflow_name, r.status from workflow_runs r where r.repository_id = ?
      and r.number > (select max(n.number) from workflow_runs n where n.repository_id = ?) - ?
      and r.ref = ? and r.workflow_file = ? and r.pull_number is null
      ${event === undefined ? '' : 'and r.event = ?'} order by r.number desc limit 1`,
    [
      repositoryId,
      repositoryId,
      SEARCHED_MAX,
      reference,
      workflowFile,
      ...(event === undefined ? [] : [event]),
    ],
  )
  return row && { workflowName: row.workflow_name, status: row.status }
}
