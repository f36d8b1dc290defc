/** Publishing of a release: reads the form, inspects the archive and stores both. */

import { Failure } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'
import type { FormatCall } from '../format.js'
import { type Part, readParts } from '../multipart.js'
import type { PackageStore, Upload } from '../package-store.js'
import { checkAccept } from './accept.js'
import { formatIdentity, parseIdentity } from './identifiers.js'
import { parseMetadata, repositoriesIn } from './metadata.js'
import { type Release, releaseUrl, type Signature } from './release.js'
import { REPOSITORY_URL } from './repository-url.js'
import { parseVersion } from './versions.js'

/** Creates a release (4.6). */
export async function publishRelease(
  store: PackageStore,
  { request, params }: FormatCall,
): Promise<Reply> {
  checkAccept(request.headers, 'json')
  const identity = parseIdentity(params['scope'] ?? '', params['name'] ?? '')
  const version = parseVersion(params['version'] ?? '')
  const packageName = formatIdentity(identity)
  await refuseKnown(store, packageName, version)
  const { archive, metadata, signature } = await readForm(store, request)
  const { manifests, readme } = await store.inspect('swift', archive)
  const release: Release = { manifests, metadata, ...(signature && { signature }) }
  await store.publish(archive, {
    packageName,
    version,
    unique: 'version',
    fileName: `${identity.name}-${version}.zip`,
    metadata: release,
    readme,
    properties: repositoriesIn(metadata).map((value) => ({ name: REPOSITORY_URL, value })),
  })
  return {
    status: 201,
    headers: [['Location', releaseUrl(store.baseUrl, packageName, version)]],
  }
}

/** Throws `conflict` for an existing version, before a body of gigabytes is received. */
async function refuseKnown(
  store: PackageStore,
  packageName: string,
  version: string,
): Promise<void> {
  const found = await store.findPackage(packageName)
  if (found === undefined || (await store.findVersion(found.id, version)) === undefined) return
  throw new Failure('conflict', `a release with version ${version} already exists`)
}

interface Form {
  readonly archive: Upload
  readonly metadata: Release['metadata']
  readonly signature: Signature | undefined
}

const METADATA_BYTES_MAX = 262_144
/** Maximum size of a signature, which includes certificates and a timestamp. */
const SIGNATURE_BYTES_MAX = 131_072

/** Reads the form. Its parts can be in any order, and the archive is streamed to a file. */
async function readForm(store: PackageStore, request: Request): Promise<Form> {
  let archive: Upload | undefined
  const small = new Map<string, SmallPart>()
  for await (const part of readParts(request)) {
    const { name } = part
    if (small.has(name) || (name === 'source-archive' && archive !== undefined)) {
      throw new Failure('bad_request', `the form has two parts named ${name}`)
    }
    if (name === 'source-archive') archive = await receiveArchive(store, part)
    else if (name === 'metadata') small.set(name, await readSmall(part, METADATA_BYTES_MAX))
    else if (/^(?:source-archive|metadata)-signature$/.test(name)) {
      small.set(name, await readSmall(part, SIGNATURE_BYTES_MAX))
    }
  }
  if (archive === undefined) {
    const reason = 'the form has no part of this name'
    throw new Failure('bad_request', `unable to read source-archive file: ${reason}`)
  }
  const metadata = small.get('metadata')
  return {
    archive,
    metadata: metadata ? parseMetadata(metadata.bytes.toString(), metadata.transferEncoding) : {},
    signature: signatureOf(request, small),
  }
}

async function receiveArchive(store: PackageStore, part: Part): Promise<Upload> {
  if (part.transferEncoding === 'base64') {
    throw new Failure('bad_request', 'the part source-archive must be binary, not base64')
  }
  return await store.receive(part.body)
}

interface SmallPart {
  readonly bytes: Buffer
  readonly transferEncoding: string
}

async function readSmall({ name, body, transferEncoding }: Part, bytesMax: number) {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > bytesMax) {
      throw new Failure('payload_too_large', `the part ${name} has more than ${bytesMax} bytes`)
    }
    chunks.push(Buffer.from(chunk))
  }
  return { bytes: Buffer.concat(chunks), transferEncoding }
}

function signatureOf(
  request: Request,
  parts: ReadonlyMap<string, SmallPart>,
): Signature | undefined {
  const archive = parts.get('source-archive-signature')
  if (archive === undefined) return undefined
  const format = request.headers.get('x-swift-package-signature-format') ?? ''
  if (!/^[a-z0-9.-]{1,64}$/.test(format)) {
    throw new Failure(
      'bad_request',
      'a signature requires a valid header X-Swift-Package-Signature-Format',
    )
  }
  const metadata = parts.get('metadata-signature')
  return { format, archive: inBase64(archive), ...(metadata && { metadata: inBase64(metadata) }) }
}

function inBase64({ bytes, transferEncoding }: SmallPart): string {
  const decoded = transferEncoding === 'base64' ? Buffer.from(bytes.toString(), 'base64') : bytes
  return decoded.toString('base64')
}
