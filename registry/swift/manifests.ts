/** The manifests of a Swift package: Package.swift and version-specific manifests. */

import { Failure } from '../../conf/failures.js'
import type { Zip, ZipEntry } from '../archive/zip.js'
import { readReadme } from '../readme.js'

/** Texts of the manifests by file name. */
export type Manifests = Readonly<Record<string, string>>

export const MANIFEST = 'Package.swift'
const VARIANT = /^Package@swift-(\d{1,9}(?:\.\d{1,9}){0,2})\.swift$/

const BYTES_MAX = 131_072
/** Maximum number of version-specific manifests; packages have a few, for old Swift versions. */
const VARIANTS_MAX = 32

/** The files of a source archive that the registry stores as text. */
export interface SourceArchive {
  readonly manifests: Manifests
  readonly readme: string | undefined
}

/** Reads the manifests, as `readManifests`, and the README beside them. */
export async function readSourceArchive(zip: Zip): Promise<SourceArchive> {
  const manifests = await readManifests(zip)
  return { manifests, readme: await readReadme(zip, topOf(zip.entries)) }
}

/**
 * Reads the manifests from the root of a source archive, or from its single top-level folder.
 * Throws `bad_request` if Package.swift is missing, or if a manifest is too large or not UTF-8.
 */
async function readManifests(zip: Zip): Promise<Manifests> {
  const top = topOf(zip.entries)
  const found = zip.entries.filter(({ path, kind }) => {
    const name = path.slice(top.length)
    const isManifest = name === MANIFEST || VARIANT.test(name)
    return isManifest && kind === 'file' && path.startsWith(top)
  })
  if (!found.some(({ path }) => path === top + MANIFEST)) {
    throw new Failure('bad_request', 'Package.swift file is missing')
  }
  if (found.length > 1 + VARIANTS_MAX) {
    throw new Failure(
      'bad_request',
      `the archive has more than ${VARIANTS_MAX} version-specific manifests`,
    )
  }
  const texts: [string, string][] = []
  for (const entry of found) texts.push([entry.path.slice(top.length), await readText(zip, entry)])
  return Object.fromEntries(texts)
}

/** Returns the single top-level folder with its slash; empty if there is none. */
function topOf(entries: readonly ZipEntry[]): string {
  const first = entries[0]?.path ?? ''
  const top = first.slice(0, first.indexOf('/') + 1)
  return entries.every(({ path }) => path.startsWith(top)) ? top : ''
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

async function readText(zip: Zip, entry: ZipEntry): Promise<string> {
  const name = entry.path.slice(entry.path.lastIndexOf('/') + 1)
  if (entry.bytes > BYTES_MAX) {
    const limit = `it has more than ${BYTES_MAX} bytes`
    throw new Failure('bad_request', `${name} file is too large: ${limit}`)
  }
  const bytes = await zip.read(entry, BYTES_MAX)
  try {
    return UTF_8.decode(bytes)
  } catch (cause) {
    throw new Failure('bad_request', `${name} file is not valid UTF-8`, { cause })
  }
}

/** A version-specific manifest. */
export interface Variant {
  readonly fileName: string
  /** Swift version in the file name, such as `5`, `5.6` or `5.6.1`. */
  readonly swiftVersion: string
  /** Tools version that the manifest declares; by default the Swift version. */
  readonly toolsVersion: string
}

const TOOLS_VERSION = /^\s*\/\/[ \t]*swift-tools-version:[ \t]*(\d{1,9}(?:\.\d{1,9}){0,2})/i

/** Returns the version-specific manifests, sorted by file name. */
export function variantsOf(manifests: Manifests): readonly Variant[] {
  return Object.entries(manifests)
    .flatMap(([fileName, text]) => {
      const [, swiftVersion] = VARIANT.exec(fileName) ?? []
      if (swiftVersion === undefined) return []
      const [, stated = swiftVersion] = TOOLS_VERSION.exec(text) ?? []
      // The client does not parse a version that is a single number.
      const toolsVersion = stated.includes('.') ? stated : `${stated}.0`
      return [{ fileName, swiftVersion, toolsVersion }]
    })
    .sort((a, b) => (a.fileName < b.fileName ? -1 : 1))
}

/**
 * Returns the file name of the manifest for a Swift version: `5.6.0` matches the manifest for
 * `5.6`. If several match, the one with this exact version wins, then the most specific one.
 */
export function findVariant(manifests: Manifests, swiftVersion: string): string | undefined {
  const exact = `Package@swift-${swiftVersion}.swift`
  if (!VARIANT.test(exact)) return undefined
  if (Object.hasOwn(manifests, exact)) return exact
  const wanted = padded(swiftVersion)
  // In the order of file names, a more specific version precedes a shorter one.
  return variantsOf(manifests).find((variant) => padded(variant.swiftVersion) === wanted)?.fileName
}

function padded(version: string): string {
  const [major, minor, patch] = version.split('.').map(Number)
  return `${major}.${minor ?? 0}.${patch ?? 0}`
}
