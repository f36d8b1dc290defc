/** The fields of a package's DESCRIPTION file that the index contains. */

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
}

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
  return { packageName, version, fields }
}

function invalid(what: string, field: string, text: string): Failure {
  const fault = text === '' ? `no field ${field}` : `${field}: ${quote(text)}`
  return new Failure('bad_request', `The ${what} is invalid: the DESCRIPTION file has ${fault}.`)
}
