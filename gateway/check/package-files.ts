/** Check K1: each file of a package has a version, a package and a blob. */

import type { RowPage } from '../../sql/database/page.js'
import { listIncompleteFiles } from '../../sql/packages/package-files.js'
import { examineRows } from './examine-all.js'
import type { CheckContext, CheckScope, CheckStep } from './finding.js'

/** Yields files that lack a row. */
export async function* checkPackageFiles(
  { db }: CheckContext,
  { repositories, cursor }: CheckScope,
): AsyncGenerator<CheckStep> {
  if (repositories !== undefined) return
  const read = (page: RowPage) => listIncompleteFiles(db, page)
  yield* examineRows(
    { list: 'files', read, cursor },
    {
      async examine({ id, name, lacks }) {
        const problem = `The package file ${name} (${id}) has no ${lacks}`
        return [{ code: 'K1', subject: name, problem, remedy: RESTORE }]
      },
    },
  )
}

const RESTORE = 'Restore the database from a backup'
