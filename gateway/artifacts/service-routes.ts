/** Service for artifacts of GitHub's protocol, version 4: Twirp calls in JSON form. */

import { type Static, type TObject, Type } from 'typebox'
import { Compile } from 'typebox/schema'
import { Failure, notFound } from '../../conf/failures.js'
import {
  type Artifact,
  type ArtifactFile,
  completeArtifact,
  createArtifact,
  deleteArtifact,
  findUpload,
  listFiles,
  listRunArtifacts,
} from '../../sql/runs/artifacts.js'
import type { RunningTask } from '../../sql/runs/tasks.js'
import type { Context } from '../request/context.js'
import type { AnyRoute, Route } from '../request/route.js'
import {
  ARTIFACT_SERVICE_PATH,
  ARTIFACTS_MAX,
  artifactExpiry,
  artifactUrl,
  parseArtifactName,
  zipUrl,
} from '../runs/artifact-uploads.js'
import { jsonReply, readMessage, refuseOtherRun, TASK_SURFACE } from './artifact-surface.js'

/** Maximum number of listed artifacts; clients read no more. */
const LISTED_MAX = 1_000

/** Id of the run, which must be that of the token. The id of the job is not read. */
const RUN = { workflow_run_backend_id: Type.String({ maxLength: 20 }) }

interface ServiceCall<I> {
  readonly task: RunningTask
  readonly input: I
}

function procedure<S extends TObject>(
  name: string,
  schema: S,
  handle: (context: Context, call: ServiceCall<Static<S>>) => Promise<object>,
): AnyRoute {
  const validator = Compile(schema)
  const route: Route<'task'> = {
    surface: TASK_SURFACE,
    method: 'POST',
    path: `${ARTIFACT_SERVICE_PATH}/${name}`,
    access: { kind: 'task' },
    scopes: [],
    async handle(context, { request, grant: { task } }) {
      const input = await readMessage(request)
      if (!validator.Check(input)) {
        throw new Failure('bad_request', `The message of ${name} is malformed.`)
      }
      const { workflow_run_backend_id: runId } = input as Static<TObject<typeof RUN>>
      refuseOtherRun(task, runId)
      return jsonReply(200, await handle(context, { task, input: input as Static<S> }))
    },
  }
  return route
}

const create = procedure(
  'CreateArtifact',
  Type.Object({
    ...RUN,
    name: Type.String(),
    version: Type.Optional(Type.Integer()),
    expires_at: Type.Optional(Type.String({ maxLength: 40 })),
  }),
  async (context, { task, input }) => {
    const name = parseArtifactName(input.name)
    const requestedMs = input.expires_at === undefined ? undefined : Date.parse(input.expires_at)
    if (Number.isNaN(requestedMs)) {
      throw new Failure('bad_request', 'The time expires_at is malformed.')
    }
    const id = await createArtifact(context.db, {
      task,
      name,
      version: 4,
      expiresAtMs: artifactExpiry(context, requestedMs),
      countMax: ARTIFACTS_MAX,
    })
    const signedUploadUrl = await artifactUrl(context, { mode: 'upload', id })
    return { ok: true, signed_upload_url: signedUploadUrl }
  },
)

const finalize = procedure(
  'FinalizeArtifact',
  Type.Object({
    ...RUN,
    name: Type.String(),
    size: Type.Optional(Type.String({ maxLength: 20 })),
    hash: Type.Optional(Type.String({ maxLength: 80 })),
  }),
  async ({ db }, { task, input }) => {
    const upload = await findUpload(db, task.taskId, input.name)
    const [file] = upload === undefined ? [] : await listFiles(db, [upload.id])
    if (upload === undefined || file === undefined) {
      throw new Failure('not_found', `Nothing was uploaded for ${JSON.stringify(input.name)}.`)
    }
    // Clients omit a size of 0, as the JSON form of Protocol Buffers permits.
    const { size = '0', hash } = input
    if (size !== String(file.bytes)) {
      throw new Failure('bad_request', `The upload has ${file.bytes} bytes, not ${size}.`)
    }
    if (hash !== undefined && hash !== `sha256:${file.digests.sha256}`) {
      throw new Failure('bad_request', `The upload has the digest sha256:${file.digests.sha256}.`)
    }
    // A client that got no answer repeats the call.
    if (!upload.isComplete) await completeArtifact(db, upload)
    return { ok: true, artifact_id: String(upload.id) }
  },
)

const list = procedure(
  'ListArtifacts',
  Type.Object({
    ...RUN,
    name_filter: Type.Optional(Type.String({ maxLength: 255 })),
    id_filter: Type.Optional(Type.String({ pattern: '^[0-9]{1,15}$' })),
  }),
  async ({ db }, { task, input: { name_filter: name, id_filter: id } }) => {
    const filter = { name, id: id === undefined ? undefined : Number(id), limit: LISTED_MAX }
    const artifacts = await listRunArtifacts(db, task.runId, filter)
    const zipped = artifacts.flatMap(({ id, version }) => (version === 4 ? [id] : []))
    const files = new Map((await listFiles(db, zipped)).map((file) => [file.artifactId, file]))
    return { artifacts: artifacts.map((artifact) => entryOf(artifact, files.get(artifact.id))) }
  },
)

function entryOf(artifact: Artifact, file: ArtifactFile | undefined): object {
  return {
    workflow_run_backend_id: String(artifact.runId),
    workflow_job_run_backend_id: String(artifact.jobId),
    database_id: String(artifact.id),
    name: artifact.name,
    size: String(artifact.bytes),
    created_at: new Date(artifact.createdAtMs).toISOString(),
    ...(file === undefined ? {} : { digest: `sha256:${file.digests.sha256}` }),
  }
}

const NAMED = Type.Object({ ...RUN, name: Type.String({ maxLength: 255 }) })

/** Returns the newest artifact of the task's run with that name. Throws `not_found`. */
async function namedArtifact(
  { db }: Context,
  { task, input }: ServiceCall<Static<typeof NAMED>>,
): Promise<Artifact> {
  const [artifact] = await listRunArtifacts(db, task.runId, { name: input.name, limit: 1 })
  if (artifact === undefined)
    throw notFound(`The run has no artifact ${JSON.stringify(input.name)}.`)
  return artifact
}

const getUrl = procedure('GetSignedArtifactURL', NAMED, async (context, call) => {
  return { signed_url: await zipUrl(context, await namedArtifact(context, call)) }
})

const remove = procedure('DeleteArtifact', NAMED, async (context, call) => {
  const { id } = await namedArtifact(context, call)
  await deleteArtifact(context.db, id)
  return { ok: true, artifact_id: String(id) }
})

export const SERVICE_ROUTES: readonly AnyRoute[] = [create, finalize, list, getUrl, remove]
