/**
 * Rows of a job's log as HTML: colours, groups and messages. Everything else that a row contains is
 * text.
 */

import { type TrustedHtml, trustHtml } from './trusted-html.js'
import { escapeHtml, markHidden } from './visible-text.js'

/** Maximum number of characters of a row that are shown. */
const ROW_CHARACTERS_MAX = 2_000

export interface DrawnRow {
  /** `group` begins a group that the HTML names, and `endgroup` ends it. */
  readonly kind: 'row' | 'group' | 'endgroup'
  readonly html: string
}

/** Command at the beginning of a row: `::error file=a.ts::` or `##[error]`. */
const COMMAND =
  /^(?:::(group|endgroup|error|warning|notice|debug)(?: .*?)?::|##\[(group|endgroup|error|warning|notice|debug)\])/

/** Renders the text of a row. The cost is linear in its shown part. */
export function drawLogRow(text: string): DrawnRow {
  const shown = text.slice(0, ROW_CHARACTERS_MAX)
  const command = COMMAND.exec(shown)
  const name = command?.[1] ?? command?.[2]
  const content = ansiHtml(shown.slice(command?.[0].length ?? 0)) + cutMark(text)
  if (name === undefined) return { kind: 'row', html: content }
  if (name === 'group' || name === 'endgroup') return { kind: name, html: content }
  return { kind: 'row', html: `<span class="log-${name}">${LABELS[name] ?? ''}${content}</span>` }
}

/** Labels of messages, so that colour is not the only difference. */
const LABELS: Readonly<Record<string, string>> = {
  error: 'Error: ',
  warning: 'Warning: ',
  notice: 'Notice: ',
  debug: 'Debug: ',
}

function cutMark({ length }: string): string {
  const cut = length - ROW_CHARACTERS_MAX
  return cut > 0 ? ` <mark>${cut} more characters are in the whole log</mark>` : ''
}

/** Control sequences of ECMA-48: CSI with parameters and final byte, OSC, and others. */
const SEQUENCES =
  /\u001b(?:\[([0-?]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[ -/]*[0-~])/g

/** Renders text whose colours are set by control sequences; other sequences are removed. */
function ansiHtml(text: string): string {
  if (!text.includes('\u001b')) return markHidden(escapeHtml(text))
  // A joined array is one flat string. Flattening a long concatenation later blocks the event loop.
  const parts: string[] = []
  let from = 0
  let style = PLAIN
  for (const sequence of text.matchAll(SEQUENCES)) {
    parts.push(styledHtml(text.slice(from, sequence.index), style))
    from = sequence.index + sequence[0].length
    if (sequence[2] === 'm') style = styleAfter(style, sequence[1] ?? '')
  }
  parts.push(styledHtml(text.slice(from), style))
  return parts.join('')
}

interface Style {
  /** Code of the colour: 30 to 37, or 90 to 97. */
  readonly color: number | undefined
  readonly isBold: boolean
}

const PLAIN: Style = { color: undefined, isBold: false }

function styledHtml(text: string, { color, isBold }: Style): string {
  const html = markHidden(escapeHtml(text))
  if (html === '' || (color === undefined && !isBold)) return html
  const classes = [...(color === undefined ? [] : [`ansi-${color}`]), ...(isBold ? ['strong'] : [])]
  return `<span class="${classes.join(' ')}">${html}</span>`
}

/** Returns the style after a Select Graphic Rendition sequence (ECMA-48 §8.3.117). */
function styleAfter(style: Style, parameters: string): Style {
  let { color, isBold } = style
  const codes = parameters.split(';').map(Number)
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0
    if (code === 0) ({ color, isBold } = PLAIN)
    else if (code === 1) isBold = true
    else if (code === 22) isBold = false
    else if (code === 39) color = undefined
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) color = code
    // The next codes are a colour of a palette (38;5;n) or its parts (38;2;r;g;b).
    else if (code === 38 || code === 48) at += codes[at + 1] === 5 ? 2 : 4
  }
  return { color, isBold }
}

/** A rendered row with its number within its step. */
export interface NumberedRow extends DrawnRow {
  readonly number: number
  /** Time in ISO 8601; may be empty. */
  readonly time: string
}

/** Renders the rows of a step. Their anchors are `step:row`. */
export function drawLogRows(step: number, rows: readonly NumberedRow[]): TrustedHtml {
  let html = ''
  let isInGroup = false
  for (const { kind, number, time, html: content } of rows) {
    const id = `${step}:${number}`
    if (kind === 'row') {
      html += `<div id="${id}"><a class="number" href="#${id}" title="${time}">${number}</a><code>${content}</code></div>`
      continue
    }
    if (isInGroup) html += '</details>'
    isInGroup = kind === 'group'
    if (isInGroup) html += `<details id="${id}"><summary>${content || 'Group'}</summary>`
  }
  return trustHtml(isInGroup ? `${html}</details>` : html)
}
