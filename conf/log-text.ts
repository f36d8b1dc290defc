/** Log lines as text, for reading on a terminal. */

export interface LogTextOptions {
  /** Colours the level of warnings and errors with ANSI escape sequences. */
  readonly isColoured?: boolean
}

/** Characters of a message or of one field's value; the rest is replaced by an ellipsis. */
const VALUE_CHARACTERS_MAX = 500
const STACK_LINES_MAX = 40
const CAUSES_MAX = 4

const COLOURS: Readonly<Record<string, string>> = { warn: '\u001b[33m', error: '\u001b[31m' }
const COLOUR_END = '\u001b[39m'

/**
 * Converts a JSON line of the log to text: local time, level, message, then the fields as
 * `key=value`. Stacks of lines of level error follow, indented. A line that is not a JSON object
 * with a time is returned escaped. Newlines and colours are the only control characters of the
 * result.
 */
export function formatLogLine(line: string, { isColoured = false }: LogTextOptions = {}): string {
  const record = parseLine(line)
  if (record === undefined) return `${escapeControls(line.trimEnd())}\n`
  const { level, time, msg, ...fields } = record
  const pairs = Object.entries(fields).map(
    ([key, value]) => ` ${escapeControls(key)}=${formatField(key, value)}`,
  )
  const head = `${formatTime(time)} ${formatLevel(String(level), isColoured)}`
  const text = `${head} ${escapeControls(shorten(String(msg ?? '')))}`
  const fieldsText = pairs.length === 0 ? '' : ` ${pairs.join('')}`
  const stack = level === 'error' ? stackLines(fields['error']) : []
  return `${[text + fieldsText, ...stack].join('\n')}\n`
}

function parseLine(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) && typeof value['time'] === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function formatTime(time: unknown): string {
  const date = new Date(String(time))
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}

function formatLevel(level: string, isColoured: boolean): string {
  const text = escapeControls(level).padEnd(5)
  const colour = isColoured ? COLOURS[level] : undefined
  return colour === undefined ? text : `${colour}${text}${COLOUR_END}`
}

function formatField(key: string, value: unknown): string {
  if (key === 'error' && isObject(value)) return formatString(describeError(value))
  if (typeof value === 'string') return formatString(value)
  return escapeControls(shorten(JSON.stringify(value)))
}

/** Quotes the string if its end would be ambiguous, or if it needs escapes. */
function formatString(text: string): string {
  const short = shorten(text)
  const isPlain = short !== '' && !/[\s"]/.test(short) && escapeControls(short) === short
  return isPlain ? short : escapeControls(JSON.stringify(short))
}

function shorten(text: string): string {
  return text.length <= VALUE_CHARACTERS_MAX ? text : `${text.slice(0, VALUE_CHARACTERS_MAX)}…`
}

/**
 * Replaces control characters by `\uXXXX`, and also characters that move or hide text on a
 * terminal: line separators, direction marks, zero-width characters and lone surrogates.
 */
function escapeControls(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (found) =>
    Array.from({ length: found.length }, (_, at) => escapeUnit(found.charCodeAt(at))).join(''),
  )
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}

/** Returns the error and its causes, outermost first. */
function causesOf(error: unknown): ReadonlyArray<Readonly<Record<string, unknown>>> {
  const found: Array<Readonly<Record<string, unknown>>> = []
  for (let each = error; isObject(each) && found.length <= CAUSES_MAX; each = each['cause']) {
    found.push(each)
  }
  return found
}

function describeError(error: Readonly<Record<string, unknown>>): string {
  const [text = '', ...causes] = causesOf(error).map(({ message, code }) => {
    const words = String(message)
    return code === undefined || words.includes(String(code)) ? words : `${code}: ${words}`
  })
  return text + causes.map((cause) => ` (cause: ${cause})`).join('')
}

function stackLines(error: unknown): readonly string[] {
  const lines = causesOf(error).flatMap(({ stack }, at) => {
    if (typeof stack !== 'string') return []
    return `${at === 0 ? '' : 'cause: '}${stack}`.split('\n')
  })
  return lines.slice(0, STACK_LINES_MAX).map((line) => `    ${escapeControls(shorten(line))}`)
}
