/** What a file in a repository may be called, wherever its name would be checked out. */

import { Failure } from './failures.js'

const PATH_BYTES_MAX = 4_096
const NAME_BYTES_MAX = 255
const DEPTH_MAX = 100

/**
 * The names of a path from the top folder of a repository down to a file. Throws `invalid` for one
 * that leads elsewhere on some system, or that a person could not read.
 */
export function parseFilePath(text: string): readonly string[] {
  const names = text.split('/')
  const wrong =
    Buffer.byteLength(text) > PATH_BYTES_MAX ||
    names.length > DEPTH_MAX ||
    names.some((name) => !isPlain(name) || !isTreeName(name))
  if (wrong) throw new Failure('invalid', 'path contains a malformed path component')
  return names
}

/** A backslash is a separator on Windows, and half a surrogate pair has no UTF-8. */
function isPlain(name: string): boolean {
  return Buffer.byteLength(name) <= NAME_BYTES_MAX && !/[\p{Cc}\p{Cs}\\]/u.test(name)
}

/**
 * Whether an entry of a tree may have that name. Refused is what git's own check refuses in a push
 * (git-fsck(1): hasDot, hasDotdot, hasDotgit, fullPathname, emptyName).
 */
export function isTreeName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) return false
  return !meansOnWindows(name, WINDOWS_DOT_GIT) && withoutIgnored(name) !== '.git'
}

/**
 * Whether git or a checkout takes that name for `.gitmodules`: what it says becomes addresses to
 * call and folders to write to.
 */
export function isModulesName(name: string): boolean {
  return meansOnWindows(name, WINDOWS_MODULES) || withoutIgnored(name) === '.gitmodules'
}

/** The short names that NTFS gives to files. */
const WINDOWS_DOT_GIT = /^(?:\.git|git~1)$/i
const WINDOWS_MODULES = /^(?:\.gitmodules|gitmod~[1-4]|gi7eba~[1-9]|gi7eb~[1-9]\d)$/i

/** There, dots and spaces at the end are dropped, and a colon names a stream of the same file. */
function meansOnWindows(name: string, pattern: RegExp): boolean {
  return name
    .split('\\')
    .some((part) => pattern.test(part.replace(/:.*$/s, '').replace(/[ .]+$/, '')))
}

/** As HFS+ compares names: without regard to case, or to these characters (git's utf8.c). */
function withoutIgnored(name: string): string {
  return name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '').toLowerCase()
}
