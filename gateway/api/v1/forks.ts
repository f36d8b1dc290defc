/** Forks over the API, and repositories that go to another owner. */

import { Type } from 'typebox'
import { Failure, isFailure } from '../../../conf/failures.js'
import { accessToRepository } from '../../../sql/access.js'
import { findRepositoryById } from '../../../sql/repositories.js'
import { transferRepository } from '../../../sql/repository-transfer.js'
import { findTeam } from '../../../sql/teams.js'
import type { Owner } from '../../../sql/users.js'
import { makeFork } from '../../actions/fork-repository.js'
import { placeForRepositories } from '../../auth/admit-people.js'
import { notFound, signedIn } from '../../auth/refusals.js'
import type { Context } from '../../context.js'
import { jsonReply } from '../door.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY } from '../paging.js'
import { repositoryPage } from './repository-lists.js'
import { REPOSITORY_OBJECT, seenRepositoryObject } from './repository-object.js'

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
  access: { kind: 'repository', mode: 'read', isSignedIn: true },
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
    const owner = await placeForRepositories(context.db, who, body.organization || creator.name)
    const { signal } = request
    const name = body.name || parent.name
    const repository = await makeFork(context, { parent, owner, creator, name, signal })
    const mode = await accessToRepository(context.db, creator, repository)
    return jsonReply(202, await seenRepositoryObject(context, { repository, mode, who }))
  },
})

const transfer = defineOperation({
  id: 'repoTransfer',
  method: 'POST',
  path: '/repos/{owner}/{repo}/transfer',
  summary: 'Transfer a repo ownership',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'owner' },
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: Type.Object(
    {
      new_owner: Type.String({ minLength: 1 }),
      team_ids: Type.Optional(
        Type.Array(Type.Integer(), {
          maxItems: 100,
          description: 'teams of an organization that are given the repository',
        }),
      ),
    },
    { $id: 'TransferRepoOption' },
  ),
  success: { status: 202, schema: REPOSITORY_OBJECT },
  failures: [403, 404, 422],
  async handle(context, { grant, body }) {
    const { who, repository } = grant
    const { user } = signedIn(who)
    const owner = await placeForRepositories(context.db, who, body.new_owner)
    if (owner.id === repository.owner.id) {
      throw new Failure('invalid', 'The repository has this owner already.')
    }
    const teamIds = body.team_ids ?? []
    await refuseOtherTeams(context, owner, teamIds)
    await orInvalid(() =>
      transferRepository(context.db, {
        ...{ repositoryId: repository.id, newOwnerId: owner.id, teamIds },
      }),
    )
    const moved = await findRepositoryById(context.db, repository.id)
    if (moved === undefined) throw notFound()
    const mode = await accessToRepository(context.db, user, moved)
    return jsonReply(202, await seenRepositoryObject(context, { repository: moved, mode, who }))
  },
})

async function refuseOtherTeams(
  { db }: Context,
  owner: Owner,
  teamIds: readonly number[],
): Promise<void> {
  for (const id of teamIds) {
    const team = await findTeam(db, id)
    if (team?.organizationId !== owner.id) {
      throw new Failure('invalid', `team ${id} does not exist in ${owner.name}`)
    }
  }
}

/** A taken name is an invalid one here, where elsewhere it is a conflict. */
async function orInvalid(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (isFailure(error, 'conflict')) throw new Failure('invalid', error.message)
    throw error
  }
}

export const FORK_OPERATIONS: readonly AnyOperation[] = [list, create, transfer]
