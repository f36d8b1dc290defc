/** The description of an R package, from the fields of its DESCRIPTION. */

import { commaSeparated, type Describe, groupsOf, textOf } from '../description.js'

const RELATIONS = ['Depends', 'Imports', 'LinkingTo', 'Suggests', 'Enhances'] as const

export const describe: Describe = (fields) => ({
  summary: textOf(fields['Title']),
  text: textOf(fields['Description']),
  license: textOf(fields['License']),
  homepage: textOf(fields['URL'])?.split(/[\s,]/)[0],
  authors: textOf(fields['Author']) === undefined ? [] : [String(fields['Author'])],
  dependencies: groupsOf(
    Object.fromEntries(RELATIONS.map((name) => [name, commaSeparated(fields[name])])),
  ),
})
