/** Repositories over the API: list, create, read, edit, delete. */

import { Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import { listRepositoriesOf } from '../../../sql/repositories/repository-lists.js'
import { makeRepository } from '../../actions/repositories/create-repository.js'
import { deleteWholeRepository } from '../../actions/repositories/delete-repository.js'
import {
  DESCRIPTION_CHARACTERS_MAX,
  editRepository,
  type RepositoryInput,
  WEBSITE_CHARACTERS_MAX,
} from '../../actions/repositories/edit-repository.js'
import {
  PREFERENCES,
  REPOSITORY_OBJECT,
  repositoryObject,
  repositoryObjects,
  visibleRepositoryObject,
} from '../../objects/repositories/repository-object.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { mirrorIntervalOf } from './migrations.js'

const DEFAULT_BRANCH = 'main'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

export const CREATE_REPO_OPTION = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100 }),
    description: Type.Optional(Type.String({ maxLength: DESCRIPTION_CHARACTERS_MAX })),
    private: Type.Optional(Type.Boolean()),
    auto_init: Type.Optional(Type.Boolean()),
    default_branch: Type.Optional(Type.String({ maxLength: 100 })),
    gitignores: Type.Optional(Type.String()),
    issue_labels: Type.Optional(Type.String()),
    license: Type.Optional(Type.String()),
    readme: Type.Optional(Type.String()),
    template: Type.Optional(Type.Boolean()),
    trust_model: Type.Optional(
      Type.Enum(['', 'default', 'collaborator', 'committer', 'collaboratorcommitter']),
    ),
    object_format_name: Type.Optional(Type.Enum(['', 'sha1', 'sha256'])),
  },
  { $id: 'CreateRepoOption' },
)

const OPTIONAL_PREFERENCES = Type.Partial(Type.Object(PREFERENCES)).properties

const EDIT_REPO_OPTION = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    description: Type.Optional(Type.String({ maxLength: DESCRIPTION_CHARACTERS_MAX })),
    website: Type.Optional(Type.String({ maxLength: WEBSITE_CHARACTERS_MAX })),
    private: Type.Optional(Type.Boolean()),
    template: Type.Optional(Type.Boolean()),
    archived: Type.Optional(Type.Boolean()),
    default_branch: Type.Optional(Type.String({ maxLength: 100 })),
    mirror_interval: Type.Optional(Type.String()),
    ...OPTIONAL_PREFERENCES,
  },
  { $id: 'EditRepoOption' },
)

const listOwn = defineOperation({
  id: 'userCurrentListRepos',
  method: 'GET',
  path: '/user/repos',
  summary: 'List the repos that the authenticated user owns',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user', 'read:repository'],
  params: {},
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(REPOSITORY_OBJECT) },
  failures: [],
  async handle(context, { grant, query }) {
    const page = pageOf(query)
    const { entries, total } = await listRepositoriesOf(context.db, grant.user.id, page)
    const objects = await repositoryObjects(context, entries, grant.who)
    return pageReply(context, objects, { path: '/user/repos', page, total })
  },
})

type CreateRepoOption = Type.Static<typeof CREATE_REPO_OPTION>

/** Creates the repository that `body` describes and replies with its object. */
export async function createRepositoryOf(
  context: Context,
  body: CreateRepoOption,
  { owner, creator }: { readonly owner: Owner; readonly creator: User },
) {
  if (body.readme && body.readme !== 'Default') {
    throw new Failure('bad_request', `There is no readme template ${body.readme}, only: Default.`)
  }
  const repository = await makeRepository(context, {
    owner,
    creator,
    name: body.name,
    description: body.description ?? '',
    isPrivate: body.private ?? false,
    isTemplate: body.template ?? false,
    defaultBranch: body.default_branch || DEFAULT_BRANCH,
    objectFormat: body.object_format_name || 'sha1',
    hasReadme: body.auto_init ?? false,
    templates: {
      gitignores: body.gitignores ?? '',
      license: body.license ?? '',
      labels: body.issue_labels ?? '',
    },
  })
  return jsonReply(201, await repositoryObject(context, repository, 'owner'))
}

