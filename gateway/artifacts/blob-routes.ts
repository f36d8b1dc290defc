/**
 * Bytes of artifacts, by signed addresses: uploads as to Azure's block blobs ("Put Block", "Put
 * Block List" and "Put Blob" of its REST API), and downloads.
 */

import { Failure } from '../../conf/failures.js'
import type { Request } from '../../conf/http.js'
import { joinParts, receivePart, serveArtifact } from '../../registry/artifacts.js'
import { type ArtifactPart, listParts } from '../../sql/runs/artifact-parts.js'
import type { Artifact } from '../../sql/runs/artifacts.js'
import { readBody } from '../http/incoming-body.js'
import type { Context } from '../request/context.js'
import type { AnyRoute, Route } from '../request/route.js'
import { artifactPath, uploadLimits } from '../runs/artifact-uploads.js'
import { ADDRESS_SURFACE } from './artifact-surface.js'

/** Path of the only file, and name of its only block if the client sends it as a whole. */
const WHOLE = ''

/** Maximum size of a list of blocks: 10,000 entries with names of 64 bytes in base64. */
const LIST_BYTES_MAX = 2_097_152

const upload: Route<'artifact-upload'> = {
  surface: ADDRESS_SURFACE,
  method: 'PUT',
  path: artifactPath('upload'),
  access: { kind: 'artifact-upload' },
  scopes: [],
  async handle(context, { request, grant: { artifact } }) {
    const query = new URLSearchParams(request.query)
    switch (query.get('comp')) {
      case 'block':
        await keepBlock(context, { artifact, request, name: blockName(query.get('blockid') ?? '') })
        break
      case 'blocklist':
        await joinBlocks(context, { artifact, request })
        break
      case null:
        await keepBlock(context, { artifact, request, name: WHOLE })
        await join(context, { artifact, request, names: [WHOLE] })
        break
      default:
        throw new Failure('bad_request', `The operation ${query.get('comp')} is not supported.`)
    }
    return { status: 201 }
  },
}

interface Uploading {
  readonly artifact: Artifact
  readonly request: Request
}

async function keepBlock(
  context: Context,
  { artifact, request, name }: Uploading & { readonly name: string },
): Promise<void> {
  const part = { artifact, path: WHOLE, name }
  const { body } = request
  await receivePart(context.registry, part, { body, limits: uploadLimits(context) })
}

async function joinBlocks(context: Context, { artifact, request }: Uploading): Promise<void> {
  const declared = Number(request.headers.get('content-length') ?? 0)
  const body = await readBody(request.body, LIST_BYTES_MAX, declared)
  await join(context, { artifact, request, names: readBlockList(body.toString()) })
}

async function join(
  { db, registry }: Context,
  { artifact, request, names }: Uploading & { readonly names: readonly string[] },
): Promise<void> {
  const known = new Map((await listParts(db, artifact.id, WHOLE)).map((part) => [part.name, part]))
  const parts = names.map((name): ArtifactPart => {
    const part = known.get(name)
    if (part === undefined) throw new Failure('bad_request', `The block ${name} was not uploaded.`)
    // A block that is used once only keeps the file within the limit for the blocks.
    known.delete(name)
    return part
  })
  const file = { artifact, path: WHOLE, isGzip: false }
  await joinParts(registry, file, { parts, signal: request.signal })
}

function blockName(text: string): string {
  if (/^[A-Za-z0-9+/=]{1,100}$/.test(text)) return text
  throw new Failure('bad_request', 'The blockid is not base64 of at most 100 characters.')
}

const LIST = /^\s*(?:<\?xml[^>]{0,200}\?>)?\s*<BlockList\s*>(.*)<\/BlockList>\s*$/s
const ENTRY = /\s*<(Latest|Uncommitted|Committed)>([^<]{1,100})<\/\1>\s*/y

/** Returns the names of the blocks in an XML list. Throws `bad_request`. */
export function readBlockList(text: string): readonly string[] {
  const entries = LIST.exec(text)?.[1]
  if (entries === undefined) throw new Failure('bad_request', 'The list of blocks is malformed.')
  const names: string[] = []
  ENTRY.lastIndex = 0
  for (let at = 0; at < entries.length; at = ENTRY.lastIndex) {
    const entry = ENTRY.exec(entries)
    if (entry === null) throw new Failure('bad_request', 'The list of blocks is malformed.')
    names.push(blockName(entry[2] ?? ''))
  }
  return names
}

const download: Route<'artifact-download'> = {
  surface: ADDRESS_SURFACE,
  method: 'GET',
  path: artifactPath('download'),
  access: { kind: 'artifact-download' },
  scopes: [],
  handle: ({ registry }, { request, grant: { artifact, file } }) =>
    serveArtifact(registry, file, {
      request,
      name: `${artifact.name}.zip`,
      contentType: 'application/zip',
    }),
}

export const BLOB_ROUTES: readonly AnyRoute[] = [upload, download]
