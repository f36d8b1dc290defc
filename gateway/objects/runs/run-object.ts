/** The ActionWorkflowRun of this API. */

import { type Static, Type } from 'typebox'
import { findOwnersById } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import { findRepositoriesById, type Repository } from '../../../sql/repositories/repositories.js'
import type { Run } from '../../../sql/runs/runs.js'
import type { Identity } from '../../auth/authenticate.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { personObject, USER_OBJECT } from '../accounts/user-object.js'
import {
  REPOSITORY_OBJECT,
  type RepositoryObject,
  repositoryObject,
  repositoryObjects,
} from '../repositories/repository-object.js'
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

type RunObject = Static<typeof RUN>

/** Returns runs of one repository. */
export async function runObjects(
  context: Context,
  grant: Grants['repository'],
  runs: readonly Run[],
): Promise<readonly RunObject[]> {
  const { repository } = grant
  const object = await repositoryObject(context, repository, grant.modes)
  return await objectsOf(context, { runs, viewer: grant.user }, () => ({ repository, object }))
}

/** Returns runs of several repositories as `who`, who can read all of them, sees them. */
export async function listedRunObjects(
  context: Context,
  who: Identity,
  runs: readonly Run[],
): Promise<readonly RunObject[]> {
  const ids = new Set(runs.map(({ repositoryId }) => repositoryId))
  const repositories = await findRepositoriesById(context.db, [...ids])
  const objects = await repositoryObjects(context, repositories, who)
  const places = new Map<number, Place>()
  for (const [index, repository] of repositories.entries()) {
    const object = objects[index]
    if (object !== undefined) places.set(repository.id, { repository, object })
  }
  // A repository can be deleted after its runs were read.
  const present = runs.filter(({ repositoryId }) => places.has(repositoryId))
  const viewer = who.kind === 'user' ? who.user : undefined
  return await objectsOf(context, { runs: present, viewer }, ({ repositoryId }) => {
    const place = places.get(repositoryId)
    if (place === undefined) throw new Error('the run has no repository')
    return place
  })
}

interface Place {
  readonly repository: Repository
  readonly object: RepositoryObject
}

interface ViewedRuns {
  readonly runs: readonly Run[]
  readonly viewer: User | undefined
}

async function objectsOf(
  context: Context,
  { runs, viewer }: ViewedRuns,
  placeOf: (run: Run) => Place,
): Promise<readonly RunObject[]> {
  const actorIds = runs.flatMap(({ actorId, rerunActorId }) => [actorId ?? [], rerunActorId ?? []])
  const actors = await findOwnersById(context.db, actorIds.flat())
  return runs.map((run) => {
    const { repository, object } = placeOf(run)
    const person = (id: number | undefined) => personObject(context, actors.get(id ?? 0), viewer)
    return {
      id: run.id,
      ...runUrls(context, repository, run),
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
      repository: object,
      head_repository: object,
      ...periodFields(run),
    }
  })
}
