/** Validation of the names of owners, repositories, branches, tags and files, and of titles. */

import { Failure } from './failures.js'

/** ASCII only, so that names can be compared ignoring case by converting them to lower case. */
const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/

/** Device names, which Windows clients cannot check out, with any extension. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/

const RESERVED_SUFFIXES = ['.git', '.wiki', '.rss', '.atom', '.lock', '.']

/** First path segments that the gateway uses itself, or may use later. */
const RESERVED_OWNERS: ReadonlySet<string> = new Set([
  'admin',
  'api',
  'assets',
  'attachments',
  'avatar',
  'avatars',
  'captcha',
  'commits',
  'debug',
  'error',
  'explore',
  'favicon.ico',
  'ghost',
  'healthz',
  'issues',
  'livez',
  'login',
  'logout',
  'manifest.json',
  'metrics',
  'milestones',
  'new',
  'notifications',
  'org',
  'packages',
  'pulls',
  'raw',
  'readyz',
  'repo',
  'repo-avatars',
  'robots.txt',
  'search',
  'sendfilez',
  'setup',
  'stars',
  'swagger.v1.json',
  'template',
  'twirp',
  'user',
  'users',
])

/** Maximum length of the name of a user or an organization. */
export const OWNER_CHARACTERS_MAX = 40
/** Maximum length of the name of a repository. */
export const REPOSITORY_CHARACTERS_MAX = 100
const BRANCH_BYTES_MAX = 100
const TAG_CHARACTERS_MAX = 255
const REFERENCE_BYTES_MAX = 1_024
const FILE_NAME_CHARACTERS_MAX = 255
/** Maximum length of an e-mail address. */
export const EMAIL_CHARACTERS_MAX = 254

/** Parses the name of a user or an organization. Throws `invalid` with the violated rule. */
export function parseOwnerName(text: string): string {
  if (text.length > OWNER_CHARACTERS_MAX) {
    throw new Failure('invalid', `A name has at most ${OWNER_CHARACTERS_MAX} characters.`)
  }
  const name = parsePlainName(text)
  if (!/[A-Za-z0-9]$/.test(name) || /[._-]{2}/.test(name)) {
    throw new Failure('invalid', `The name ${name} must not end with or repeat '-', '_' or '.'.`)
  }
  // The addresses of an owner's public keys end so.
  if (RESERVED_OWNERS.has(name.toLowerCase()) || /\.(?:gpg|keys)$/i.test(name)) {
    throw new Failure('invalid', `The name ${name} is reserved.`)
  }
  return name
}

/** Parses the name of a repository. Throws `invalid` with the violated rule. */
export function parseRepositoryName(text: string): string {
  if (text.length > REPOSITORY_CHARACTERS_MAX) {
    throw new Failure('invalid', `A name has at most ${REPOSITORY_CHARACTERS_MAX} characters.`)
  }
  return parsePlainName(text)
}

/**
 * Parses a branch name, without `refs/heads/`, by the rules of git-check-ref-format(1) for
 * `--branch`. Stricter than git in two points: `@`, which means HEAD on a command line, and the
 * length. Throws `invalid`.
 */
export function parseBranchName(text: string): string {
  if (!isReferenceName(text) || Buffer.byteLength(text) > BRANCH_BYTES_MAX) {
    throw new Failure('invalid', 'The branch name is not a valid Git reference name.')
  }
  return text
}

/** Returns true if git permits the name for a branch or a tag that is pushed. */
export function isReferenceName(text: string): boolean {
  const wrong =
    text === '' ||
    Buffer.byteLength(text) > REFERENCE_BYTES_MAX ||
    text === '@' ||
    text === 'HEAD' ||
    text.startsWith('-') ||
    text.endsWith('.') ||
    /\.\.|@\{|\/\/|[\u0000-\u0020\u007f~^:?*[\\]/.test(text) ||
    // A lone surrogate has no UTF-8 form, so two such names would become the same file.
    /\p{Surrogate}/u.test(text) ||
    text.split('/').some((part) => part === '' || part.startsWith('.') || part.endsWith('.lock'))
  return !wrong
}

/** Parses the tag name of a release, without `refs/tags/`. Throws `invalid`. */
export function parseTagName(text: string): string {
  if (!isReferenceName(text) || text.length > TAG_CHARACTERS_MAX) {
    throw new Failure('invalid', 'The tag name is not a valid Git reference name.')
  }
  return text
}

/**
 * Parses the name of an uploaded file. Paths, line breaks and characters that make the name appear
 * as another one are refused. Throws `invalid`.
 */
export function parseFileName(text: string): string {
  const wrong =
    text.trim() === '' ||
    text.length > FILE_NAME_CHARACTERS_MAX ||
    text === '.' ||
    text === '..' ||
    /[/\\\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(text)
  if (wrong) {
    throw new Failure(
      'invalid',
      'A file name has 1 to 255 characters, none of which is a slash or a control character.',
    )
  }
  return text
}

/** Parses an e-mail address, checked only as far as sending needs. Throws `invalid`. */
export function parseEmail(text: string): string {
  const wrong =
    text.length > EMAIL_CHARACTERS_MAX || !/^[^\s@<>",;:\\]+@[^\s@<>",;:\\]+$/.test(text)
  if (wrong || /[^\u0021-\u007e]/.test(text)) {
    throw new Failure('invalid', 'The e-mail address is not valid.')
  }
  return text
}

/** Parses a title that a user chose: any text that is safe on a terminal. Throws `invalid`. */
export function parseTitle(text: string): string {
  if (text.trim() === '' || /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)) {
    throw new Failure('invalid', 'A title is not blank and contains no control characters.')
  }
  return text
}

function parsePlainName(text: string): string {
  if (!PLAIN_NAME.test(text)) {
    throw new Failure(
      'invalid',
      "A name starts with a letter or a digit and contains only letters, digits, '-', '_' and '.'.",
    )
  }
  const lower = text.toLowerCase()
  if (DEVICE_NAME.test(lower) || RESERVED_SUFFIXES.some((suffix) => lower.endsWith(suffix))) {
    throw new Failure('invalid', `The name ${text} is reserved.`)
  }
  return text
}
