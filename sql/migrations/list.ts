/** The migrations, oldest first; none is changed once a version with it has been released. */

import type { Knex } from 'knex'
import * as accounts from './0001-accounts.js'
import * as repositories from './0002-repositories.js'
import * as jobs from './0003-jobs.js'
import * as keys from './0004-keys.js'
import * as packages from './0005-packages.js'
import * as packageIndexes from './0006-package-indexes.js'

/** One step of the schema. Both ways can be run again after a process was killed in the middle. */
export interface Migration {
  readonly name: string
  readonly up: (db: Knex) => Promise<void>
  readonly down: (db: Knex) => Promise<void>
}

/** In order of execution. */
export const MIGRATIONS: readonly Migration[] = [
  { name: '0001-accounts', ...accounts },
  { name: '0002-repositories', ...repositories },
  { name: '0003-jobs', ...jobs },
  { name: '0004-keys', ...keys },
  { name: '0005-packages', ...packages },
  { name: '0006-package-indexes', ...packageIndexes },
]
