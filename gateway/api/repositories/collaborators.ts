/** Collaborators of repositories over the API: list, check, add, remove, and read permissions. */

import { Type } from 'typebox'
import { Failure, notFound } from '../../../conf/failures.js'
import { accessToRepository, atLeast } from '../../../sql/repositories/access.js'
import {
  COLLABORATOR_MODES,
  isCollaborator,
  listCollaborators,
} from '../../../sql/repositories/collaborators.js'
import {
  addCollaborator,
  type CollaboratorInput,
  deleteCollaborator,
} from '../../actions/repositories/change-collaborators.js'
import type { Grants } from '../../auth/authorize.js'
import { viewerOf } from '../../auth/refusals.js'
import { findVisibleUser } from '../../auth/visible-owner.js'
import { USER_OBJECT, userObject } from '../../objects/accounts/user-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }
const COLLABORATOR_PARAMS = { ...REPOSITORY_PARAMS, collaborator: 'username of the collaborator' }

const READ = { kind: 'repository', mode: 'read', unit: 'any', isSignedIn: true } as const
const ADMIN = { kind: 'repository', mode: 'admin' } as const

const list = defineOperation({
  id: 'repoListCollaborators',
  method: 'GET',
  path: '/repos/{owner}/{repo}/collaborators',
  summary: "List a repository's collaborators",
  tags: ['repository'],
  access: READ,
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(USER_OBJECT) },
  failures: [404],
  async handle(context, { grant, query }) {
    const page = pageOf(query)
    const { repository, user, who } = grant
    const search = { repositoryId: repository.id, viewer: viewerOf(who) }
    const { entries, total } = await listCollaborators(context.db, search, page)
    const objects = entries.map((entry) => userObject(context, entry, user))
    const path = `/repos/${repository.owner.name}/${repository.name}/collaborators`
    return pageReply(context, objects, { path, page, total })
  },
})

const check = defineOperation({
  id: 'repoCheckCollaborator',
  method: 'GET',
  path: '/repos/{owner}/{repo}/collaborators/{collaborator}',
  summary: 'Check if a user is a collaborator of a repository',
  tags: ['repository'],
  access: READ,
  scopes: ['read:repository'],
  params: COLLABORATOR_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [404],
  async handle({ db }, { grant, params }) {
    const user = await findVisibleUser(db, params['collaborator'] ?? '', grant.user)
    if (await isCollaborator(db, grant.repository.id, user.id)) return { status: 204 }
    throw notFound()
  },
})

const ADD_COLLABORATOR_OPTION = Type.Object(
  { permission: Type.Optional(Type.Enum([...COLLABORATOR_MODES])) },
  { $id: 'AddCollaboratorOption' },
)

const add = defineOperation({
  id: 'repoAddCollaborator',
  method: 'PUT',
  path: '/repos/{owner}/{repo}/collaborators/{collaborator}',
  summary: "Add or Update a collaborator's access to a repository",
  tags: ['repository'],
  access: ADMIN,
  scopes: ['write:repository'],
  params: COLLABORATOR_PARAMS,
  query: NO_QUERY,
  body: ADD_COLLABORATOR_OPTION,
  success: { status: 204, schema: null },
  failures: [403, 404, 422],
  async handle({ db }, { grant, params, body }) {
    const mode = body.permission ?? 'write'
    await addCollaborator(db, { ...inputOf(grant, params), mode })
    return { status: 204 }
  },
})

const remove = defineOperation({
  id: 'repoDeleteCollaborator',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/collaborators/{collaborator}',
  summary: 'Delete a collaborator from a repository',
  tags: ['repository'],
  access: ADMIN,
  scopes: ['write:repository'],
  params: COLLABORATOR_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle({ db }, { grant, params }) {
    await deleteCollaborator(db, inputOf(grant, params))
    return { status: 204 }
  },
})

function inputOf(
  { repository, user }: Grants['repository'],
  params: Readonly<Record<string, string>>,
): CollaboratorInput {
  return { repository, viewer: user, name: params['collaborator'] ?? '' }
}

const REPO_COLLABORATOR_PERMISSION = Type.Object(
  { permission: Type.String(), role_name: Type.String(), user: USER_OBJECT },
  { $id: 'RepoCollaboratorPermission' },
)

const getPermission = defineOperation({
  id: 'repoGetRepoPermissions',
  method: 'GET',
  path: '/repos/{owner}/{repo}/collaborators/{collaborator}/permission',
  summary: 'Get repository permissions for a user',
  tags: ['repository'],
  access: READ,
  scopes: ['read:repository'],
  params: COLLABORATOR_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: REPO_COLLABORATOR_PERMISSION },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const name = params['collaborator'] ?? ''
    const isOwn = grant.user?.name.toLowerCase() === name.toLowerCase()
    if (!isOwn && !atLeast(grant.mode, 'admin')) throw new Failure('forbidden', OWN_ONLY)
    const user = await findVisibleUser(context.db, name, grant.user)
    const { any: mode } = await accessToRepository(context.db, user, grant.repository)
    return jsonReply(200, {
      permission: mode,
      role_name: mode,
      user: userObject(context, user, grant.user),
    })
  },
})

const OWN_ONLY =
  'Only admins can query all permissions, repo admins can query all repo permissions, ' +
  'collaborators can query only their own'

export const COLLABORATOR_OPERATIONS: readonly AnyOperation[] = [
  list,
  check,
  add,
  remove,
  getPermission,
]
