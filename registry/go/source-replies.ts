/** Replies of the module proxy for modules in the owner's repositories. */

import { notFound } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'
import { plainGoMod } from './go-mod.js'
import { latestVersion, listableVersions } from './module-version.js'
import type { SourceModule } from './source-module.js'
import {
  findLatestSource,
  findSourceVersion,
  listSourceVersions,
  type SourceVersion,
} from './source-versions.js'
import { serveSourceZip } from './source-zip.js'

export interface SourceRequest {
  readonly kind: 'info' | 'mod' | 'zip'
  /** Version, `latest`, or for `info` the name of a tag, branch or commit. */
  readonly version: string
}

/** Returns a reply for a version of the module. Throws `not_found` with the reason. */
export async function serveSource(
  module: SourceModule,
  request: Request,
  { kind, version }: SourceRequest,
): Promise<Reply> {
  const found = await module.repository.read((reader) =>
    version === 'latest'
      ? findLatestSource(module, reader)
      : findSourceVersion(module, reader, version),
  )
  if (kind === 'info') return textReply('application/json;charset=utf-8', infoOf(module, found))
  if (version !== 'latest' && found.version !== version) {
    throw notFound(`not found: ${version} is not a version; it is part of ${found.version}`)
  }
  if (kind === 'mod') {
    return textReply('text/plain;charset=utf-8', found.goMod ?? plainGoMod(module.path))
  }
  return await serveSourceZip(module, found, request)
}

/** Returns the list of the versions in the repository and the uploaded ones. */
export async function serveSourceList(
  module: SourceModule,
  uploaded: readonly string[],
): Promise<Reply> {
  const tagged = await module.repository.read((reader) => listSourceVersions(module, reader))
  const listed = listableVersions([...new Set([...tagged, ...uploaded])])
  return textReply('text/plain;charset=utf-8', listed.map((version) => `${version}\n`).join(''))
}

/** Selects the latest of the versions in the repository and the uploaded ones. */
export async function latestOfAll(
  module: SourceModule,
  uploaded: readonly string[],
  hasGoMod: (uploadedVersion: string) => Promise<boolean>,
): Promise<string | undefined> {
  return await module.repository.read(async (reader) => {
    const tagged = await listSourceVersions(module, reader)
    return await latestVersion([...new Set([...tagged, ...uploaded])], async (version) => {
      if (uploaded.includes(version)) return await hasGoMod(version)
      return (await findSourceVersion(module, reader, version)).goMod !== undefined
    })
  })
}

/** Renders a version as JSON (go.dev/ref/mod#goproxy-protocol). */
function infoOf(
  { repository, directory }: SourceModule,
  { version, commit }: SourceVersion,
): string {
  const { id: Hash, ref: Ref, committedAtMs } = commit
  const Subdir = directory === '' ? undefined : directory
  const Origin = { VCS: 'git', URL: repository.url, Subdir, Hash, Ref }
  return JSON.stringify({ Version: version, Time: timeOf(committedAtMs), Origin })
}

/** Formats a time in whole seconds (RFC 3339). */
function timeOf(atMs: number): string {
  return new Date(atMs).toISOString().replace('.000Z', 'Z')
}

function textReply(contentType: string, body: string | Buffer): Reply {
  return {
    status: 200,
    headers: [
      ['Content-Type', contentType],
      ['Cache-Control', 'private, no-cache'],
      ['Vary', 'Authorization'],
      ['X-Content-Type-Options', 'nosniff'],
    ],
    body: Buffer.from(body),
  }
}
