/** Transfers of repositories over the API, and the answers of new owners. */

import { Type } from 'typebox'
import {
  acceptTransfer,
  rejectTransfer,
  transferToOwner,
} from '../../actions/repositories/transfer-repository.js'
import {
  REPOSITORY_OBJECT,
  visibleRepositoryObject,
} from '../../objects/repositories/repository-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'

const REPOSITORY_PARAMS = {
  owner: 'owner of the repo to transfer',
  repo: 'name of the repo to transfer',
}

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
  failures: [403, 404, 409, 422],
  async handle(context, { grant, body }) {
    const { who } = grant
    const { repository, modes, isPending } = await transferToOwner(context, who, {
      repository: grant.repository,
      newOwner: body.new_owner,
      teamIds: body.team_ids ?? [],
    })
    // 201 means that the new owner has to accept.
    const status = isPending ? 201 : 202
    return jsonReply(status, await visibleRepositoryObject(context, { repository, modes, who }))
  },
})

/** Access of both answers; the action checks that the transfer is for the caller. */
const ANSWER_ACCESS = { kind: 'repository', mode: 'read', isSignedIn: true, unit: 'any' } as const

const accept = defineOperation({
  id: 'acceptRepoTransfer',
  method: 'POST',
  path: '/repos/{owner}/{repo}/transfer/accept',
  summary: 'Accept a repo transfer',
  tags: ['repository'],
  access: ANSWER_ACCESS,
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 202, schema: REPOSITORY_OBJECT },
  failures: [403, 404, 422],
  async handle(context, { grant }) {
    const { who } = grant
    const { repository, modes } = await acceptTransfer(context, who, grant.repository.id)
    return jsonReply(202, await visibleRepositoryObject(context, { repository, modes, who }))
  },
})

const reject = defineOperation({
  id: 'rejectRepoTransfer',
  method: 'POST',
  path: '/repos/{owner}/{repo}/transfer/reject',
  summary: 'Reject a repo transfer',
  tags: ['repository'],
  access: ANSWER_ACCESS,
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: REPOSITORY_OBJECT },
  failures: [403, 404],
  async handle(context, { grant }) {
    await rejectTransfer(context, grant.who, grant.repository.id)
    return jsonReply(200, await visibleRepositoryObject(context, grant))
  },
})

export const TRANSFER_OPERATIONS: readonly AnyOperation[] = [transfer, accept, reject]
