/** Package indexes: their entries, and whether their files are up to date. */

import type { JsonObject, PackageFile } from '../../conf/package.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import { isUniqueViolation } from '../database/errors.js'
import { FILE_COLUMNS, type FileRow, fileOf } from './package-files.js'
import type { PackageNamespace } from './packages.js'

export interface PackageIndex {
  readonly id: number
  /** Generation of the entries. */
  readonly wanted: number
  /** Generation that the files were built from; 0 if there are no files. */
  readonly built: number
  /** Time of the last change of the entries. */
  readonly changedAtMs: number
  /** Last-Modified time of the files. */
  readonly modifiedAtMs: number
  /** Time for which the files are valid from `changedAtMs` on; undefined for no limit. */
  readonly validMs: number | undefined
}

/** Returns the index with that subject; undefined if no file was ever published into it. */
export async function findIndex(
  db: Database,
  { ownerId, format }: PackageNamespace,
  subject: string,
): Promise<PackageIndex | undefined> {
  const [row] = await selectRows<IndexRow>(
    db,
    `select id, wanted, built, changed_at, modified_at, valid_ms from package_indexes
      where owner_id = ? and format = ? and subject = ?`,
    [ownerId, format, subject],
  )
  if (row === undefined) return undefined
  const { id, wanted, built, changed_at, modified_at, valid_ms } = row
  const times = { changedAtMs: changed_at, modifiedAtMs: modified_at }
  return { id, wanted, built, ...times, validMs: valid_ms ?? undefined }
}

interface IndexRow {
  readonly id: number
  readonly wanted: number
  readonly built: number
  readonly changed_at: number
  readonly modified_at: number
  readonly valid_ms: number | null
}

/** Index entry of a file. */
export interface NewIndexEntry {
  /** Sort key; undefined to order the entry by its time of publication. */
  readonly key?: string | undefined
  readonly subject: string
  readonly part: string
  readonly metadata: JsonObject
}

/** Creates missing indexes. */
export async function ensureIndexes(
  db: Database,
  namespace: PackageNamespace,
  entries: readonly NewIndexEntry[],
): Promise<void> {
  for (const subject of new Set(entries.map((entry) => entry.subject))) {
    if ((await findIndex(db, namespace, subject)) !== undefined) continue
    try {
      await db('package_indexes').insert({
        owner_id: namespace.ownerId,
        format: namespace.format,
        subject,
        wanted: 0,
        built: 0,
        changed_at: 0,
        modified_at: 0,
        lease: null,
        leased_until: null,
      })
    } catch (error) {
      if (!isUniqueViolation(error)) throw error
    }
  }
}

/** Adds a file to its indexes. Readers see it when the transaction commits. */
export async function addToIndexes(
  trx: Database,
  { ownerId, format }: PackageNamespace,
  { fileId, entries }: { readonly fileId: number; readonly entries: readonly NewIndexEntry[] },
): Promise<void> {
  // All transactions update in this order, so they cannot deadlock.
  const subjects = [...new Set(entries.map(({ subject }) => subject))].sort()
  for (const subject of subjects) {
    const place = { owner_id: ownerId, format, subject }
    await trx('package_indexes').where(place).update(changeOf(trx))
    const { id, wanted } = await trx('package_indexes').where(place).first('id', 'wanted')
    for (const entry of entries.filter((entry) => entry.subject === subject)) {
      const { part, metadata, key = sequenceKey(wanted) } = entry
      await trx('package_index_entries').insert({
        index_id: id,
        file_id: fileId,
        part,
        sort_key: key,
        metadata: JSON.stringify(metadata),
      })
      await noteChange(trx, { id, wanted, key })
    }
  }
}

/**
 * Marks the indexes of files as changed. Must be called before the files are deleted, with a
 * condition on the alias `f`.
 */
export async function removeFromIndexes(
  trx: Database,
  condition: 'f.id = ?' | 'f.version_id = ?',
  id: number,
): Promise<void> {
  const rows = await selectRows<{ id: number; sort_key: string }>(
    trx,
    `select distinct e.index_id as id, e.sort_key as sort_key from package_index_entries e
      join package_files f on f.id = e.file_id where ${condition} order by id, sort_key`,
    [id],
  )
  for (const id of new Set(rows.map((row) => row.id))) {
    await trx('package_indexes').where({ id }).update(changeOf(trx))
    const { wanted } = await trx('package_indexes').where({ id }).first('wanted')
    for (const row of rows.filter((row) => row.id === id)) {
      await noteChange(trx, { id, wanted, key: row.sort_key })
    }
  }
}

