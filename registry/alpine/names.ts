/** Names of Alpine packages, versions, architectures and repositories. */

import { Failure } from '../../conf/failures.js'

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
  const advice = "it begins with a letter or a digit and holds letters, digits, '.', '_', '+', '-'"
  throw new Failure('bad_request', `package name is invalid: ${advice}`)
}

/** Returns a version. Throws `bad_request` if apk could not compare it. */
export function parseVersion(text: string): string {
  if (VERSION.test(text)) return text
  throw new Failure('bad_request', 'package version is invalid: apk knows such as 1.2.3_rc4-r5')
}

/** Returns an architecture or `noarch`. Throws `bad_request` if it is invalid. */
export function parseArchitecture(text: string): string {
  if (isArchitecture(text)) return text
  const advice = "it holds small letters, digits and '_' only"
  throw new Failure('bad_request', `package architecture is invalid: ${advice}`)
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
  const isWay = text === '.' || text === '..'
  if (SEGMENT.test(text) && !isWay && text.length <= CHARACTERS_MAX) return text
  const advice = `it has at most ${CHARACTERS_MAX} letters, digits, '.', '-', '+', '_' and '~'`
  throw new Failure('bad_request', `${what} is invalid: ${advice}`)
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
