/** Types of packages, their versions and their files, as registries store them. */

/** Names of the package formats, as in URLs and settings. */
export const PACKAGE_FORMATS = [
  'alpine',
  'composer',
  'cran',
  'debian',
  'generic',
  'go',
  'swift',
] as const

export type PackageFormat = (typeof PACKAGE_FORMATS)[number]

/** Types of the keys that sign indexes of Debian packages. */
export const DEBIAN_KEY_TYPES = ['rsa4096', 'ed25519'] as const

export type DebianKeyType = (typeof DEBIAN_KEY_TYPES)[number]

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** Digests in lower-case hexadecimal. */
export interface Digests {
  readonly md5: string
  readonly sha1: string
  readonly sha256: string
  readonly sha512: string
}

export interface Package {
  readonly id: number
  /** Name with the case of the first upload. Lookups ignore case. */
  readonly name: string
  /** Counter that increases with each change of the package. */
  readonly generation: number
  readonly changedAtMs: number
}

export interface PackageVersion {
  readonly id: number
  /** Version with the case of the upload. Lookups ignore case. */
  readonly version: string
  readonly createdAtMs: number
}

/** A version with its metadata and its uploaded files. */
export interface FullVersion extends PackageVersion {
  /** Metadata that the format extracted at publication. */
  readonly metadata: JsonObject
  /** Files, oldest first; at least one. */
  readonly files: readonly PackageFile[]
}

export interface PackageFile {
  readonly id: number
  readonly name: string
  /** Distinguishes files with the same name in formats that have such; otherwise empty. */
  readonly compositeKey: string
  readonly bytes: number
  readonly digests: Digests
  /** Key of the content in the blob storage. */
  readonly blobKey: string
  readonly createdAtMs: number
  readonly downloads: number
}
