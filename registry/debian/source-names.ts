/** Names of the files of a source package (dsc(5), dpkg-source(1)). */

import { parsePackageName, parseVersion } from './names.js'

export interface SourceFileName {
  readonly packageName: string
  /** Version in the name: without an epoch, and that of an original archive has no revision. */
  readonly version: string
  readonly fileName: string
}

const TAR = String.raw`tar\.(?:gz|bz2|lzma|xz)`
const SUFFIX = String.raw`dsc|(?:orig(?:-[A-Za-z0-9-]+)?\.)?${TAR}(?:\.asc)?|debian\.${TAR}|diff\.gz`
const NAME = new RegExp(String.raw`^([^_]+)_([^_:]+?)\.(?:${SUFFIX})$`)

/** Parses the name of a file. Undefined if it is not one of a source package. */
export function readSourceFileName(fileName: string): SourceFileName | undefined {
  const [, packageName, version] = NAME.exec(fileName) ?? []
  if (packageName === undefined || version === undefined) return undefined
  return { packageName, version, fileName }
}

/** Parses such a name. Throws `bad_request` if a part of it is invalid. */
export function parseSourceFileName(fileName: string): SourceFileName | undefined {
  const read = readSourceFileName(fileName)
  if (read === undefined) return undefined
  return {
    ...read,
    packageName: parsePackageName(read.packageName),
    version: parseVersion(read.version),
  }
}
