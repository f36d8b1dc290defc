/** Rules for file names in a repository that are safe to check out on every operating system. */

import { Failure } from './failures.js'

const PATH_BYTES_MAX = 4_096
const NAME_BYTES_MAX = 255
const DEPTH_MAX = 100

/**
 * Splits the path of a file in a repository into its names, from the root down. Throws `invalid` if
 * a name is not allowed in a tree, has control characters or a backslash, or a limit is exceeded.
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

/** Refuses backslashes, which are separators on Windows, and surrogates, which have no UTF-8. */
function isPlain(name: string): boolean {
  return Buffer.byteLength(name) <= NAME_BYTES_MAX && !/[\p{Cc}\p{Cs}\\]/u.test(name)
}

/**
 * Returns true if a tree entry may have that name. Refuses the names that git itself refuses in a
 * push (git-fsck(1): hasDot, hasDotdot, hasDotgit, fullPathname, emptyName).
 */
export function isTreeName(name: string): boolean {
  if (name === '' || name === '.' || name === '..' || /[/\0]/.test(name)) return false
  return !meansOnWindows(name, WINDOWS_DOT_GIT) && withoutIgnored(name) !== '.git'
}

/**
 * Returns true if git or a checkout treats a file of that name as `.gitmodules`, whose content
 * determines URLs to fetch from and folders to write to.
 */
export function isModulesName(name: string): boolean {
  return meansOnWindows(name, WINDOWS_MODULES) || withoutIgnored(name) === '.gitmodules'
}

/** The names themselves, and the short (8.3) names that NTFS generates for them. */
const WINDOWS_DOT_GIT = /^(?:\.git|git~1)$/i
const WINDOWS_MODULES = /^(?:\.gitmodules|gitmod~[1-4]|gi7eba~[1-9]|gi7eb~[1-9]\d)$/i

/**
 * Returns true if a part of the name matches on Windows, which drops trailing dots and spaces,
 * separates folders by backslashes and reads a colon as a stream of the same file.
 */
function meansOnWindows(name: string, pattern: RegExp): boolean {
  return name
    .split('\\')
    .some((part) => pattern.test(part.replace(/:.*$/s, '').replace(/[ .]+$/, '')))
}

/** Normalizes a name like HFS+, which ignores case and these characters (git's utf8.c). */
function withoutIgnored(name: string): string {
  return name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '').toLowerCase()
}
