/** The list of all formats: a new one is one folder and one line. */

import { ALPINE } from './alpine/format.js'
import { COMPOSER } from './composer/format.js'
import { CRAN } from './cran/format.js'
import { DEBIAN } from './debian/format.js'
import type { Format } from './format.js'
import { GENERIC } from './generic/format.js'
import { GO } from './go/format.js'
import { SWIFT } from './swift/format.js'

export const FORMATS: readonly Format[] = [
  ...[ALPINE, COMPOSER, CRAN, DEBIAN],
  ...[GENERIC, GO, SWIFT],
]
