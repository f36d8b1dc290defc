/** The list of all package formats; a new format is a folder and a line here. */

import type { PackageFormat } from '../conf/package.js'
import { ALPINE } from './alpine/format.js'
import { COMPOSER } from './composer/format.js'
import { CRAN } from './cran/format.js'
import { DEBIAN } from './debian/format.js'
import type { Format } from './format.js'
import { GENERIC } from './generic/format.js'
import { GO } from './go/format.js'
import { SWIFT } from './swift/format.js'

export const FORMATS: readonly Format[] = [ALPINE, COMPOSER, CRAN, DEBIAN, GENERIC, GO, SWIFT]

/** Returns the format of that name. */
export function formatOf(name: PackageFormat): Format {
  const format = FORMATS.find((one) => one.name === name)
  if (format === undefined) throw new Error(`no format is named ${name}`)
  return format
}
