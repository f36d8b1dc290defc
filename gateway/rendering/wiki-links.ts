/** Links between the pages of a wiki: `[[Title]]` and `[[text|Title]]`. */

import { wikiSegmentOf } from '../../conf/wiki-name.js'

/** A link in a text. */
export interface WikiLink {
  readonly text: string
  /** Path segment of a page, or a complete address. */
  readonly target: string
  /** Offset after the link. */
  readonly end: number
}

/** Maximum length of the text between the brackets, so that unclosed ones are not searched far. */
const CHARACTERS_MAX = 500

/** Reads the link that starts at an offset; undefined if there is none. */
export function readWikiLink(source: string, at: number): WikiLink | undefined {
  if (!source.startsWith('[[', at)) return undefined
  const start = at + 2
  const near = source.slice(start, start + CHARACTERS_MAX)
  const inner = near.slice(0, Math.max(0, near.indexOf(']]')))
  if (inner.trim() === '' || /[\n[\]]/.test(inner)) return undefined
  const [text = '', title = text] = inner.split('|').map((part) => part.trim())
  const target = /^https?:/i.test(title) ? title : wikiSegmentOf(title)
  return { text, target, end: start + inner.length + 2 }
}
