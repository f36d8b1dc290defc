/** Source text as lines of HTML with its words marked, by a library that knows the languages. */

import { createRequire } from 'node:module'
import { type TrustedHtml, trustHtml } from './trusted-html.js'
import { markHidden } from './visible-text.js'

/** Marking more takes longer than anybody waits. */
const CHARACTERS_MAX = 200_000

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

/** The lines of a text, each whole by itself; plain where its name tells no language. */
export function highlightLines(text: string, name: string): TrustedHtml[] {
  const html = text.length <= CHARACTERS_MAX ? highlight(text, name) : escapeHtml(text)
  const lines = splitLines(html)
  if (text.endsWith('\n')) lines.pop()
  return lines.map((line) => trustHtml(markHidden(line)))
}

function highlight(text: string, name: string): string {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  const language = highlighter().getLanguage(ending)
  if (language === undefined) return escapeHtml(text)
  return highlighter().highlight(text, { language: ending, ignoreIllegals: true }).value
}

/** The library marks a comment of many lines once: each line gets the marks that it stands in. */
function splitLines(html: string): string[] {
  const open: string[] = []
  return html.split('\n').map((line) => {
    const before = open.join('')
    for (const [tag] of line.matchAll(/<span[^>]*>|<\/span>/g)) {
      if (tag === '</span>') open.pop()
      else open.push(tag)
    }
    return before + line + '</span>'.repeat(open.length)
  })
}

/** Text as it may stand in HTML and in its attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
