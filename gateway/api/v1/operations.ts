/** The list of all operations that the API serves: a new resource is one file and one line. */

import type { AnyOperation } from '../operation.js'
import { DEPLOY_KEY_OPERATIONS } from './deploy-keys.js'
import { ORGANIZATION_OPERATIONS } from './organizations.js'
import { PACKAGE_OPERATIONS } from './packages.js'
import { REPOSITORY_OPERATIONS } from './repositories.js'
import { TOKEN_OPERATIONS } from './tokens.js'
import { USER_KEY_OPERATIONS } from './user-keys.js'
import { USER_OPERATIONS } from './users.js'
import { VERSION_OPERATIONS } from './version.js'

export const OPERATIONS: readonly AnyOperation[] = [
  ...DEPLOY_KEY_OPERATIONS,
  ...ORGANIZATION_OPERATIONS,
  ...PACKAGE_OPERATIONS,
  ...REPOSITORY_OPERATIONS,
  ...TOKEN_OPERATIONS,
  ...USER_KEY_OPERATIONS,
  ...USER_OPERATIONS,
  ...VERSION_OPERATIONS,
]
