/** The index of an R repository: PACKAGES, PACKAGES.gz and PACKAGES.rds (?write_PACKAGES). */

import type { JsonObject } from '../../conf/package.js'
import { gzipText } from '../archive/gzip-file.js'
import type { IndexEntry, IndexInput, IndexMaker, IndexText, Rendered } from '../index-maker.js'
import { rendered } from '../indexing/rendered.js'
import { serializeTable, serializeText } from './rds.js'
import { compareVersions } from './version.js'

/**
 * Builds the index, which lists the highest version of each package, as on CRAN. R would choose the
 * same version from a longer list. Of versions that R considers equal, the last published is
 * listed.
 */
export const PACKAGES_INDEX: IndexMaker = {
  revision: 1,
  formsOf: (name) => (name === STANZAS ? ['plain', 'deflated'] : ['deflated']),
  render(entries) {
    const rows = highestOf(entries)
    const texts: Array<readonly [string, Rendered]> = COLUMNS.map((name, column) => [
      columnText(name),
      rendered(
        rows.map((row) => serializeText(row[column])),
        'latin1',
      ),
    ])
    return new Map([[STANZAS, rendered(rows.map(stanzaOf), 'latin1')], ...texts])
  },
  async build({ texts }, output) {
    const stanzas = textOf(texts, STANZAS)
    const { plain } = stanzas.forms
    await output.write('PACKAGES', plain === undefined ? [] : [plain])
    await output.write('PACKAGES.gz', gzipText([stanzas]))
    const { head, tail } = serializeTable(COLUMNS, stanzas.count)
    const columns = COLUMNS.map((name) => textOf(texts, columnText(name)))
    await output.write('PACKAGES.rds', gzipText([head, ...columns, tail]))
  },
}

const STANZAS = 'PACKAGES'

/** Returns the name of a column's text; PACKAGES.rds stores its cells column by column. */
function columnText(name: string): string {
  return `column ${name}`
}

function textOf(texts: IndexInput['texts'], name: string): IndexText {
  const text = texts.get(name)
  if (text === undefined) throw new Error(`the index has no text ${name}`)
  return text
}

/** Returns the rows of the highest versions, in the order of the entries. */
function highestOf(entries: readonly IndexEntry[]): readonly Row[] {
  const highest = new Map<string, Highest>()
  for (const entry of entries) {
    const { packageName, version } = entry
    const known = highest.get(packageName)
    if (known !== undefined && compareVersions(known.version, version) > 0) continue
    highest.set(packageName, { version, row: rowOf(entry) })
  }
  return [...highest.values()].map(({ row }) => row)
}

interface Highest {
  readonly version: string
  readonly row: Row
}

type Row = ReadonlyArray<string | undefined>

/** Fields that `available.packages()` reads, in the order of the file. */
const COLUMNS = [
  'Package',
  'Version',
  'Priority',
  'License',
  'License_is_FOSS',
  'License_restricts_use',
  'Depends',
  'Imports',
  'LinkingTo',
  'Suggests',
  'Enhances',
  'OS_type',
  'Archs',
  'NeedsCompilation',
  'MD5sum',
  'File',
]

function rowOf({ packageName, version, metadata, file }: IndexEntry): Row {
  const own = { Package: packageName, Version: version, MD5sum: file.digests.md5 }
  const values: JsonObject = { ...metadata, ...own }
  return COLUMNS.map((column) => {
    const value = values[column]
    return value === undefined ? undefined : String(value)
  })
}

/** Returns the record of a package, with the blank line that ends it. */
function stanzaOf(row: Row): string {
  const lines = COLUMNS.map((column, at) =>
    row[at] === undefined ? '' : `${column}: ${row[at]}\n`,
  )
  return `${lines.join('')}\n`
}
