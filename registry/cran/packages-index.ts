/**
 * The index of an R repository: PACKAGES, PACKAGES.gz and PACKAGES.rds (?write_PACKAGES), and
 * Meta/archive.rds for source packages.
 */

import type { JsonObject } from '../../conf/package.js'
import { gzipText } from '../archive/gzip-file.js'
import type { IndexEntry, IndexInput, IndexMaker, IndexText, Rendered } from '../index-maker.js'
import { rendered } from '../indexing/rendered.js'
import { serializeVersions } from './archived-versions.js'
import { SOURCE } from './place.js'
import { serializeNamedList, serializeTable, serializeText } from './rds.js'
import { compareVersions } from './version.js'

/**
 * Builds the index, which lists the highest version of each package, as on CRAN. R would choose the
 * same version from a longer list. Of versions that R considers equal, the last published is
 * listed. The others are archived.
 */
export const PACKAGES_INDEX: IndexMaker = {
  revision: 2,
  formsOf: (name) => (name === STANZAS ? ['plain', 'deflated'] : ['deflated']),
  render(entries, { subject }) {
    const packages = [...groupByPackage(entries)]
    const rows = packages.map(([, versions]) => rowOf(highestOf(versions)))
    const texts: Array<readonly [string, Rendered]> = COLUMNS.map((name, column) => [
      columnText(name),
      rendered(
        rows.map((row) => serializeText(row[column])),
        'latin1',
      ),
    ])
    return new Map([
      [STANZAS, rendered(rows.map(stanzaOf), 'latin1')],
      ...texts,
      ...(subject === SOURCE.subject ? renderArchive(packages) : []),
    ])
  },
  async build({ subject, texts }, output) {
    const stanzas = textOf(texts, STANZAS)
    const { plain } = stanzas.forms
    await output.write('PACKAGES', plain === undefined ? [] : [plain])
    await output.write('PACKAGES.gz', gzipText([stanzas]))
    const { head, tail } = serializeTable(COLUMNS, stanzas.count)
    const columns = COLUMNS.map((name) => textOf(texts, columnText(name)))
    await output.write('PACKAGES.rds', gzipText([head, ...columns, tail]))
    if (subject === SOURCE.subject) await output.write(ARCHIVE_PATH, gzipText(archiveOf(texts)))
  },
}

export const ARCHIVE_PATH = 'Meta/archive.rds'

type PackageVersions = readonly [packageName: string, versions: readonly IndexEntry[]]

/** Renders the packages that have archived versions: a table for each, and their names. */
function renderArchive(
  packages: readonly PackageVersions[],
): ReadonlyArray<readonly [string, Rendered]> {
  const archived = packages.flatMap(([packageName, versions]): PackageVersions[] => {
    const highest = highestOf(versions)
    const others = versions.filter((entry) => entry !== highest)
    return others.length === 0 ? [] : [[packageName, others]]
  })
  const tables = archived.map(([, versions]) => serializeVersions(versions))
  const names = archived.map(([packageName]) => serializeText(packageName))
  return [
    [ARCHIVE_TABLES, rendered(tables, 'latin1')],
    [ARCHIVE_NAMES, rendered(names, 'latin1')],
  ]
}

const ARCHIVE_TABLES = 'archive tables'
const ARCHIVE_NAMES = 'archive names'

/** Returns the parts of Meta/archive.rds: a named list of tables, which can be empty. */
function archiveOf(texts: IndexInput['texts']): ReadonlyArray<Buffer | IndexText> {
  const [tables, names] = [texts.get(ARCHIVE_TABLES), texts.get(ARCHIVE_NAMES)]
  const { head, between, tail } = serializeNamedList(tables?.count ?? 0)
  return [head, ...(tables ? [tables] : []), between, ...(names ? [names] : []), tail]
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

/** Returns the versions of each package, in the order of the entries. */
function groupByPackage(
  entries: readonly IndexEntry[],
): ReadonlyMap<string, readonly IndexEntry[]> {
  const groups = new Map<string, IndexEntry[]>()
  for (const entry of entries) {
    const known = groups.get(entry.packageName)
    if (known === undefined) groups.set(entry.packageName, [entry])
    else known.push(entry)
  }
  return groups
}

/** Returns the highest version; of several that are equal to R, the last. */
function highestOf(versions: readonly IndexEntry[]): IndexEntry {
  return versions.reduce((highest, entry) =>
    compareVersions(highest.version, entry.version) > 0 ? highest : entry,
  )
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
