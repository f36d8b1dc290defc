/** The list of all operations that the API serves: a new resource is one file and one line. */

import type { AnyOperation } from '../operation.js'
import { ORGANIZATION_OPERATIONS } from './organizations.js'
import { REPOSITORY_OPERATIONS } from './repositories.js'
import { TOKEN_OPERATIONS } from './tokens.js'
import { USER_OPERATIONS } from './users.js'
import { VERSION_OPERATIONS } from './version.js'

export const OPERATIONS: readonly AnyOperation[] = [
  ...ORGANIZATION_OPERATIONS,
  ...REPOSITORY_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...USER_OPERATIONS,
  ...VERSION_OPERATIONS,
]
