/** Releases over the API: list, read, create, edit, delete. */

import { type Static, Type } from 'typebox'
import { Failure, notFound } from '../../../conf/failures.js'
import { parseTagName } from '../../../conf/names.js'
import {
  createRelease,
  deleteRelease,
  findReleaseByTag,
  type Release,
  type ReleasePatch,
  tagExistsMessage,
  updateRelease,
} from '../../../sql/releases/releases.js'
import { actingUserOf } from '../../actions/code/acting-user.js'
import { makeTag, refuseEmpty } from '../../actions/code/make-tag.js'
import { releaseChanged } from '../../actions/releases/release-changed.js'
import {
  latestRelease,
  listVisibleReleases,
  refuseWithoutReleases,
  releaseOfId,
  releaseOfTag,
} from '../../actions/releases/visible-releases.js'
import type { Grants } from '../../auth/authorize.js'
import { RELEASE, releaseObject, releaseObjects } from '../../objects/releases/release-object.js'
import type { Context } from '../../request/context.js'
import { REPOSITORY_PARAMS } from '../issues/issue-params.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const ID_PARAMS = { ...REPOSITORY_PARAMS, id: 'id of the release' }
const TAG_PARAMS = { ...REPOSITORY_PARAMS, tag: 'tag name of the release' }

const NAME_CHARACTERS_MAX = 255

const EDIT_FIELDS = {
  target_commitish: Type.Optional(Type.String({ maxLength: NAME_CHARACTERS_MAX })),
  name: Type.Optional(Type.String({ maxLength: NAME_CHARACTERS_MAX })),
  body: Type.Optional(Type.String()),
  draft: Type.Optional(Type.Boolean()),
  prerelease: Type.Optional(Type.Boolean()),
}

const CREATE_RELEASE_OPTION = Type.Object(
  {
    tag_name: Type.String({ minLength: 1 }),
    tag_message: Type.Optional(Type.String()),
    ...EDIT_FIELDS,
  },
  { $id: 'CreateReleaseOption' },
)

const EDIT_RELEASE_OPTION = Type.Object(
  { tag_name: Type.Optional(Type.String()), ...EDIT_FIELDS },
  { $id: 'EditReleaseOption' },
)

const list = defineOperation({
  id: 'repoListReleases',
  method: 'GET',
  path: '/repos/{owner}/{repo}/releases',
  summary: "List a repo's releases",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'releases' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object({
    draft: Type.Optional(
      Type.Boolean({
        description: 'filter (exclude / include) drafts, which only users with write access see',
      }),
    ),
    'pre-release': Type.Optional(
      Type.Boolean({ description: 'filter (exclude / include) pre-releases' }),
    ),
    ...PAGE_QUERY,
  }),
  success: { status: 200, schema: Type.Array(RELEASE) },
  dependsOn: 'rows',
  failures: [404],
  async handle(context, { grant, query }) {
    const { repository } = grant
    const { draft, 'pre-release': isPrerelease } = query
    const page = pageOf(query)
    const path = `/repos/${repository.owner.name}/${repository.name}/releases`
    const reply = { path, page, query: textOf({ draft, 'pre-release': isPrerelease }) }
    const input = { isDraft: draft, isPrerelease, page }
    const { entries, total } = await listVisibleReleases(context, grant, input)
    return pageReply(context, await releaseObjects(context, grant, entries), { ...reply, total })
  },
})

/** Returns query parameters as texts, which the links to the other pages repeat. */
function textOf(query: Readonly<Record<string, boolean | undefined>>) {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, value?.toString()]))
}

const create = defineOperation({
  id: 'repoCreateRelease',
  method: 'POST',
  path: '/repos/{owner}/{repo}/releases',
  summary: 'Create a release',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write', unit: 'releases', changesGit: true },
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: CREATE_RELEASE_OPTION,
  success: { status: 201, schema: RELEASE },
  failures: [403, 404, 409, 422],
  async handle(context, { grant, body }) {
    const { repository } = grant
    refuseWithoutReleases(repository)
    const writer = actingUserOf(grant)
    const tagName = parseTagName(body.tag_name)
    await refuseEmpty(context, repository)
    if ((await findReleaseByTag(context.db, repository.id, tagName)) !== undefined) {
      throw new Failure('conflict', tagExistsMessage(tagName))
    }
    const { draft: isDraft = false, prerelease: isPrerelease = false } = body
    const { name: title = '', body: text = '', tag_message: tagMessage = '' } = body
    const target = body.target_commitish || repository.defaultBranch
    // The tag is created first: a release without its tag would be wrong, but a tag without a
    // release is valid and can be used by a later release.
    if (!isDraft) {
      await makeTag(context, {
        repository,
        name: tagName,
        target,
        message: tagMessage,
        tagger: writer,
        codeMode: grant.modes.code,
      })
    }
    const release = await createRelease(context.db, {
      repositoryId: repository.id,
      tagName,
      target,
      title,
      body: text,
      tagMessage,
      isDraft,
      isPrerelease,
      authorId: writer.id,
    })
    await releaseChanged(context, { action: 'published', repository, release, actor: writer })
    return jsonReply(201, await releaseObject(context, grant, release))
  },
})