const createOwn = defineOperation({
  id: 'createCurrentUserRepo',
  method: 'POST',
  path: '/user/repos',
  summary: 'Create a repository',
  tags: ['repository', 'user'],
  access: { kind: 'signed-in' },
  scopes: ['write:repository'],
  params: {},
  query: NO_QUERY,
  body: CREATE_REPO_OPTION,
  success: { status: 201, schema: REPOSITORY_OBJECT },
  failures: [400, 409, 422],
  handle: (context, { grant, body }) =>
    createRepositoryOf(context, body, { owner: grant.user, creator: grant.user }),
})

const createInOrganization = defineCreateInOrganization({
  id: 'createOrgRepo',
  path: '/orgs/{org}/repos',
  summary: 'Create a repository in an organization',
})

/** Path of early releases of Gitea, which some clients still use. */
const createAtFormerPath = defineCreateInOrganization({
  id: 'createOrgRepoDeprecated',
  path: '/org/{org}/repos',
  summary: 'Create a repository in an organization, by a deprecated path',
})

function defineCreateInOrganization(
  place: Pick<AnyOperation, 'id' | 'path' | 'summary'>,
): AnyOperation {
  return defineOperation({
    ...place,
    method: 'POST',
    tags: ['organization'],
    access: { kind: 'organization-repositories' },
    scopes: ['write:organization'],
    params: { org: 'name of organization' },
    query: NO_QUERY,
    body: CREATE_REPO_OPTION,
    success: { status: 201, schema: REPOSITORY_OBJECT },
    failures: [400, 403, 404, 409, 422],
    handle: (context, { grant, body }) =>
      createRepositoryOf(context, body, { owner: grant.organization, creator: grant.user }),
  })
}

const get = defineOperation({
  id: 'repoGet',
  method: 'GET',
  path: '/repos/{owner}/{repo}',
  summary: 'Get a repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'any' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: REPOSITORY_OBJECT },
  dependsOn: 'repository',
  failures: [404],
  handle: async (context, { grant }) =>
    jsonReply(200, await visibleRepositoryObject(context, grant)),
})

const getById = defineOperation({
  id: 'repoGetByID',
  method: 'GET',
  path: '/repositories/{id}',
  summary: 'Get a repository by id',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'any', isById: true },
  scopes: ['read:repository'],
  params: { id: 'id of the repo to get' },
  query: NO_QUERY,
  success: { status: 200, schema: REPOSITORY_OBJECT },
  failures: [404],
  handle: async (context, { grant }) =>
    jsonReply(200, await visibleRepositoryObject(context, grant)),
})

const edit = defineOperation({
  id: 'repoEdit',
  method: 'PATCH',
  path: '/repos/{owner}/{repo}',
  summary: "Edit a repository's properties. Only fields that are set will be changed.",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: EDIT_REPO_OPTION,
  success: { status: 200, schema: REPOSITORY_OBJECT },
  failures: [403, 404, 409, 422],
  async handle(context, { grant, body }) {
    const changed = await editRepository(context, grant.repository, inputOf(context, body))
    return jsonReply(200, await repositoryObject(context, changed, grant.modes))
  },
})

function inputOf(
  { settings }: Context,
  { mirror_interval: interval, ...body }: Type.Static<typeof EDIT_REPO_OPTION>,
): RepositoryInput {
  const preferences = Object.fromEntries(
    Object.entries(body).filter(([name]) => Object.hasOwn(PREFERENCES, name)),
  )
  return {
    mirrorIntervalMs:
      interval === undefined ? undefined : mirrorIntervalOf(settings.migrations, interval),
    name: body.name,
    description: body.description,
    website: body.website,
    isPrivate: body.private,
    isTemplate: body.template,
    isArchived: body.archived,
    defaultBranch: body.default_branch,
    preferences,
  }
}

const remove = defineOperation({
  id: 'repoDelete',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}',
  summary: 'Delete a repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'owner' },
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant }) {
    const { repository, user } = grant
    await deleteWholeRepository(context, { repository, actor: user ?? repository.owner })
    return { status: 204 }
  },
})

export const REPOSITORY_OPERATIONS: readonly AnyOperation[] = [
  listOwn,
  createOwn,
  createInOrganization,
  createAtFormerPath,
  get,
  getById,
  edit,
  remove,
]
