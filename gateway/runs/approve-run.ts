/** Approval of runs whose commits are of forks. */

import { approve, type Run } from '../../sql/runs/runs.js'
import type { Context } from '../request/context.js'
import { changeRun } from './change-run.js'

/** Approves a run: its jobs then wait for runners. Returns false if it needs no approval. */
export async function approveRun(context: Context, { id }: Pick<Run, 'id'>): Promise<boolean> {
  return await changeRun(context, id, (trx) => approve(trx, id))
}
