/** Lines of a file as table rows with linkable line numbers. */

import { type TrustedHtml, trustHtml } from './trusted-html.js'
import { escapeHtml, markHidden } from './visible-text.js'

/** Renders lines of HTML as rows. No element may span several lines. */
export function rowsOf(lines: readonly string[]): TrustedHtml {
  return trustHtml(markHidden(lines.map((line, at) => rowOf(line, at + 1)).join('')))
}

/** Renders a text without highlighting. The cost is linear: 512 KiB take some milliseconds. */
export function plainRows(text: string): TrustedHtml {
  return rowsOf(linesOf(escapeHtml(text)))
}

/** Splits text or HTML into lines; a final line feed does not start another line. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  if (text.endsWith('\n')) lines.pop()
  return lines
}

function rowOf(line: string, number: number): string {
  const link = `<a href="#L${number}">${number}</a>`
  return `<tr id="L${number}"><td class="number">${link}</td><td><code>${line}</code></td></tr>`
}
