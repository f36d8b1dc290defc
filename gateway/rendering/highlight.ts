/** Source text with its words marked, by a library that knows the languages: runs in a pool. */

import { createRequire } from 'node:module'
import { linesOf, plainRows, rowsOf } from './file-rows.js'
import type { TrustedHtml } from './trusted-html.js'

/** What is used of it; its own types would bring a browser's globals into a server. */
interface Highlighter {
  getLanguage(name: string): object | undefined
  highlight(
    text: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ): { readonly value: string }
}

/** Read with the first file that is shown: it is as large as all of the gateway. */
let library: Highlighter | undefined

function highlighter(): Highlighter {
  library ??= createRequire(import.meta.url)('highlight.js/lib/common') as Highlighter
  return library
}

/**
 * Draws the lines of a file; plain if its name tells no language. Many of the library's languages
 * have expressions whose cost is quadratic or worse, so only a pool calls this.
 */
export function highlightedRows(text: string, name: string): TrustedHtml {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  if (highlighter().getLanguage(ending) === undefined) return plainRows(text)
  const { value } = highlighter().highlight(text, { language: ending, ignoreIllegals: true })
  return rowsOf(wholeLines(value))
}

/** The library marks a comment of many lines once: each line gets the marks that it stands in. */
function wholeLines(html: string): readonly string[] {
  const open: string[] = []
  return linesOf(html).map((line) => {
    const before = open.join('')
    for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g)) {
      if (tag === '</span>') open.pop()
      else open.push(tag)
    }
    return before + line + '</span>'.repeat(open.length)
  })
}
