/** The manifests of a Swift package: Package.swift, and others for some versions of Swift. */

import { Failure } from '../../conf/failures.js'
import type { Zip, ZipEntry } from '../archive/zip.js'

/** The texts by file name. */
export type Manifests = Readonly<Record<string, string>>

export const MANIFEST = 'Package.swift'
const VARIANT = /^Package@swift-(\d{1,9}(?:\.\d{1,9}){0,2})\.swift$/

const BYTES_MAX = 131_072
/** A package has one for a few old versions of Swift. */
const VARIANTS_MAX = 32

/**
 * Reads them from the top of a source archive, which may be one folder. Throws `bad_request` where
 * there is no Package.swift, or one of them is too large or no text.
 */
export async function readManifests(zip: Zip): Promise<Manifests> {
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
      `there are more than ${VARIANTS_MAX} version-specific manifests`,
    )
  }
  const texts: [string, string][] = []
  for (const entry of found) texts.push([entry.path.slice(top.length), await readText(zip, entry)])
  return Object.fromEntries(texts)
}

/** The one folder that everything is in, with its slash; else empty. */
function topOf(entries: readonly ZipEntry[]): string {
  const first = entries[0]?.path ?? ''
  const top = first.slice(0, first.indexOf('/') + 1)
  return entries.every(({ path }) => path.startsWith(top)) ? top : ''
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

async function readText(zip: Zip, entry: ZipEntry): Promise<string> {
  const name = entry.path.slice(entry.path.lastIndexOf('/') + 1)
  if (entry.bytes > BYTES_MAX) throw new Failure('bad_request', `${name} file is too large`)
  const bytes = await zip.read(entry, BYTES_MAX)
  try {
    return UTF_8.decode(bytes)
  } catch (cause) {
    throw new Failure('bad_request', `${name} file is not UTF-8`, { cause })
  }
}

/** A manifest for some versions of Swift. */
export interface Variant {
  readonly fileName: string
  /** As in the file's name: `5`, `5.6` or `5.6.1`. */
  readonly swiftVersion: string
  /** What the manifest asks for; where it does not say, the version that it is for. */
  readonly toolsVersion: string
}

const TOOLS_VERSION = /^\s*\/\/[ \t]*swift-tools-version:[ \t]*(\d{1,9}(?:\.\d{1,9}){0,2})/i

/** The variants, by the names of their files. */
export function variantsOf(manifests: Manifests): readonly Variant[] {
  return Object.entries(manifests)
    .flatMap(([fileName, text]) => {
      const [, swiftVersion] = VARIANT.exec(fileName) ?? []
      if (swiftVersion === undefined) return []
      const [, stated = swiftVersion] = TOOLS_VERSION.exec(text) ?? []
      // The client reads no version of one number.
      const toolsVersion = stated.includes('.') ? stated : `${stated}.0`
      return [{ fileName, swiftVersion, toolsVersion }]
    })
    .sort((a, b) => (a.fileName < b.fileName ? -1 : 1))
}

/**
 * The file for that version of Swift: `5.6.0` finds the one for `5.6`, and of two that mean the
 * same version the one that says more.
 */
export function findVariant(manifests: Manifests, swiftVersion: string): string | undefined {
  const exact = `Package@swift-${swiftVersion}.swift`
  if (!VARIANT.test(exact)) return undefined
  if (Object.hasOwn(manifests, exact)) return exact
  const wanted = padded(swiftVersion)
  // By name, the one that says more stands before the others.
  return variantsOf(manifests).find((variant) => padded(variant.swiftVersion) === wanted)?.fileName
}

function padded(version: string): string {
  const [major, minor, patch] = version.split('.').map(Number)
  return `${major}.${minor ?? 0}.${patch ?? 0}`
}
