/** The header of a part of a multipart form, and header values with parameters. */

import { Failure } from '../conf/failures.js'

/** Header of a part (RFC 7578 §4.2). */
export interface PartHeader {
  readonly name: string
  /** File name without folders; undefined if it is missing or empty. */
  readonly fileName: string | undefined
  /** Media type in lower case, without parameters; by default `text/plain`. */
  readonly contentType: string
  /** Declared transfer encoding in lower case; by default `binary`. */
  readonly transferEncoding: string
}

/** Parses the header lines of a part. Throws `bad_request` if they are malformed. */
export function parsePartHeader(lines: readonly string[]): PartHeader {
  const fields = new Map<string, string>()
  for (const line of lines) {
    const [, name = '', value = ''] = FIELD.exec(line) ?? []
    if (name === '') throw malformed('a header line does not have the form "Name: value"')
    // Refused, because some parsers take the first field and others the last.
    if (fields.has(name.toLowerCase())) throw malformed(`its header has the field ${name} twice`)
    fields.set(name.toLowerCase(), value)
  }
  const disposition = parseValue(fields.get('content-disposition') ?? '')
  const name = disposition?.parameters.get('name')
  if (disposition?.value !== 'form-data' || name === undefined) {
    throw malformed('its header has no Content-Disposition: form-data with a name')
  }
  return {
    name,
    fileName: fileNameOf(disposition.parameters),
    contentType: parseValue(fields.get('content-type') ?? '')?.value ?? 'text/plain',
    transferEncoding: fields.get('content-transfer-encoding')?.toLowerCase() ?? 'binary',
  }
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const FIELD = new RegExp(`^(${TOKEN}):[ \\t]*([^\\r\\n\\0]*?)[ \\t]*$`)

function malformed(what: string): Failure {
  return new Failure('bad_request', `A part of the form is malformed: ${what}.`)
}

interface Value {
  /** Value without parameters, in lower case. */
  readonly value: string
  /** Parameters by their names in lower case; the first one of each name. */
  readonly parameters: ReadonlyMap<string, string>
}

const MAIN = new RegExp(`${TOKEN}(?:/${TOKEN})?[ \\t]*`, 'y')
const PARAMETER = new RegExp(
  `;[ \\t]*(?:(${TOKEN})=(?:"((?:[^"\\\\]|\\\\.)*)"|([^";\\s]*))[ \\t]*)?`,
  'y',
)

/**
 * Parses a header value with parameters, such as `form-data; name="a"` or
 * `multipart/form-data; boundary=b`. Returns undefined if it is malformed.
 */
export function parseValue(text: string): Value | undefined {
  MAIN.lastIndex = 0
  const main = MAIN.exec(text)
  if (main === null) return undefined
  const parameters = new Map<string, string>()
  let at = MAIN.lastIndex
  while (at < text.length) {
    PARAMETER.lastIndex = at
    const [whole = '', name = '', quoted, bare = ''] = PARAMETER.exec(text) ?? []
    if (whole === '') return undefined
    at += whole.length
    const key = name.toLowerCase()
    if (key === '' || parameters.has(key)) continue
    // Only quotes and backslashes are escaped; any other backslash is part of a Windows path.
    parameters.set(key, quoted?.replace(/\\(["\\])/g, '$1') ?? bare)
  }
  return { value: main[0].trim().toLowerCase(), parameters }
}

function fileNameOf(parameters: ReadonlyMap<string, string>): string | undefined {
  const name = extendedValue(parameters.get('filename*')) ?? parameters.get('filename') ?? ''
  return name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1) || undefined
}

/** Decodes an extended parameter value in UTF-8 (RFC 8187). */
function extendedValue(text = ''): string | undefined {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(text) ?? []
  if (encoded === undefined) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch (cause) {
    throw new Failure('bad_request', 'A file name in the form is not valid UTF-8.', { cause })
  }
}
