/** Tags over the API: list and read, by name or as annotated tag objects. */

import { Type } from 'typebox'
import { parseTag } from '../../../cgi/objects/commit-object.js'
import { pageOfReferences } from '../../../cgi/refs/known-references.js'
import { findObject } from '../../../cgi/refs/revision.js'
import { Failure, notFound } from '../../../conf/failures.js'
import { offsetOf } from '../../../sql/database/page.js'
import { readGit } from '../../actions/code/git-reader.js'
import { ANNOTATED_TAG, annotatedTagObject, TAG, tagObject } from '../../objects/code/tag-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }

const PREFIX = 'refs/tags/'

const list = defineOperation({
  id: 'repoListTags',
  method: 'GET',
  path: '/repos/{owner}/{repo}/tags',
  summary: "List a repository's tags",
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: Type.Array(TAG) },
  dependsOn: 'repository',
  failures: [404],
  async handle(context, { grant, query, request: { signal } }) {
    const { repository } = grant
    const page = pageOf(query)
    const part = { offset: offsetOf(page), limit: page.limit, order: 'newest', signal } as const
    const { entries, total } = await readGit(context, grant, async ({ git, path, objects }) => {
      const found = await pageOfReferences(git, path, { namespaces: ['refs/tags'], ...part })
      const tags = await Promise.all(
        found.entries.map(async ({ id, name }) => {
          // If the object cannot be read, the tag is listed with the object's id alone.
          const object = (await objects.read(id)) ?? { ...MISSING, id }
          return tagObject(context, repository, { name: name.slice(PREFIX.length), object })
        }),
      )
      return { entries: tags, total: found.total }
    })
    const path = `/repos/${repository.owner.name}/${repository.name}/tags`
    return pageReply(context, entries, { path, page, total })
  },
})

const MISSING = { type: 'blob', sizeBytes: 0, content: undefined } as const

const get = defineOperation({
  id: 'repoGetTag',
  method: 'GET',
  path: '/repos/{owner}/{repo}/tags/{tag...}',
  summary: 'Get the tag of a repository by tag name',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: { ...REPOSITORY_PARAMS, tag: 'name of tag' },
  query: NO_QUERY,
  success: { status: 200, schema: TAG },
  dependsOn: 'repository',
  failures: [404],
  async handle(context, { grant, params }) {
    const name = params['tag'] ?? ''
    const object = await readGit(context, grant, ({ objects }) =>
      findObject(objects, PREFIX + name),
    )
    if (object === undefined) throw notFound()
    return jsonReply(200, tagObject(context, grant.repository, { name, object }))
  },
})

const getAnnotated = defineOperation({
  id: 'GetAnnotatedTag',
  method: 'GET',
  path: '/repos/{owner}/{repo}/git/tags/{sha}',
  summary: 'Gets the tag object of an annotated tag (not lightweight tags)',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: {
    ...REPOSITORY_PARAMS,
    sha: 'sha of the tag. The Git tags API only supports annotated tag objects, not lightweight tags.',
  },
  query: NO_QUERY,
  success: { status: 200, schema: ANNOTATED_TAG },
  failures: [400, 404],
  async handle(context, { grant, params }) {
    const object = await readGit(context, grant, ({ objects }) =>
      findObject(objects, params['sha'] ?? ''),
    )
    if (object === undefined) throw notFound()
    if (object.type !== 'tag' || object.content === undefined) {
      throw new Failure('bad_request', 'The object is not an annotated tag.')
    }
    const tag = parseTag(object.id, object.content)
    return jsonReply(200, await annotatedTagObject(context, grant, tag))
  },
})

export const TAG_READING_OPERATIONS: readonly AnyOperation[] = [list, get, getAnnotated]
