/** The lines of a file as rows of a table, each with its number to link to. */

import { type TrustedHtml, trustHtml } from './trusted-html.js'
import { escapeHtml, markHidden } from './visible-text.js'

/** Draws lines of HTML, each of which is whole by itself. */
export function rowsOf(lines: readonly string[]): TrustedHtml {
  return trustHtml(markHidden(lines.map((line, at) => rowOf(line, at + 1)).join('')))
}

/** Draws a text without highlighting. Its cost is linear: 512 KiB take some milliseconds. */
export function plainRows(text: string): TrustedHtml {
  return rowsOf(linesOf(escapeHtml(text)))
}

/** The lines of a text or of its HTML; a line feed at the end begins no further line. */
export function linesOf(text: string): readonly string[] {
  const lines = text.split('\n')
  if (text.endsWith('\n')) lines.pop()
  return lines
}

function rowOf(line: string, number: number): string {
  const link = `<a href="#L${number}">${number}</a>`
  return `<tr id="L${number}"><td class="number">${link}</td><td><code>${line}</code></td></tr>`
}
