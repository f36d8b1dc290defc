/** The index that R reads before all else: PACKAGES, and the same compressed and serialized. */

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { JsonObject } from '../../conf/package.js'
import type { IndexEntry, IndexMaker } from '../format.js'
import { serializeTable } from './rds.js'
import { compareVersions } from './version.js'

/**
 * Of each package its highest version, as on CRAN itself: R would choose that from a longer list,
 * and finds the older ones by name. Of versions that are the same to R, the last that came.
 */
export const PACKAGES_INDEX: IndexMaker = {
  async build(input, output) {
    const highest = new Map<string, Highest>()
    for await (const entry of input.entries()) {
      const { packageName, version } = entry
      const known = highest.get(packageName)
      if (known !== undefined && compareVersions(known.version, version) > 0) continue
      highest.set(packageName, { version, row: rowOf(entry) })
    }
    if (highest.size === 0) return
    const rows = [...highest].toSorted(([one], [other]) => (one < other ? -1 : 1))
    const table = { columns: COLUMNS, rows: rows.map(([, { row }]) => row) }
    const text = Buffer.from(table.rows.map(stanzaOf).join('\n'), 'latin1')
    await output.write('PACKAGES', text)
    await output.write('PACKAGES.gz', await compress(text))
    await output.write('PACKAGES.rds', await compress(serializeTable(table)))
  },
}

const compress = promisify(gzip)

interface Highest {
  readonly version: string
  readonly row: Row
}

type Row = ReadonlyArray<string | undefined>

/** All that `available.packages()` reads, in the order in which it is written. */
const COLUMNS = [
  ...['Package', 'Version', 'Priority', 'License', 'License_is_FOSS', 'License_restricts_use'],
  ...['Depends', 'Imports', 'LinkingTo', 'Suggests', 'Enhances', 'OS_type', 'Archs'],
  ...['NeedsCompilation', 'MD5sum', 'File'],
]

function rowOf({ packageName, version, metadata, file }: IndexEntry): Row {
  const own = { Package: packageName, Version: version, MD5sum: file.digests.md5 }
  const values: JsonObject = { ...metadata, ...own }
  return COLUMNS.map((column) => {
    const value = values[column]
    return value === undefined ? undefined : String(value)
  })
}

function stanzaOf(row: Row): string {
  const lines = COLUMNS.map((column, at) =>
    row[at] === undefined ? '' : `${column}: ${row[at]}\n`,
  )
  return lines.join('')
}
