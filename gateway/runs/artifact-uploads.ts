/** Uploads of artifacts: their names, limits and expiry, and the addresses for their bytes. */

import { Failure, notFound } from '../../conf/failures.js'
import { openInstanceSecret } from '../../conf/instance-secret.js'
import type { Settings } from '../../conf/settings.js'
import type { UploadLimits } from '../../sql/runs/artifact-parts.js'
import { type Artifact, listFiles } from '../../sql/runs/artifacts.js'
import { ADDRESS_PARAMETER, type AddressSubject, addressOf } from '../auth/artifact-address.js'
import type { Context } from '../request/context.js'

/** Maximum number of artifacts of a job. */
export const ARTIFACTS_MAX = 500

const PARTS_MAX = 10_000
const NAME_CHARACTERS_MAX = 255

/** Characters that are refused in names, because they are refused in names of files somewhere. */
const REFUSED = /[":<>|*?\r\n\\/\p{Cc}\p{Surrogate}]/u

/** Returns the name of an artifact. Throws `bad_request` with the violated rule. */
export function parseArtifactName(name: string): string {
  if (name === '' || name.length > NAME_CHARACTERS_MAX) {
    const limit = `1 to ${NAME_CHARACTERS_MAX} characters`
    throw new Failure('bad_request', `The name of an artifact has ${limit}.`)
  }
  if (REFUSED.test(name)) {
    const message = `The name of the artifact ${JSON.stringify(name)} has a character that is not permitted.`
    throw new Failure('bad_request', message)
  }
  return name
}

const PATH_CHARACTERS_MAX = 600

/**
 * Returns the path of a file within its artifact, of the form `NAME/PATH`. Systems differ in the
 * separator. Throws `bad_request`, also for a path that leads out of the folder of a download.
 */
export function parseItemPath(artifactName: string, text: string): string {
  const item = text.replaceAll('\\', '/')
  const path = item.startsWith(`${artifactName}/`) ? item.slice(artifactName.length + 1) : ''
  const isPlain = path.split('/').every((segment) => !['', '.', '..'].includes(segment))
  if (!isPlain || path.length > PATH_CHARACTERS_MAX || REFUSED.test(path.replaceAll('/', ''))) {
    throw new Failure('bad_request', `The path ${JSON.stringify(text.slice(0, 80))} is not valid.`)
  }
  return path
}

/** Returns the limits of uploads. */
export function uploadLimits({ settings }: Pick<Context, 'settings'>): UploadLimits {
  const { artifactBytesMax, repositoryArtifactsBytesMax, ownerArtifactsBytesMax } = settings.actions
  return {
    artifactBytesMax,
    repositoryBytesMax: repositoryArtifactsBytesMax,
    ownerBytesMax: ownerArtifactsBytesMax,
    partsMax: PARTS_MAX,
  }
}

const DAY_MS = 86_400_000

/** Returns the time of expiry: the requested one within the limits, or that of the settings. */
export function artifactExpiry(
  { settings }: { readonly settings: { readonly actions: RetentionSettings } },
  requestedMs: number | undefined,
  nowMs = Date.now(),
): number {
  const { artifactRetentionDays, artifactRetentionDaysMax } = settings.actions
  const wantedMs = requestedMs ?? nowMs + artifactRetentionDays * DAY_MS
  const latestMs = nowMs + artifactRetentionDaysMax * DAY_MS
  return Math.min(Math.max(wantedMs, nowMs + DAY_MS), latestMs)
}

type RetentionSettings = Pick<
  Settings['actions'],
  'artifactRetentionDays' | 'artifactRetentionDaysMax'
>

/** Path of the service for artifacts; its clients add it to the origin of the server. */
export const ARTIFACT_SERVICE_PATH = '/twirp/github.actions.results.api.v1.ArtifactService'

/** Time for which a download can begin. An upload ends with its job anyway. */
const VALID_MS: Readonly<Record<AddressSubject['mode'], number>> = {
  upload: 5 * DAY_MS,
  download: 3_600_000,
}

const PROCEDURES = { upload: 'UploadArtifact', download: 'DownloadArtifact' } as const

/** Returns the path of the route for the bytes of artifacts. */
export function artifactPath(mode: AddressSubject['mode']): string {
  return `${ARTIFACT_SERVICE_PATH}/${PROCEDURES[mode]}`
}

/** Returns the URL that permits an upload or a download. Clients add parameters to its query. */
export async function artifactUrl(
  { settings }: Pick<Context, 'settings'>,
  subject: AddressSubject,
): Promise<string> {
  const secret = await openInstanceSecret(settings.data.dir)
  const text = addressOf(secret, subject, Date.now() + VALID_MS[subject.mode])
  return `${settings.http.baseUrl}${artifactPath(subject.mode)}?${ADDRESS_PARAMETER}=${text}`
}

/** Returns a URL for the download of an artifact. Throws `not_found` unless it is a zip archive. */
export async function zipUrl(
  context: Pick<Context, 'db' | 'settings'>,
  { id, version }: Pick<Artifact, 'id' | 'version'>,
): Promise<string> {
  const [file] = version === 4 ? await listFiles(context.db, [id]) : []
  if (file === undefined) {
    throw notFound('The artifact is not a zip archive: its files are read by tools of version 3.')
  }
  return await artifactUrl(context, { mode: 'download', id: file.id })
}
