/** Branch protection rules over the API, for administrators of the repository. */

import { Type } from 'typebox'
import { Failure, isFailure, notFound } from '../../../conf/failures.js'
import { parseGlob } from '../../../conf/lib/glob.js'
import {
  createProtection,
  deleteProtection,
  listProtections,
  orderProtections,
  type Protection,
  updateProtection,
} from '../../../sql/code/branch-protections.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { checkFilePatterns } from '../../actions/code/branch-judge.js'
import { isRuleName } from '../../actions/code/branch-rules.js'
import {
  BRANCH_PROTECTION,
  CREATE_BRANCH_PROTECTION_OPTION,
  DEFAULT_SETTINGS,
  EDIT_BRANCH_PROTECTION_OPTION,
  type ProtectionOption,
  protectionObject,
  sentSettings,
} from '../../objects/code/branch-protection-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'
import { protectionLists } from './branch-protection-lists.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }
const RULE_PARAMS = { ...REPOSITORY_PARAMS, name: 'name of protected branch' }
const ACCESS = { kind: 'repository', mode: 'admin' } as const

const list = defineOperation({
  id: 'repoListBranchProtection',
  method: 'GET',
  path: '/repos/{owner}/{repo}/branch_protections',
  summary: 'List branch protections for a repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(BRANCH_PROTECTION) },
  failures: [403, 404],
  async handle({ db }, { grant }) {
    const protections = await listProtections(db, grant.repository.id)
    return jsonReply(200, protections.map(protectionObject))
  },
})

const get = defineOperation({
  id: 'repoGetBranchProtection',
  method: 'GET',
  path: '/repos/{owner}/{repo}/branch_protections/{name...}',
  summary: 'Get a specific branch protection for the repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['read:repository'],
  params: RULE_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: BRANCH_PROTECTION },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const name = params['name'] ?? ''
    return jsonReply(200, protectionObject(await protectionOf(context, grant.repository, name)))
  },
})

const create = defineOperation({
  id: 'repoCreateBranchProtection',
  method: 'POST',
  path: '/repos/{owner}/{repo}/branch_protections',
  summary: 'Create a branch protections for a repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: CREATE_BRANCH_PROTECTION_OPTION,
  success: { status: 201, schema: BRANCH_PROTECTION },
  failures: [400, 403, 404, 422, 423],
  async handle(context, { grant, body }) {
    actingUserOf(grant)
    const { repository } = grant
    const ruleName = ruleNameOf(body)
    refuseMalformed(body)
    await createProtection(context.db, {
      repositoryId: repository.id,
      ruleName,
      priority: body.priority ?? 0,
      settings: { ...DEFAULT_SETTINGS, ...sentSettings(body) },
      lists: await protectionLists(context.db, grant, body),
    }).catch((error: unknown) => {
      if (!isFailure(error, 'conflict')) throw error
      throw new Failure('forbidden', error.message, { cause: error })
    })
    return jsonReply(201, protectionObject(await protectionOf(context, repository, ruleName)))
  },
})

/**
 * Returns the name of the rule. Throws `bad_request` if there is none, and `invalid` if it is
 * neither a branch name nor a valid pattern.
 */
function ruleNameOf({
  rule_name,
  branch_name,
}: {
  readonly rule_name?: string
  readonly branch_name?: string
}): string {
  const name = rule_name || branch_name
  if (!name) throw new Failure('bad_request', 'both rule_name and branch_name are empty')
  if (isRuleName(name) && !/[\p{Cc}\p{Cs}]/u.test(name)) return name
  throw new Failure('invalid', 'rule_name is not a valid branch name or pattern.')
}

/** Throws `invalid` for patterns that cannot be parsed. */
function refuseMalformed(body: ProtectionOption): void {
  checkFilePatterns(body.protected_file_patterns ?? '')
  checkFilePatterns(body.unprotected_file_patterns ?? '')
  for (const pattern of body.status_check_contexts ?? []) {
    if (parseGlob(pattern) !== undefined) continue
    throw new Failure('invalid', `status_check_contexts has an invalid pattern: ${pattern}`)
  }
}

const edit = defineOperation({
  id: 'repoEditBranchProtection',
  method: 'PATCH',
  path: '/repos/{owner}/{repo}/branch_protections/{name...}',
  summary: 'Edit a branch protections for a repository. Only fields that are set will be changed',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: RULE_PARAMS,
  query: NO_QUERY,
  body: EDIT_BRANCH_PROTECTION_OPTION,
  success: { status: 200, schema: BRANCH_PROTECTION },
  failures: [403, 404, 422, 423],
  async handle(context, { grant, params, body }) {
    actingUserOf(grant)
    const { repository } = grant
    const name = params['name'] ?? ''
    const { id } = await protectionOf(context, repository, name)
    refuseMalformed(body)
    await updateProtection(context.db, id, {
      settings: sentSettings(body),
      priority: body.priority,
      lists: await protectionLists(context.db, grant, body),
    })
    return jsonReply(200, protectionObject(await protectionOf(context, repository, name)))
  },
})

const remove = defineOperation({
  id: 'repoDeleteBranchProtection',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/branch_protections/{name...}',
  summary: 'Delete a specific branch protection for the repository',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: RULE_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404, 423],
  async handle({ db }, { grant, params }) {
    actingUserOf(grant)
    if (await deleteProtection(db, grant.repository.id, params['name'] ?? '')) {
      return { status: 204 }
    }
    throw notFound()
  },
})

const UPDATE_BRANCH_PROTECTION_PRIORIES = Type.Object(
  { ids: Type.Optional(Type.Array(Type.Integer(), { maxItems: 100 })) },
  { $id: 'UpdateBranchProtectionPriories' },
)

const order = defineOperation({
  id: 'repoUpdateBranchProtectionPriories',
  method: 'POST',
  path: '/repos/{owner}/{repo}/branch_protections/priority',
  summary: 'Update the priorities of branch protections for a repository.',
  tags: ['repository'],
  access: ACCESS,
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: UPDATE_BRANCH_PROTECTION_PRIORIES,
  success: { status: 204, schema: null },
  failures: [403, 404, 422, 423],
  async handle({ db }, { grant, body }) {
    actingUserOf(grant)
    await orderProtections(db, grant.repository.id, body.ids ?? [])
    return { status: 204 }
  },
})

/** Returns the rule with exactly that name. Throws `not_found`. */
async function protectionOf(
  { db }: Context,
  repository: Repository,
  name: string,
): Promise<Protection> {
  const protections = await listProtections(db, repository.id)
  const found = protections.find(({ ruleName }) => ruleName === name)
  if (found === undefined) throw notFound()
  return found
}

export const BRANCH_PROTECTION_OPERATIONS: readonly AnyOperation[] = [
  list,
  get,
  create,
  edit,
  remove,
  order,
]
