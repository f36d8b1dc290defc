/** The description of an Alpine package, from the letters of its index record. */

import type { Json } from '../../conf/package.js'
import { type Describe, groupsOf, textOf } from '../description.js'

export const describe: Describe = (record) => ({
  summary: textOf(record['T']),
  license: textOf(record['L']),
  homepage: textOf(record['U']),
  authors: textOf(record['m']) === undefined ? [] : [String(record['m'])],
  dependencies: groupsOf({
    depends: words(record['D']),
    provides: words(record['p']),
    'install if': words(record['i']),
  }),
})

function words(value: Json | undefined): readonly string[] {
  return (textOf(value) ?? '').split(/\s+/).filter((word) => word !== '')
}
