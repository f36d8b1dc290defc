/** The metadata that describes a version on its page. */

import type { FullVersion, JsonObject } from '../../conf/package.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'

/** Returns the metadata of a version, and that of the first index entry of its files. */
export async function describingMetadata(
  db: Database,
  { id, metadata }: Pick<FullVersion, 'id' | 'metadata'>,
): Promise<JsonObject> {
  const [entry] = await selectRows<{ metadata: string }>(
    db,
    `select e.metadata from package_files f join package_index_entries e on e.file_id = f.id
      where f.version_id = ? order by f.id, e.id limit 1`,
    [id],
  )
  return entry === undefined ? metadata : { ...JSON.parse(entry.metadata), ...metadata }
}
