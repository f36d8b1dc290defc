/** Check K1: each file of a package has a version, a package and a blob. */

import { listIncompleteFiles } from '../../sql/packages/package-files.js'
import { examineRows } from './examine-all.js'
import type { CheckContext, CheckScope, Suspicion } from './finding.js'

/** Yields files that lack a row. */
export async function* checkPackageFiles(
  { db }: CheckContext,
  { repositories }: CheckScope,
): AsyncGenerator<Suspicion> {
  if (repositories !== undefined) return
  yield* examineRows((page) => listIncompleteFiles(db, page), {
    async examine({ id, name, lacks }) {
      const problem = `The package file ${name} (${id}) has no ${lacks}`
      return [{ code: 'K1', subject: name, problem, remedy: RESTORE }]
    },
  })
}

const RESTORE = 'Restore the database from a backup'
