/** Dependency lists: the fields Depends, Imports, LinkingTo, Suggests and Enhances. */

import { Failure } from '../../conf/failures.js'
import { quote } from '../archive/zip-paths.js'
import { isPackageName } from './package-name.js'
import { isVersion } from './version.js'

const ENTRY = /^([A-Za-z0-9.]+)\s*(?:\(\s*([<>=!]+)\s*([\w.-]+)\s*\))?$/
const OPERATORS = ['<', '<=', '==', '!=', '>=', '>']

/**
 * Returns the list on one line, with the space before a version that R requires. Throws
 * `bad_request` if R could not parse an entry, because R then fails to read the whole index.
 */
export function tidyDependencies(field: string, list: string): string {
  const entries = list.split(',').map((entry) => entry.trim())
  return entries
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [, name = '', operator, version = ''] = ENTRY.exec(entry) ?? []
      const isNamed = name === 'R' || isPackageName(name)
      const isBounded = operator === undefined || OPERATORS.includes(operator)
      if (!isNamed || !isBounded || (operator !== undefined && !isVersion(version))) {
        const words = `${quote(entry)} in its field ${field}`
        throw new Failure('bad_request', `The DESCRIPTION file has an invalid ${words}.`)
      }
      return operator === undefined ? name : `${name} (${operator} ${version})`
    })
    .join(', ')
}
