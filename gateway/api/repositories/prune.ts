/** Pruning over the API, for administrators of a repository: an addition to Gitea's operations. */

import { Type } from 'typebox'
import { inQueue } from '../../actions/code/git-queue.js'
import { releaseCommit } from '../../actions/repositories/prune-repository.js'
import { parseGoDuration } from '../../objects/repositories/go-duration.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'

const PRUNE_REPO_OPTION = Type.Object(
  {
    grace: Type.Optional(
      Type.String({ description: 'age of unreachable objects from which they are removed (Go)' }),
    ),
    commit: Type.Optional(
      Type.String({
        description: 'full id of a commit that must be removed; 409 while a ref keeps it',
      }),
    ),
    closed_pulls: Type.Optional(
      Type.Boolean({
        description: 'remove the heads of closed pull requests that keep the commit',
      }),
    ),
  },
  { $id: 'PruneRepoOption' },
)

const prune = defineOperation({
  id: 'repoPrune',
  method: 'POST',
  path: '/repos/{owner}/{repo}/prune',
  summary: 'Remove unreachable objects of a repository for good, in the background',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['write:repository'],
  params: { owner: 'owner of the repo', repo: 'name of the repo' },
  query: NO_QUERY,
  body: PRUNE_REPO_OPTION,
  success: { status: 202, schema: null },
  failures: [403, 404, 405, 409, 422],
  async handle(context, { request, grant, body }) {
    const { repository } = grant
    const { grace, commit, closed_pulls: dropsClosedPulls = false } = body
    const order = { graceMs: grace === undefined ? undefined : parseGoDuration(grace), commit }
    await inQueue(context, { request, grant }, () =>
      releaseCommit(context, repository, { ...order, dropsClosedPulls }),
    )
    await context.upkeep.enqueuePrune({ repositoryId: repository.id, ...order })
    return { status: 202 }
  },
})

export const PRUNE_OPERATIONS: readonly AnyOperation[] = [prune]