const latest = defineOperation({
  id: 'repoGetLatestRelease',
  method: 'GET',
  path: '/repos/{owner}/{repo}/releases/latest',
  summary: 'Gets the most recent non-prerelease, non-draft release of a repository',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'releases' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: RELEASE },
  dependsOn: 'rows',
  failures: [404],
  async handle(context, { grant }) {
    const release = await latestRelease(context, grant)
    return jsonReply(200, await releaseObject(context, grant, release))
  },
})

const get = defineOperation({
  id: 'repoGetRelease',
  method: 'GET',
  path: '/repos/{owner}/{repo}/releases/{id}',
  summary: 'Get a release',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'releases' },
  scopes: ['read:repository'],
  params: ID_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: RELEASE },
  dependsOn: 'rows',
  failures: [404],
  async handle(context, { grant, params }) {
    const release = await releaseOfId(context, grant, params)
    return jsonReply(200, await releaseObject(context, grant, release))
  },
})

const getByTag = defineOperation({
  id: 'repoGetReleaseByTag',
  method: 'GET',
  path: '/repos/{owner}/{repo}/releases/tags/{tag...}',
  summary: 'Get a release by tag name',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'releases' },
  scopes: ['read:repository'],
  params: TAG_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: RELEASE },
  dependsOn: 'rows',
  failures: [404],
  async handle(context, { grant, params }) {
    const release = await releaseOfTag(context, grant, params['tag'] ?? '')
    return jsonReply(200, await releaseObject(context, grant, release))
  },
})

const edit = defineOperation({
  id: 'repoEditRelease',
  method: 'PATCH',
  path: '/repos/{owner}/{repo}/releases/{id}',
  summary: 'Update a release',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write', unit: 'releases', changesGit: true },
  scopes: ['write:repository'],
  params: ID_PARAMS,
  query: NO_QUERY,
  body: EDIT_RELEASE_OPTION,
  success: { status: 200, schema: RELEASE },
  failures: [403, 404, 409, 422],
  async handle(context, { grant, params, body }) {
    const { repository } = grant
    const before = await releaseOfId(context, grant, params)
    const writer = actingUserOf(grant)
    const patch = patchOf(before, body)
    const { isDraft, target, tagName: name } = { ...before, ...patch }
    if (!isDraft) {
      if (name !== before.tagName) await refuseTaken(context, repository.id, name)
      const message = before.tagMessage
      const codeMode = grant.modes.code
      await makeTag(context, { repository, name, target, message, tagger: writer, codeMode })
    }
    const release = await updateRelease(context.db, before, patch)
    if (release === undefined) throw notFound()
    const action = before.isDraft ? 'published' : 'updated'
    await releaseChanged(context, { action, repository, release, actor: writer })
    return jsonReply(200, await releaseObject(context, grant, release))
  },
})

/** Returns the changes of a release; empty fields are left unchanged. */
function patchOf(before: Release, body: Static<typeof EDIT_RELEASE_OPTION>) {
  const isPublished = before.isDraft && body.draft === false
  const patch = {
    tagName: body.tag_name ? parseTagName(body.tag_name) : undefined,
    target: body.target_commitish || undefined,
    title: body.name || undefined,
    body: body.body || undefined,
    isDraft: body.draft,
    isPrerelease: body.prerelease,
    publishedAtMs: isPublished ? Date.now() : undefined,
  } satisfies ReleasePatch
  return Object.fromEntries(
    Object.entries(patch).filter(([, value]) => value !== undefined),
  ) as Partial<Release>
}

/**
 * Throws `conflict` if another release has the tag, before the tag is created in the repository.
 */
async function refuseTaken(context: Context, repositoryId: number, tagName: string): Promise<void> {
  if ((await findReleaseByTag(context.db, repositoryId, tagName)) === undefined) return
  throw new Failure('conflict', tagExistsMessage(tagName))
}

const remove = defineOperation({
  id: 'repoDeleteRelease',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/releases/{id}',
  summary: 'Delete a release',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write', unit: 'releases' },
  scopes: ['write:repository'],
  params: ID_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    return await removeRelease(context, grant, await releaseOfId(context, grant, params))
  },
})

const removeByTag = defineOperation({
  id: 'repoDeleteReleaseByTag',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/releases/tags/{tag...}',
  summary: 'Delete a release by tag name',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write', unit: 'releases' },
  scopes: ['write:repository'],
  params: TAG_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const release = await releaseOfTag(context, grant, params['tag'] ?? '')
    return await removeRelease(context, grant, release)
  },
})

/** Deletes a release, but not its tag, which belongs to the repository. */
async function removeRelease(context: Context, grant: Grants['repository'], release: Release) {
  const actor = actingUserOf(grant)
  if (!(await deleteRelease(context.db, release.id))) throw notFound()
  const { repository } = grant
  await releaseChanged(context, { action: 'deleted', repository, release, actor })
  return { status: 204 }
}

export const RELEASE_OPERATIONS: readonly AnyOperation[] = [
  list,
  create,
  latest,
  get,
  getByTag,
  edit,
  remove,
  removeByTag,
]
