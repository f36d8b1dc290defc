/** Syntax highlighting with highlight.js; runs in the worker pool. */

import { createRequire } from 'node:module'
import { linesOf, plainRows, rowsOf } from './file-rows.js'
import type { TrustedHtml } from './trusted-html.js'

/** Part of highlight.js that is used; its own types would declare browser globals. */
interface Highlighter {
  getLanguage(name: string): object | undefined
  highlight(
    text: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ): { readonly value: string }
}

/** Library, loaded with the first highlighted file because it is large. */
let library: Highlighter | undefined

function highlighter(): Highlighter {
  library ??= createRequire(import.meta.url)('highlight.js/lib/common') as Highlighter
  return library
}

/**
 * Renders the lines of a file, highlighted if the file extension names a known language. Many
 * languages of the library use expressions of quadratic or worse cost, so only the pool calls this.
 */
export function highlightedRows(text: string, name: string): TrustedHtml {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  if (highlighter().getLanguage(ending) === undefined) return plainRows(text)
  const { value } = highlighter().highlight(text, { language: ending, ignoreIllegals: true })
  return rowsOf(wholeLines(value))
}

/** Splits HTML into lines and closes and reopens elements that span several lines. */
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
