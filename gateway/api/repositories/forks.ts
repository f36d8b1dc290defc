/** Forks of repositories over the API. */

import { Type } from 'typebox'
import { accessToRepository } from '../../../sql/repositories/access.js'
import { makeFork } from '../../actions/repositories/fork-repository.js'
import { mergeUpstream } from '../../actions/repositories/merge-upstream.js'
import { findOwnerForNewRepository } from '../../auth/authorize-accounts.js'
import { signedIn } from '../../auth/refusals.js'
import {
  REPOSITORY_OBJECT,
  visibleRepositoryObject,
} from '../../objects/repositories/repository-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { repositoryPage } from './repository-lists.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

const list = defineOperation({
  id: 'listForks',
  method: 'GET',
  path: '/repos/{owner}/{repo}/forks',
  summary: "List a repository's forks",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(REPOSITORY_OBJECT) },
  failures: [404],
  handle: (context, { grant, query }) =>
    repositoryPage(context, query, {
      path: `/repos/${grant.repository.owner.name}/${grant.repository.name}/forks`,
      who: grant.who,
      search: { parentId: grant.repository.id },
    }),
})

const create = defineOperation({
  id: 'createFork',
  method: 'POST',
  path: '/repos/{owner}/{repo}/forks',
  summary: 'Fork a repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', isSignedIn: true, refusesBlocked: true },
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: Type.Object(
    {
      organization: Type.Optional(Type.String({ description: 'organization name, if any' })),
      name: Type.Optional(Type.String({ description: 'name of the forked repository' })),
    },
    { $id: 'CreateForkOption' },
  ),
  success: { status: 202, schema: REPOSITORY_OBJECT },
  failures: [403, 404, 409, 422],
  async handle(context, { request, grant, body }) {
    const { who, repository: parent } = grant
    const { user: creator } = signedIn(who)
    const owner = await findOwnerForNewRepository(
      context.db,
      who,
      body.organization || creator.name,
    )
    const { signal } = request
    const name = body.name || parent.name
    const repository = await makeFork(context, { parent, owner, creator, name, signal })
    const modes = await accessToRepository(context.db, creator, repository)
    return jsonReply(202, await visibleRepositoryObject(context, { repository, modes, who }))
  },
})

const mergeParent = defineOperation({
  id: 'repoMergeUpstream',
  method: 'POST',
  path: '/repos/{owner}/{repo}/merge-upstream',
  summary: 'Merge a branch from upstream',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write', changesGit: true },
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: Type.Object(
    {
      branch: Type.Optional(
        Type.String({ maxLength: 100, description: 'branch of the fork; by default its default' }),
      ),
      ff_only: Type.Optional(Type.Boolean()),
    },
    { $id: 'MergeUpstreamRequest' },
  ),
  success: {
    status: 200,
    schema: Type.Object({ merge_type: Type.String() }, { $id: 'MergeUpstreamResponse' }),
  },
  failures: [400, 403, 404, 409, 413, 422, 423],
  async handle(context, { request, grant, body }) {
    const branch = body.branch || grant.repository.defaultBranch
    const isForwardOnly = body.ff_only === true
    const outcome = await mergeUpstream(context, { request, grant }, { branch, isForwardOnly })
    return jsonReply(200, { merge_type: outcome })
  },
})

export const FORK_OPERATIONS: readonly AnyOperation[] = [list, create, mergeParent]
