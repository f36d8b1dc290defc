/** The ActionWorkflowRun of this API. */

import { type Static, Type } from 'typebox'
import { findOwnersById } from '../../../sql/accounts/owners.js'
import type { Run } from '../../../sql/runs/runs.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { personObject, USER_OBJECT } from '../accounts/user-object.js'
import { REPOSITORY_OBJECT, repositoryObject } from '../repositories/repository-object.js'
import { omissible, TIME } from '../schema.js'
import { periodFields, runUrls, shortReference, statusFields } from './run-words.js'

export const RUN = Type.Object(
  {
    id: Type.Integer(),
    url: Type.String(),
    html_url: Type.String(),
    display_title: Type.String(),
    path: Type.String({ description: 'file of the workflow and full name of the ref' }),
    event: Type.String(),
    run_attempt: Type.Integer(),
    run_number: Type.Integer(),
    repository_id: Type.Integer(),
    head_sha: Type.String(),
    head_branch: Type.String(),
    status: Type.String({ description: 'waiting, queued, in_progress or completed' }),
    conclusion: omissible(Type.String({ description: 'success, failure, cancelled or skipped' })),
    actor: USER_OBJECT,
    trigger_actor: USER_OBJECT,
    repository: REPOSITORY_OBJECT,
    head_repository: REPOSITORY_OBJECT,
    started_at: TIME,
    completed_at: TIME,
  },
  { $id: 'ActionWorkflowRun' },
)

export const RUNS = Type.Object(
  { total_count: Type.Integer(), workflow_runs: Type.Array(RUN) },
  { $id: 'ActionWorkflowRunsResponse' },
)

/** Returns runs of one repository. */
export async function runObjects(
  context: Context,
  grant: Grants['repository'],
  runs: readonly Run[],
): Promise<readonly Static<typeof RUN>[]> {
  const actorIds = runs.flatMap(({ actorId, rerunActorId }) => [actorId ?? [], rerunActorId ?? []])
  const actors = await findOwnersById(context.db, actorIds.flat())
  const repository = await repositoryObject(context, grant.repository, grant.modes)
  return runs.map((run) => {
    const person = (id: number | undefined) =>
      personObject(context, actors.get(id ?? 0), grant.user)
    return {
      id: run.id,
      ...runUrls(context, grant.repository, run),
      display_title: run.title,
      path: `${run.workflowFile}@${run.reference}`,
      event: run.event,
      run_attempt: run.attempt,
      run_number: run.number,
      repository_id: run.repositoryId,
      head_sha: run.commitId,
      head_branch: run.pull?.head ?? shortReference(run.reference),
      ...statusFields(run.status),
      actor: person(run.actorId),
      trigger_actor: person(run.attempt === 1 ? run.actorId : run.rerunActorId),
      repository,
      head_repository: repository,
      ...periodFields(run),
    }
  })
}
