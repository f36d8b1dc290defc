/** Names of Alpine packages, versions, architectures and repositories. */

import { Failure } from '../../conf/failures.js'
import { quote } from '../archive/zip-paths.js'

const PACKAGE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._+-]*$/

/**
 * A version such as `1.2.3b_rc4_p5~c0ffee-r6`: numbers, a letter, suffixes, a commit hash and the
 * package revision (apk-package(5), "PACKAGE VERSIONS").
 */
const VERSION =
  /^[0-9]+(?:\.[0-9]+)*[a-z]?(?:_(?:alpha|beta|pre|rc|cvs|svn|git|hg|p)[0-9]*)*(?:~[0-9a-f]+)?(?:-r[0-9]+)?$/

const ARCHITECTURE = /^[a-z0-9_]+$/
const SEGMENT = /^[A-Za-z0-9.+_~-]+$/
const CHARACTERS_MAX = 80

/** Returns a package name. Throws `bad_request` if it is invalid. */
export function parsePackageName(text: string): string {
  if (PACKAGE_NAME.test(text)) return text
  const rule = "begin with a letter, digit or '_' and contain only letters, digits and '._+-'"
  throw new Failure('bad_request', `package name is invalid: ${quote(text)} must ${rule}`)
}

/** Returns a version. Throws `bad_request` if apk could not compare it. */
export function parseVersion(text: string): string {
  if (VERSION.test(text)) return text
  const rule = 'must have the form of apk versions, such as 1.2.3_rc4-r5'
  throw new Failure('bad_request', `package version is invalid: ${quote(text)} ${rule}`)
}

/** Returns an architecture or `noarch`. Throws `bad_request` if it is invalid. */
export function parseArchitecture(text: string): string {
  if (isArchitecture(text)) return text
  const rule = `must have 1 to ${CHARACTERS_MAX} lower-case letters, digits and '_'`
  throw new Failure('bad_request', `package architecture is invalid: ${quote(text)} ${rule}`)
}

/** Returns true if the text can be the name of an architecture. */
export function isArchitecture(text: string): boolean {
  return ARCHITECTURE.test(text) && text.length <= CHARACTERS_MAX
}

/** A repository with packages of all architectures, such as `v3.20` and `main`. */
export interface Repository {
  readonly branch: string
  readonly repository: string
}

/** Returns the repository in the parameters of a URL. Throws `bad_request` if it is invalid. */
export function parseRepository(params: Readonly<Record<string, string>>): Repository {
  const { branch = '', repository = '' } = params
  return {
    branch: parseSegment('branch', branch),
    repository: parseSegment('repository', repository),
  }
}

function parseSegment(what: string, text: string): string {
  const isDots = text === '.' || text === '..'
  if (SEGMENT.test(text) && !isDots && text.length <= CHARACTERS_MAX) return text
  const rule = `must have 1 to ${CHARACTERS_MAX} letters, digits and '.-+_~', not only dots`
  throw new Failure('bad_request', `${what} is invalid: ${quote(text)} ${rule}`)
}

/** Name and version of a package. */
export interface PackageId {
  readonly packageName: string
  readonly version: string
}

/** Returns the file name of a package. */
export function fileNameOf({ packageName, version }: PackageId): string {
  return `${packageName}-${version}.apk`
}

/**
 * Returns the package with that file name; undefined if no package can have it. Parsing is
 * unambiguous, because a version begins with a digit and has a hyphen only before its revision.
 */
export function readFileName(fileName: string): PackageId | undefined {
  const parts = /^(.{1,255})-([0-9][^-]*(?:-r[0-9]+)?)\.apk$/is.exec(fileName)
  const [, packageName, version] = parts ?? []
  return packageName === undefined || version === undefined ? undefined : { packageName, version }
}
