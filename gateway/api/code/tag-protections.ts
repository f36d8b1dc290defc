/** Tag protection rules over the API, for administrators of the repository. */

import { Type } from 'typebox'
import { Failure, isFailure, notFound } from '../../../conf/failures.js'
import {
  createTagProtection,
  deleteTagProtection,
  listTagProtections,
  type TagProtection,
  updateTagProtection,
} from '../../../sql/code/tag-protections.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { checkTagPattern } from '../../actions/code/tag-judge.js'
import { numberOf } from '../../actions/issues/issue-access.js'
import {
  CREATE_TAG_PROTECTION_OPTION,
  EDIT_TAG_PROTECTION_OPTION,
  TAG_PROTECTION,
  type TagProtectionOption,
  tagProtectionObject,
} from '../../objects/code/tag-protection-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { listedTeams, listedUsers } from './branch-protection-lists.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }
const RULE_PARAMS = { ...REPOSITORY_PARAMS, id: 'id of the tag protection' }
const ACCESS = { kind: 'repository', mode: 'admin' } as const

const list = defineOperation({
  id: 'repoListTagProtection',
  method: 'GET',
  path: '/repos/{owner}/{repo}/tag_protections',
  summary: 'List tag protections for a repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(TAG_PROTECTION) },
  failures: [403, 404],
  async handle({ db }, { grant }) {
    const protections = await listTagProtections(db, grant.repository.id)
    return jsonReply(200, protections.map(tagProtectionObject))
  },
})

const get = defineOperation({
  id: 'repoGetTagProtection',
  method: 'GET',
  path: '/repos/{owner}/{repo}/tag_protections/{id}',
  summary: 'Get a specific tag protection for the repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['read:repository'],
  params: RULE_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: TAG_PROTECTION },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const protection = await protectionOf(context, grant, numberOf(params, 'id'))
    return jsonReply(200, tagProtectionObject(protection))
  },
})

const create = defineOperation({
  id: 'repoCreateTagProtection',
  method: 'POST',
  path: '/repos/{owner}/{repo}/tag_protections',
  summary: 'Create a tag protections for a repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: CREATE_TAG_PROTECTION_OPTION,
  success: { status: 201, schema: TAG_PROTECTION },
  failures: [400, 403, 404, 422, 423],
  async handle(context, { grant, body }) {
    actingUserOf(grant)
    const namePattern = await patternOf(context, grant, body.name_pattern ?? '')
    const { whitelist_usernames: users = [], whitelist_teams: teams = [] } = body
    if (users.length === 0 && teams.length === 0) {
      const message = 'both whitelist_usernames and whitelist_teams are empty'
      throw new Failure('bad_request', message)
    }
    const repositoryId = grant.repository.id
    const allowed = await allowedOf(context, grant, body)
    const wanted = { repositoryId, namePattern, allowed }
    const id = await createTagProtection(context.db, wanted).catch(refuseTaken)
    return jsonReply(201, tagProtectionObject(await protectionOf(context, grant, id)))
  },
})

/** Returns the pattern. Throws `bad_request` if it is empty, and `invalid` if it is malformed. */
async function patternOf(
  context: Context,
  { repository }: RepositoryGrant,
  text: string,
): Promise<string> {
  const pattern = text.trim()
  if (pattern === '') throw new Failure('bad_request', 'name_pattern is empty')
  await checkTagPattern(context, pattern, repository.owner.id)
  return pattern
}

/** Returns the lists that were sent. Only repositories of organizations have teams. */
async function allowedOf(
  { db }: Context,
  grant: RepositoryGrant,
  { whitelist_usernames: users, whitelist_teams: teams }: TagProtectionOption,
) {
  const hasTeams = grant.repository.owner.kind === 'organization'
  return {
    users: users && (await listedUsers(db, grant, users)),
    teams: teams && hasTeams ? await listedTeams(db, grant, teams) : undefined,
  }
}

function refuseTaken(error: unknown): never {
  if (!isFailure(error, 'conflict')) throw error
  throw new Failure('forbidden', error.message, { cause: error })
}

const edit = defineOperation({
  id: 'repoEditTagProtection',
  method: 'PATCH',
  path: '/repos/{owner}/{repo}/tag_protections/{id}',
  summary: 'Edit a tag protections for a repository. Only fields that are set will be changed',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: RULE_PARAMS,
  query: NO_QUERY,
  body: EDIT_TAG_PROTECTION_OPTION,
  success: { status: 200, schema: TAG_PROTECTION },
  failures: [400, 403, 404, 422, 423],
  async handle(context, { grant, params, body }) {
    actingUserOf(grant)
    const { id } = await protectionOf(context, grant, numberOf(params, 'id'))
    const { name_pattern: text } = body
    const namePattern = text === undefined ? undefined : await patternOf(context, grant, text)
    const allowed = await allowedOf(context, grant, body)
    await updateTagProtection(context.db, id, { namePattern, allowed }).catch(refuseTaken)
    return jsonReply(200, tagProtectionObject(await protectionOf(context, grant, id)))
  },
})

const remove = defineOperation({
  id: 'repoDeleteTagProtection',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/tag_protections/{id}',
  summary: 'Delete a specific tag protection for the repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: RULE_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  async handle({ db }, { grant, params }) {
    actingUserOf(grant)
    const isDeleted = await deleteTagProtection(db, grant.repository.id, numberOf(params, 'id'))
    if (!isDeleted) throw notFound()
    return { status: 204 }
  },
})

/** Returns the rule with that id. Throws `not_found`. */
async function protectionOf(
  { db }: Context,
  { repository }: RepositoryGrant,
  id: number,
): Promise<TagProtection> {
  const protections = await listTagProtections(db, repository.id)
  const found = protections.find((protection) => protection.id === id)
  if (found === undefined) throw notFound()
  return found
}

export const TAG_PROTECTION_OPERATIONS: readonly AnyOperation[] = [list, get, create, edit, remove]
