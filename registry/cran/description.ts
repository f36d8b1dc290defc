/** The fields of a package's DESCRIPTION file that the index and the page contain. */

import { Failure } from '../../conf/failures.js'
import { quote } from '../archive/zip-paths.js'
import { readRecord } from './dcf.js'
import { tidyDependencies } from './dependencies.js'
import { isPackageName } from './package-name.js'
import { isVersion } from './version.js'

export interface Description {
  readonly packageName: string
  readonly version: string
  /** Other fields of the index, each on one line, in printable ASCII. */
  readonly fields: Readonly<Record<string, string>>
  /** Fields of the page of the package, as texts of any language. */
  readonly about: Readonly<Record<string, string>>
}

const ABOUT = ['Title', 'Description', 'Author', 'URL']
/** Maximum length of each of these fields; more is cut off. */
const ABOUT_CHARACTERS_MAX = 4_000

const PLAIN = [
  'Priority',
  'License',
  'License_is_FOSS',
  'License_restricts_use',
  'OS_type',
  'Archs',
]
const LISTS = ['Depends', 'Imports', 'LinkingTo', 'Suggests', 'Enhances']

/** Parses a DESCRIPTION file. Throws `bad_request` if it, its name or its version is invalid. */
export function parseDescription(bytes: Buffer): Description {
  const record = readRecord(bytes)
  const packageName = record.get('Package') ?? ''
  if (!isPackageName(packageName)) throw invalid('package name', 'Package', packageName)
  const version = record.get('Version') ?? ''
  if (!isVersion(version)) throw invalid('package version', 'Version', version)
  const fields: Record<string, string> = {}
  for (const field of PLAIN) {
    const text = record.get(field) ?? ''
    if (!/^[\x20-\x7e]*$/.test(text)) {
      const message = `The DESCRIPTION file has non-ASCII characters in its field ${field}.`
      throw new Failure('bad_request', message)
    }
    if (text !== '') fields[field] = text
  }
  for (const field of LISTS) {
    const list = tidyDependencies(field, record.get(field) ?? '')
    if (list !== '') fields[field] = list
  }
  fields['NeedsCompilation'] = record.get('NeedsCompilation') === 'yes' ? 'yes' : 'no'
  return { packageName, version, fields, about: aboutOf(record) }
}

function aboutOf(record: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const texts = ABOUT.flatMap((field) => {
    const value = record.get(field) ?? ''
    return value === '' ? [] : [[field, textOf(value).slice(0, ABOUT_CHARACTERS_MAX)] as const]
  })
  return Object.fromEntries(texts)
}

/** Decodes a value that was read as Latin-1: as UTF-8, unless its bytes are not UTF-8. */
function textOf(value: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'latin1'))
  } catch {
    return value
  }
}

function invalid(what: string, field: string, text: string): Failure {
  const fault = text === '' ? `no field ${field}` : `${field}: ${quote(text)}`
  return new Failure('bad_request', `The ${what} is invalid: the DESCRIPTION file has ${fault}.`)
}
