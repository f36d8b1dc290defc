/** The header of a multipart form's part, and the values with parameters that stand in it. */

import { Failure } from '../conf/failures.js'

/** What a part says of itself (RFC 7578 §4.2). */
export interface PartHeader {
  readonly name: string
  /** Without folders. Absent where it is not given or empty. */
  readonly fileName: string | undefined
  /** In lower case, without parameters; `text/plain` where the part does not say. */
  readonly contentType: string
  /** In lower case, as the part claims it; `binary` where it does not say. */
  readonly transferEncoding: string
}

/** Reads the lines before a part's content. Throws `bad_request` for what is not well-formed. */
export function parsePartHeader(lines: readonly string[]): PartHeader {
  const fields = new Map<string, string>()
  for (const line of lines) {
    const [, name = '', value = ''] = FIELD.exec(line) ?? []
    if (name === '') throw malformed('a line of its header is not NAME: VALUE')
    // Whoever takes the first and whoever takes the last would read two different forms.
    if (fields.has(name.toLowerCase())) throw malformed(`its header says ${name} twice`)
    fields.set(name.toLowerCase(), value)
  }
  const disposition = parseValue(fields.get('content-disposition') ?? '')
  const name = disposition?.parameters.get('name')
  if (disposition?.value !== 'form-data' || name === undefined) {
    throw malformed('it has no Content-Disposition of form-data with a name')
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
  /** In lower case. */
  readonly value: string
  /** By names in lower case; of several with one name the first. */
  readonly parameters: ReadonlyMap<string, string>
}

const MAIN = new RegExp(`${TOKEN}(?:/${TOKEN})?[ \\t]*`, 'y')
const PARAMETER = new RegExp(
  `;[ \\t]*(?:(${TOKEN})=(?:"((?:[^"\\\\]|\\\\.)*)"|([^";\\s]*))[ \\t]*)?`,
  'y',
)

/** `form-data; name="a"` and `multipart/form-data; boundary=b`. Absent for what is neither. */
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
    // Only quotes and backslashes are ever escaped: a lone backslash is a folder of Windows.
    parameters.set(key, quoted?.replace(/\\(["\\])/g, '$1') ?? bare)
  }
  return { value: main[0].trim().toLowerCase(), parameters }
}

function fileNameOf(parameters: ReadonlyMap<string, string>): string | undefined {
  const name = extendedValue(parameters.get('filename*')) ?? parameters.get('filename') ?? ''
  return name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1) || undefined
}

/** A value of RFC 8187 in UTF-8. */
function extendedValue(text = ''): string | undefined {
  const [, encoded] = /^utf-8'[^']*'(.*)$/i.exec(text) ?? []
  if (encoded === undefined) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch (cause) {
    throw new Failure('bad_request', 'A file name of the form is not UTF-8.', { cause })
  }
}
