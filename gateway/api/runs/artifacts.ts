/** Artifacts of workflow runs over the API: list, read, download, delete. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import {
  type Artifact,
  deleteArtifact,
  findArtifact,
  listArtifacts,
} from '../../../sql/runs/artifacts.js'
import { refuseWithoutActions } from '../../actions/repositories/has-actions.js'
import type { Grants } from '../../auth/authorize.js'
import { readId } from '../../auth/refusals.js'
import { ARTIFACT, ARTIFACTS, artifactObjects } from '../../objects/runs/artifact-object.js'
import type { Context } from '../../request/context.js'
import { zipUrl } from '../../runs/artifact-uploads.js'
import { REPOSITORY_PARAMS } from '../issues/issue-params.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'
import { runOfId } from './run-of-id.js'

const PATH = '/repos/{owner}/{repo}/actions/artifacts'
const READING = {
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', area: 'actions' },
  scopes: ['read:repository'],
} as const
const ONE = {
  path: `${PATH}/{artifact_id}`,
  params: { ...REPOSITORY_PARAMS, artifact_id: 'id of the artifact' },
}
const QUERY = Type.Object({
  name: Type.Optional(Type.String({ description: 'name of the artifact' })),
  ...PAGE_QUERY,
})

interface Listing {
  readonly grant: Grants['repository']
  readonly query: { readonly name?: string; readonly page?: number; readonly limit?: number }
  /** Path of the list below that of the repository's Actions. */
  readonly path: string
  readonly runId?: number
}

async function listReply(context: Context, { grant, query, path, runId }: Listing) {
  const { id, owner, name: repositoryName } = grant.repository
  const page = pageOf(query)
  const name = query.name || undefined
  const found = await listArtifacts(context.db, { repositoryId: id, runId, name }, page)
  const { entries, total } = found
  return pageReply(context, await artifactObjects(context, grant, entries), {
    path: `/repos/${owner.name}/${repositoryName}/actions/${path}`,
    query: { name },
    page,
    total,
    wrap: (artifacts) => ({ total_count: total, artifacts }),
  })
}

const list = defineOperation({
  id: 'getArtifacts',
  method: 'GET',
  path: PATH,
  summary: 'Lists all artifacts for a repository',
  ...READING,
  params: REPOSITORY_PARAMS,
  query: QUERY,
  success: { status: 200, schema: ARTIFACTS },
  failures: [404],
  async handle(context, { grant, query }) {
    refuseWithoutActions(context, grant.repository)
    return await listReply(context, { grant, query, path: 'artifacts' })
  },
})

const listOfRun = defineOperation({
  id: 'getArtifactsOfRun',
  method: 'GET',
  path: '/repos/{owner}/{repo}/actions/runs/{run}/artifacts',
  summary: 'Lists all artifacts for a repository run',
  ...READING,
  params: { ...REPOSITORY_PARAMS, run: 'id of the run' },
  query: QUERY,
  success: { status: 200, schema: ARTIFACTS },
  failures: [404],
  async handle(context, { grant, params, query }) {
    const { id } = await runOfId(context, { grant, params })
    return await listReply(context, { grant, query, path: `runs/${id}/artifacts`, runId: id })
  },
})

const get = defineOperation({
  id: 'getArtifact',
  method: 'GET',
  ...ONE,
  summary: 'Gets a specific artifact for a workflow run',
  ...READING,
  query: NO_QUERY,
  success: { status: 200, schema: ARTIFACT },
  failures: [404],
  async handle(context, { grant, params }) {
    const artifact = await artifactOfId(context, { grant, params })
    const [object] = await artifactObjects(context, grant, [artifact])
    if (object === undefined) throw notFound()
    return jsonReply(200, object)
  },
})

const download = defineOperation({
  id: 'downloadArtifact',
  method: 'GET',
  path: `${ONE.path}/zip`,
  params: ONE.params,
  summary: 'Downloads a specific artifact for a workflow run redirects to blob url',
  ...READING,
  query: NO_QUERY,
  success: { status: 302, schema: null },
  failures: [404],
  async handle(context, { grant, params }) {
    const url = await zipUrl(context, await artifactOfId(context, { grant, params }))
    return { status: 302, headers: [['Location', url] as const, ['Cache-Control', 'no-store']] }
  },
})

const remove = defineOperation({
  id: 'deleteArtifact',
  method: 'DELETE',
  ...ONE,
  summary: 'Deletes a specific artifact for a workflow run',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'write', area: 'actions' },
  scopes: ['write:repository'],
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const { id } = await artifactOfId(context, { grant, params })
    await deleteArtifact(context.db, id)
    return { status: 204 }
  },
})

interface Named {
  readonly grant: Grants['repository']
  readonly params: Readonly<Record<string, string>>
}

/** Returns the complete artifact `{artifact_id}` of the repository. Throws `not_found`. */
async function artifactOfId(context: Context, { grant, params }: Named): Promise<Artifact> {
  refuseWithoutActions(context, grant.repository)
  const artifact = await findArtifact(context.db, readId(params['artifact_id'] ?? '') ?? 0)
  if (artifact?.repositoryId !== grant.repository.id || !artifact.isComplete) throw notFound()
  return artifact
}

export const ARTIFACT_OPERATIONS: readonly AnyOperation[] = [list, listOfRun, get, download, remove]