/** Returns a text that sorts like the number. */
function sequenceKey(wanted: number): string {
  return String(wanted).padStart(16, '0')
}

interface Change {
  readonly id: number
  /** Generation of the entries that includes this change. */
  readonly wanted: number
  readonly key: string
}

async function noteChange(trx: Database, { id, wanted, key }: Change): Promise<void> {
  const row = { index_id: id, generation: wanted, sort_key: key }
  await trx('package_index_changes').insert(row)
}

/**
 * Returns the keys of entries that were added or removed since the files of an index were built.
 */
export async function listChangedKeys(
  db: Database,
  { id, built, wanted }: Pick<PackageIndex, 'id' | 'built' | 'wanted'>,
): Promise<readonly string[]> {
  const rows = await selectRows<{ sort_key: string }>(
    db,
    `select distinct sort_key from package_index_changes
      where index_id = ? and generation > ? and generation <= ?`,
    [id, built, wanted],
  )
  return rows.map(({ sort_key }) => sort_key)
}

/** Schedules a new build of an owner's indexes in a format, after a change of its signing keys. */
export async function touchIndexes(
  trx: Database,
  { ownerId, format }: PackageNamespace,
): Promise<void> {
  await trx('package_indexes').where({ owner_id: ownerId, format }).update(changeOf(trx))
}

/** Schedules a new build of an index, unless a change since it was read has scheduled one. */
export async function touchIndex(
  db: Database,
  { id, wanted }: Pick<PackageIndex, 'id' | 'wanted'>,
): Promise<void> {
  await db('package_indexes').where({ id, wanted }).update(changeOf(db))
}

/** Schedules a new build of all indexes, and frees those that a process was building. */
export async function rebuildAllIndexes(db: Database): Promise<void> {
  await db('package_indexes').update({ ...changeOf(db), lease: null, leased_until: null })
}

/** Returns the columns of a change. Times increase even if the clock was set back. */
function changeOf(trx: Database) {
  const nowMs = Date.now()
  return {
    wanted: trx.raw('wanted + 1'),
    changed_at: trx.raw('case when changed_at < ? then ? else changed_at + 1 end', [nowMs, nowMs]),
  }
}

export interface PlacedEntry extends EntryPosition {
  readonly part: string
  readonly metadata: JsonObject
  readonly packageName: string
  readonly version: string
  readonly file: PackageFile
}

/** Position in an index. Entries are ordered by the bytes of their keys, and then by id. */
export interface EntryPosition {
  readonly key: string
  readonly id: number
}

export interface EntryQuery {
  readonly after: EntryPosition
  /** First key to leave out; undefined to read to the end. */
  readonly to: string | undefined
  readonly limit: number
}

/** Returns up to `limit` entries of an index after a position, ordered by key and id. */
export async function listEntries(
  db: Database,
  indexId: number,
  { after, to, limit }: EntryQuery,
): Promise<readonly PlacedEntry[]> {
  const rows = await selectRows<EntryRow>(
    db,
    `select e.id as entry_id, e.sort_key as entry_key, e.part as entry_part,
      e.metadata as entry_metadata, p.name as package_name, v.version as version_version,
      ${FILE_COLUMNS}
      from package_index_entries e join package_files f on f.id = e.file_id
      join blobs b on b.id = f.blob_id join package_versions v on v.id = f.version_id
      join packages p on p.id = v.package_id
      where e.index_id = ? and e.sort_key >= ? and (e.sort_key > ? or e.id > ?)
      ${to === undefined ? '' : 'and e.sort_key < ?'}
      order by e.sort_key, e.id limit ?`,
    [indexId, after.key, after.key, after.id, ...(to === undefined ? [] : [to]), limit],
  )
  return rows.map((row) => ({
    id: row.entry_id,
    key: row.entry_key,
    part: row.entry_part,
    metadata: JSON.parse(row.entry_metadata),
    packageName: row.package_name,
    version: row.version_version,
    file: fileOf(row),
  }))
}

interface EntryRow extends FileRow {
  readonly entry_id: number
  readonly entry_key: string
  readonly entry_part: string
  readonly entry_metadata: string
  readonly package_name: string
  readonly version_version: string
}

/** Returns the distinct parts of an index, sorted. */
export async function listParts(db: Database, indexId: number): Promise<readonly string[]> {
  const rows = await selectRows<{ part: string }>(
    db,
    'select distinct part from package_index_entries where index_id = ? order by part',
    [indexId],
  )
  return rows.map(({ part }) => part)
}
