/** READMEs of package versions. */

import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

/** Adds the README of a version, unless there is none or the version has one. */
export async function placeReadme(
  trx: Database,
  versionId: number,
  readme: string | undefined,
): Promise<void> {
  if (readme === undefined) return
  const row = { version_id: versionId, readme }
  await trx('package_readmes').insert(row).onConflict('version_id').ignore()
}

/** Returns the README of a version in Markdown. */
export async function findReadme(db: Database, versionId: number): Promise<string | undefined> {
  const [row] = await selectRows<{ readme: string }>(
    db,
    'select readme from package_readmes where version_id = ?',
    [versionId],
  )
  return row?.readme
}
