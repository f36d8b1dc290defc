/** The plain shapes of what a registry keeps: packages, their versions, and the files of these. */

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

/** A value as JSON holds it. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json | undefined
}

/** Each in lower-case hexadecimal. */
export interface Digests {
  readonly md5: string
  readonly sha1: string
  readonly sha256: string
  readonly sha512: string
}

export interface Package {
  readonly id: number
  /** In the case of its first upload; it is found in any. */
  readonly name: string
  /** Grows whenever anything of the package changes. */
  readonly generation: number
  readonly changedAtMs: number
}

export interface PackageVersion {
  readonly id: number
  /** In the case of its upload; it is found in any. */
  readonly version: string
  readonly createdAtMs: number
}

/** A version with all that its format said of it and all that was uploaded for it. */
export interface FullVersion extends PackageVersion {
  /** As the format gave it when it was published. */
  readonly metadata: JsonObject
  /** Oldest first; never none. */
  readonly files: readonly PackageFile[]
}

export interface PackageFile {
  readonly id: number
  readonly name: string
  /** Tells files of one name apart, where the format has such; else empty. */
  readonly compositeKey: string
  readonly bytes: number
  readonly digests: Digests
  /** Where the storage has its bytes. */
  readonly blobKey: string
  readonly createdAtMs: number
  readonly downloads: number
}
