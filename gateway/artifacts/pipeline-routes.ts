/** Artifacts of version 3 of the protocol: any number of files, each sent in pieces. */

import { Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { Failure, notFound } from '../../conf/failures.js'
import { joinParts, receivePart, serveArtifact } from '../../registry/artifacts.js'
import {
  type ArtifactPart,
  countFiles,
  dropParts,
  listParts,
} from '../../sql/runs/artifact-parts.js'
import {
  type Artifact,
  createArtifact,
  findArtifact,
  findFile,
  findUpload,
  listFiles,
  listRunArtifacts,
} from '../../sql/runs/artifacts.js'
import { mergeArtifact, tooManyFiles } from '../../sql/runs/merge-artifact.js'
import type { RunningTask } from '../../sql/runs/tasks.js'
import type { Context } from '../request/context.js'
import type { AnyRoute, Call, Route } from '../request/route.js'
import {
  ARTIFACTS_MAX,
  artifactExpiry,
  parseArtifactName,
  parseItemPath,
  uploadLimits,
} from '../runs/artifact-uploads.js'
import {
  jsonReply,
  PIPELINES,
  readMessage,
  refuseOtherRun,
  TASK_SURFACE,
} from './artifact-surface.js'

const ARTIFACTS = `${PIPELINES}/{run}/artifacts`
const FILES = `${ARTIFACTS}/{artifact}/files`

/** Maximum number of files of an artifact, and of listed artifacts. */
const FILES_MAX = 10_000
const LISTED_MAX = 1_000
const DAY_MS = 86_400_000

type Handler = (
  context: Context,
  call: Call<'task'> & { readonly query: URLSearchParams; readonly task: RunningTask },
) => ReturnType<Route<'task'>['handle']>

function routeOf(method: Route['method'], path: string, handle: Handler): AnyRoute {
  const route: Route<'task'> = {
    surface: TASK_SURFACE,
    method,
    path,
    access: { kind: 'task' },
    scopes: [],
    handle(context, call) {
      const { task } = call.grant
      refuseOtherRun(task, call.params['run'] ?? '')
      return handle(context, { ...call, task, query: new URLSearchParams(call.request.query) })
    },
  }
  return route
}

const NEW_ARTIFACT = Compile(
  Type.Object({
    Name: Type.String(),
    RetentionDays: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
  }),
)

const create = routeOf('POST', ARTIFACTS, async (context, { request, task }) => {
  const message = await readMessage(request)
  if (!NEW_ARTIFACT.Check(message)) throw new Failure('bad_request', 'The message is malformed.')
  const { Name, RetentionDays: days } = message as { Name: string; RetentionDays?: number }
  const requestedMs = days ? Date.now() + days * DAY_MS : undefined
  const id = await createArtifact(context.db, {
    task,
    name: parseArtifactName(Name),
    version: 3,
    expiresAtMs: artifactExpiry(context, requestedMs),
    countMax: ARTIFACTS_MAX,
  })
  return jsonReply(201, { fileContainerResourceUrl: filesUrl(context, task, id) })
})

function filesUrl({ settings }: Context, { runId }: RunningTask, id: number): string {
  return `${settings.http.baseUrl}${PIPELINES}/${runId}/artifacts/${id}/files`
}

const upload = routeOf('PUT', FILES, async (context, call) => {
  const { db, registry } = context
  const { request, query, task } = call
  const { headers, body, signal } = request
  const artifact = await namedArtifact(context, call)
  if (artifact.isComplete || artifact.taskId !== task.taskId) throw notFound()
  const path = parseItemPath(artifact.name, query.get('itemPath') ?? '')
  const range = readRange(headers.get('content-range') ?? '')
  const md5 = headers.get('x-actions-results-md5')
  if ((await countFiles(db, artifact.id)) >= FILES_MAX) throw tooManyFiles(FILES_MAX)
  const part = { artifact, path, name: String(range.start) }
  await receivePart(registry, part, {
    body,
    limits: uploadLimits(context),
    check: ({ bytes, digests }) => {
      if (bytes !== range.end - range.start) {
        throw new Failure('bad_request', `The piece has ${bytes} bytes, unlike its Content-Range.`)
      }
      if (md5 !== undefined && md5 !== Buffer.from(digests.md5, 'hex').toString('base64')) {
        throw new Failure('bad_request', 'The piece has another MD5 digest.')
      }
    },
  })
  const parts = completeParts(await listParts(db, artifact.id, path), range.total)
  if (parts !== undefined) {
    const isGzip = headers.get('content-encoding') === 'gzip'
    await joinParts(registry, { artifact, path, isGzip }, { parts, signal })
    await dropParts(db, artifact, path)
  }
  return jsonReply(200, { message: 'success' })
})

/** Returns the artifact of the task's run that the path names by its id. */
async function namedArtifact(
  { db }: Context,
  { params, task }: Parameters<Handler>[1],
): Promise<Artifact> {
  const id = params['artifact'] ?? ''
  const artifact = /^\d{1,15}$/.test(id) ? await findArtifact(db, Number(id)) : undefined
  if (artifact?.runId !== task.runId || artifact.version !== 3) throw notFound()
  return artifact
}

interface PieceRange {
  readonly start: number
  /** Offset after the last byte. */
  readonly end: number
  readonly total: number
}

/** Reads a Content-Range. That of an empty file is `bytes 0--1/0`. */
function readRange(text: string): PieceRange {
  const match = /^bytes (\d{1,13})-(\d{1,13}|-1)\/(\d{1,13})$/.exec(text)
  const [start, last, total] = (match ?? []).slice(1).map(Number)
  const end = (last ?? 0) + 1
  if (start === undefined || total === undefined || start > end || end > total) {
    throw new Failure('bad_request', `The Content-Range '${text.slice(0, 80)}' is malformed.`)
  }
  return { start, end, total }
}

/** Returns the parts in their order if they are the whole file. */
function completeParts(
  parts: readonly ArtifactPart[],
  total: number,
): readonly ArtifactPart[] | undefined {
  const ordered = [...parts].sort((one, other) => Number(one.name) - Number(other.name))
  let end = 0
  for (const { name, bytes } of ordered) {
    if (Number(name) !== end) return undefined
    end += bytes
  }
  return end === total ? ordered : undefined
}

const complete = routeOf('PATCH', ARTIFACTS, async ({ db }, { request, query, task }) => {
  // The size is that of the files before their compression, which is not stored.
  await readMessage(request)
  const found = await findUpload(db, task.taskId, query.get('artifactName') ?? '')
  if (found?.version !== 3) throw notFound()
  if (!found.isComplete) await mergeArtifact(db, found, FILES_MAX)
  return jsonReply(200, { message: 'success' })
})

const list = routeOf('GET', ARTIFACTS, async (context, { task }) => {
  const artifacts = await listRunArtifacts(context.db, task.runId, { limit: LISTED_MAX })
  const value = artifacts
    .filter(({ version }) => version === 3)
    .map(({ id, name }) => ({ name, fileContainerResourceUrl: filesUrl(context, task, id) }))
  return jsonReply(200, { count: value.length, value })
})

const listItems = routeOf('GET', FILES, async (context, call) => {
  const artifact = await completeArtifact(context, call)
  const files = await listFiles(context.db, [artifact.id])
  const address = filesUrl(context, call.task, artifact.id)
  const value = files.map(({ id, path, bytes }) => ({
    path: `${artifact.name}/${path}`,
    itemType: 'file',
    fileLength: bytes,
    contentLocation: `${address}/${id}`,
  }))
  return jsonReply(200, { count: files.length, value })
})

const download = routeOf('GET', `${FILES}/{file}`, async (context, call) => {
  const artifact = await completeArtifact(context, call)
  const id = call.params['file'] ?? ''
  const file = /^\d{1,15}$/.test(id) ? await findFile(context.db, Number(id)) : undefined
  if (file?.artifactId !== artifact.id) throw notFound()
  const name = file.path.slice(file.path.lastIndexOf('/') + 1)
  return await serveArtifact(context.registry, file, { request: call.request, name })
})

async function completeArtifact(context: Context, call: Parameters<Handler>[1]): Promise<Artifact> {
  const artifact = await namedArtifact(context, call)
  if (!artifact.isComplete) throw notFound()
  return artifact
}

export const PIPELINE_ROUTES: readonly AnyRoute[] = [
  create,
  upload,
  complete,
  list,
  listItems,
  download,
]
