/** The Go format: a module proxy (go.dev/ref/mod#goproxy-protocol). */

import { Failure } from '../../conf/failures.js'
import { decodePercent, type Reply } from '../../conf/http.js'
import type { FullVersion, Package } from '../../conf/package.js'
import type { Format, FormatCall, FormatRoute } from '../format.js'
import type { PackageStore } from '../package-store.js'
import { refuseInText } from '../refusal.js'
import { uploadBody } from '../upload-body.js'
import { describe } from './describe.js'
import { plainGoMod } from './go-mod.js'
import { install } from './install.js'
import { unescapeCapitals } from './module-path.js'
import { latestVersion, listableVersions } from './module-version.js'
import { findSourceModule, type SourceModule } from './source-module.js'
import { latestOfAll, serveSource, serveSourceList } from './source-replies.js'

const put: FormatRoute = {
  method: 'PUT',
  path: '/upload',
  access: 'write',
  async handle(store, { request }) {
    const upload = await store.receive(uploadBody(request))
    const { path, version, goMod, readme } = await store.inspect('go', upload)
    await store.publish(upload, {
      packageName: path,
      isExactName: true,
      version,
      fileName: `${version}.zip`,
      unique: 'version',
      metadata: goMod === undefined ? {} : { goMod },
      readme,
    })
    return { status: 201 }
  },
}

/** Route for all reads, because a module path has any number of segments. */
const get: FormatRoute = {
  method: 'GET',
  path: '/{rest...}',
  access: 'read',
  async handle(store, call) {
    const wanted = readRequest(call.params['rest'] ?? '')
    if (wanted === undefined) throw notFound()
    const found = await store.findPackage(wanted.path)
    // Module paths are case-sensitive. After a 404, the go command tries the next proxy.
    const of = found?.name === wanted.path ? found : undefined
    const source = await findSourceModule(call.repositories, wanted.path)
    if (source !== undefined) return await serveModule(store, call, { wanted, of, source })
    if (of === undefined) throw notFound()
    return await serveUploaded(store, call, { wanted, of })
  },
}

export const GO: Format = {
  name: 'go',
  routes: [put, get],
  describe,
  install,
  refuse: refuseInText,
}

function notFound(): Failure {
  return new Failure('not_found', 'not found: the module or this version of it does not exist')
}

type Kind = 'list' | 'info' | 'mod' | 'zip'

interface ModuleRequest {
  readonly path: string
  readonly kind: Kind
  /** Version in the URL, or `latest`; empty for `list`. */
  readonly version: string
}

/** Parses `module/@v/list`, `module/@latest` and `module/@v/version.kind`. */
function readRequest(rest: string): ModuleRequest | undefined {
  const segments = rest.split('/').map(decodePercent)
  // No module path or version contains an escaped slash.
  if (segments.some((segment) => segment.includes('/'))) return undefined
  const text = unescapeCapitals(segments.join('/'))
  const [, path = '', tail = ''] = /^([^@]+)\/@(latest|v\/[^/@]+)$/.exec(text ?? '') ?? []
  if (tail === 'latest') return { path, kind: 'info', version: 'latest' }
  if (tail === 'v/list') return { path, kind: 'list', version: '' }
  const [, version = '', kind] = /^v\/(.+)\.(info|mod|zip)$/.exec(tail) ?? []
  return kind === undefined ? undefined : { path, kind: kind as Kind, version }
}

interface Asked {
  readonly of: Package
  readonly version: string
}

interface Document {
  readonly contentType: string
  make(store: PackageStore, asked: Asked): Promise<string>
}

const TEXT = 'text/plain;charset=utf-8'

const DOCUMENTS: Readonly<Record<Exclude<Kind, 'zip'>, Document>> = {
  list: {
    contentType: TEXT,
    async make(store, { of }) {
      const versions = await store.listVersions(of.id)
      if (versions.length === 0) throw notFound()
      const listed = listableVersions(versions.map(({ version }) => version))
      return listed.map((version) => `${version}\n`).join('')
    },
  },
  info: {
    contentType: 'application/json;charset=utf-8',
    async make(store, asked) {
      const { version, createdAtMs } = await findVersion(store, asked)
      return JSON.stringify({ Version: version, Time: new Date(createdAtMs).toISOString() })
    },
  },
  mod: {
    contentType: TEXT,
    async make(store, asked) {
      const { metadata } = await findVersion(store, asked)
      return String(metadata['goMod'] ?? plainGoMod(asked.of.name))
    },
  },
}

/** Serves a module of a repository, some of whose versions may have been uploaded instead. */
async function serveModule(
  store: PackageStore,
  call: FormatCall,
  { wanted, of, source }: FoundModule & { readonly source: SourceModule },
): Promise<Reply> {
  const { kind, version: named } = wanted
  if (of === undefined) {
    return kind === 'list'
      ? await serveSourceList(source, [])
      : await serveSource(source, call.request, { kind, version: named })
  }
  const uploaded = (await store.listVersions(of.id)).map(({ version }) => version)
  if (kind === 'list') return await serveSourceList(source, uploaded)
  const isLatest = named === 'latest'
  const version = isLatest ? await latestOfAll(source, uploaded, hasGoModOf(store, of)) : named
  if (version !== undefined && uploaded.includes(version)) {
    return await serveUploaded(store, call, { wanted: { ...wanted, version }, of })
  }
  return await serveSource(source, call.request, { kind, version: version ?? 'latest' })
}

interface FoundModule {
  readonly wanted: ModuleRequest
  /** Package with the uploaded versions, if there are any. */
  readonly of: Package | undefined
}

/** Serves a version that was uploaded. */
async function serveUploaded(
  store: PackageStore,
  call: FormatCall,
  { wanted, of }: FoundModule & { readonly of: Package },
): Promise<Reply> {
  const asked = { of, version: wanted.version }
  if (wanted.kind === 'zip') return await serveZip(store, call, asked)
  const { contentType, make } = DOCUMENTS[wanted.kind]
  const kind = `${wanted.version}.${wanted.kind}`
  return await store.document(of, call.request, {
    kind,
    contentType,
    make: () => make(store, asked),
  })
}

async function serveZip(
  store: PackageStore,
  { request }: FormatCall,
  asked: Asked,
): Promise<Reply> {
  const { files } = await findVersion(store, asked)
  const [file] = files
  if (file === undefined) throw notFound()
  return store.serve(file, request, {})
}

async function findVersion(store: PackageStore, { of, version }: Asked): Promise<FullVersion> {
  const wanted = version === 'latest' ? await findLatest(store, of) : version
  const found = wanted === undefined ? undefined : await store.findVersion(of.id, wanted)
  if (found === undefined || found.version !== wanted) throw notFound()
  return found
}

async function findLatest(store: PackageStore, of: Package): Promise<string | undefined> {
  const versions = await store.listVersions(of.id)
  return latestVersion(
    versions.map(({ version }) => version),
    hasGoModOf(store, of),
  )
}

function hasGoModOf(store: PackageStore, of: Package): (version: string) => Promise<boolean> {
  return async (version) =>
    (await store.findVersion(of.id, version))?.metadata['goMod'] !== undefined
}
