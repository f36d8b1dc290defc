/** Names of wiki pages: title, path segment of the URL, and file in Git, as in Gitea. */

import { Failure } from './failures.js'

/** A wiki page's name in its three forms. */
export interface WikiName {
  /** `Home Page` */
  readonly title: string
  /** Path segment of its addresses, percent-encoded: `Home-Page`. */
  readonly segment: string
  /** Path of its file in the wiki's tree: `Home-Page.md`. */
  readonly file: string
}

/** Suffix of segments and files in which a dash does not mean a space. */
const DASH_MARKER = '.-'

const EXTENSION = '.md'

/** Titles whose path segments are those of other pages. */
const RESERVED: ReadonlySet<string> = new Set(['_pages', '_new', '_edit', 'raw'])

const FILE_NAME_BYTES_MAX = 255

/** Parses the title of a page to be written. Throws `bad_request` with the violated rule. */
export function parseWikiTitle(text: string): WikiName {
  const title = text.trim()
  if (
    title === '' ||
    title === '.' ||
    title === '..' ||
    /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]/u.test(title)
  ) {
    throw new Failure(
      'bad_request',
      "A wiki title is neither blank nor '.' or '..', and has no control characters.",
    )
  }
  if (RESERVED.has(title)) throw new Failure('bad_request', `wiki title is reserved: ${title}`)
  const name = wikiNameOf(escapeTitle(title, false))
  const bytes = Buffer.byteLength(name.file)
  if (bytes > FILE_NAME_BYTES_MAX) {
    throw new Failure(
      'bad_request',
      `The wiki title is too long: its file name has ${bytes} bytes, of at most ${FILE_NAME_BYTES_MAX}.`,
    )
  }
  return name
}

/**
 * Returns the name of the page with that path segment, percent-encoded. A segment that ends in
 * `.md` is the path of a file.
 */
export function wikiNameOf(segment: string): WikiName {
  if (segment.endsWith(EXTENSION)) {
    const file = unescaped(segment)
    return { title: titleOf(file.slice(0, -EXTENSION.length)), segment, file }
  }
  const title = titleOf(segment)
  const escaped = escapeTitle(title, segment.endsWith(DASH_MARKER))
  return { title, segment: escaped, file: `${escaped.replaceAll('+', ' ')}${EXTENSION}` }
}

/** Returns the name of the page with that file; undefined if the file is not a page. */
export function wikiNameOfFile(file: string): WikiName | undefined {
  if (!file.endsWith(EXTENSION)) return undefined
  const stem = file.slice(0, -EXTENSION.length)
  const title = titleOf(stem)
  const segment = escapeTitle(title, stem.endsWith(DASH_MARKER))
  return title === '' ? undefined : { title, segment, file }
}

/**
 * Returns the paths at which the file of a page can be: the one under which it is written, and
 * those that authors choose who write the title unchanged.
 */
export function wikiFilesOf({ title, file }: WikiName): readonly string[] {
  return [...new Set([file, unescaped(file), `${title}${EXTENSION}`])]
}

/** Returns the path segment of the page with a title, which need not be permitted. */
export function wikiSegmentOf(title: string): string {
  return escapeTitle(title, false)
}

function titleOf(text: string): string {
  const isMarked = text.endsWith(DASH_MARKER)
  const spaced = isMarked ? text.slice(0, -DASH_MARKER.length) : text.replaceAll('-', ' ')
  return unescaped(spaced.replaceAll('+', ' '))
}

/** Percent-decodes a text, or returns it unchanged if it is malformed. */
function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function escapeTitle(title: string, isMarked: boolean): string {
  const hasMarker = isMarked || title.includes('-') || title.endsWith(EXTENSION)
  const dashed = hasMarker ? `${title}${DASH_MARKER}` : title.replaceAll(' ', '-')
  return encodeURIComponent(dashed)
    .replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
}
