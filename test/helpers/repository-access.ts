/** Access of a caller to a repository, as grants of authorization have it. */

import { type AccessMode, everyUnit } from '../../sql/repositories/access.js'

/** Returns the fields of a grant whose access is the same to each unit. */
export function withAccess(mode: AccessMode, unit: 'any' | 'issues' | 'pulls' = 'any') {
  return { unit, mode, modes: everyUnit(mode), hasMoved: false }
}
