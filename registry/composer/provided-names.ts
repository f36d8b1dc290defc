/** Names that a package provides, by which it is found. */

import type { ComposerJson } from './composer-json.js'

const NAMES_MAX = 100
const CHARACTERS_MAX = 255

/**
 * Returns the names in the field `provide`, in lower case: virtual packages and PHP extensions. Of
 * more than 100, the first are returned.
 */
export function providedNames({ fields }: Pick<ComposerJson, 'fields'>): readonly string[] {
  const names = Object.keys(fields['provide'] ?? {}).map((name) => name.toLowerCase())
  const found = names.filter(
    (name) => name.length <= CHARACTERS_MAX && /^[a-z0-9_./-]+$/.test(name),
  )
  return [...new Set(found)].slice(0, NAMES_MAX)
}
