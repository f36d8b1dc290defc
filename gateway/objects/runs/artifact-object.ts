/** The ActionArtifact of this API. */

import { type Static, Type } from 'typebox'
import type { Artifact } from '../../../sql/runs/artifacts.js'
import { findRunById } from '../../../sql/runs/runs.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { API_PREFIX } from '../api-prefix.js'
import { TIME } from '../schema.js'
import { apiTime } from '../times.js'
import { RUN, runObjects } from './run-object.js'

export const ARTIFACT = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    size_in_bytes: Type.Integer(),
    url: Type.String(),
    archive_download_url: Type.String({ description: 'empty for artifacts of version 3' }),
    expired: Type.Boolean(),
    from_fork: Type.Boolean({ description: 'true if other people can have made the artifact' }),
    workflow_run: RUN,
    created_at: TIME,
    updated_at: TIME,
    expires_at: TIME,
  },
  { $id: 'ActionArtifact' },
)

export const ARTIFACTS = Type.Object(
  { total_count: Type.Integer(), artifacts: Type.Array(ARTIFACT) },
  { $id: 'ActionArtifactsResponse' },
)

/** Returns artifacts of one repository. An artifact whose run was deleted meanwhile is left out. */
export async function artifactObjects(
  context: Context,
  grant: Grants['repository'],
  artifacts: readonly Artifact[],
): Promise<readonly Static<typeof ARTIFACT>[]> {
  const ids = [...new Set(artifacts.map(({ runId }) => runId))]
  const found = await Promise.all(ids.map((id) => findRunById(context.db, id)))
  const runs = found.filter((run) => run !== undefined)
  const objects = await runObjects(context, grant, runs)
  const forks = new Set(runs.flatMap(({ id, isFromFork }) => (isFromFork ? [id] : [])))
  const { owner, name } = grant.repository
  const base = `${context.settings.http.baseUrl}${API_PREFIX}/repos/${owner.name}/${name}`
  return artifacts.flatMap((artifact) => {
    const run = objects.find(({ id }) => id === artifact.runId)
    if (run === undefined) return []
    const url = `${base}/actions/artifacts/${artifact.id}`
    return {
      id: artifact.id,
      name: artifact.name,
      size_in_bytes: artifact.bytes,
      url,
      archive_download_url: artifact.version === 4 ? `${url}/zip` : '',
      expired: false,
      from_fork: forks.has(artifact.runId),
      workflow_run: run,
      created_at: apiTime(artifact.createdAtMs),
      updated_at: apiTime(artifact.createdAtMs),
      expires_at: apiTime(artifact.expiresAtMs),
    }
  })
}
