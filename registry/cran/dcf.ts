/** Reader of a DESCRIPTION file: one record in the Debian control format of R (?read.dcf). */

import { Failure } from '../../conf/failures.js'
import { quote } from '../archive/zip-paths.js'

/**
 * Returns the fields in order, each value on one line. Bytes are decoded as Latin-1, whatever the
 * encoding of the file. Throws `bad_request` if R cannot read the record, and for duplicate fields
 * and control characters, with which the record can mislead a human reader.
 */
export function readRecord(bytes: Buffer): ReadonlyMap<string, string> {
  const fields = new Map<string, string>()
  let name: string | undefined
  let isEnded = false
  for (const line of bytes.toString('latin1').split(/\r?\n/)) {
    if (/[\0-\x08\x0b-\x1f\x7f]/.test(line)) {
      throw malformed(`has control characters in ${quote(line)}`)
    }
    const text = tidy(line)
    if (text === '') {
      isEnded ||= name !== undefined
    } else if (isEnded) {
      throw malformed('has a blank line between its fields')
    } else if (/^[ \t]/.test(line)) {
      if (name === undefined) throw malformed('begins with white space')
      const before = fields.get(name)
      // A line with only a full stop is an empty line of the value.
      if (text !== '.') fields.set(name, before ? `${before} ${text}` : text)
    } else {
      const [field, value] = splitField(text)
      if (fields.has(field)) throw malformed(`has the field ${quote(field)} twice`)
      fields.set(field, value)
      name = field
    }
  }
  return fields
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(':')
  const name = line.slice(0, Math.max(0, colon))
  // R reads a space before the colon as a part of the name.
  if (name === '' || name.includes(' ')) {
    throw malformed(`has a line that is not a field: ${quote(line)}`)
  }
  return [name, tidy(line.slice(colon + 1))]
}

function tidy(text: string): string {
  return text
    .split(/[ \t]+/)
    .filter((word) => word !== '')
    .join(' ')
}

function malformed(fault: string): Failure {
  return new Failure('bad_request', `The DESCRIPTION file ${fault}.`)
}
