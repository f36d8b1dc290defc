/** Cleanup rules of owners, at most one for each package format, and the versions they consider. */

import type { PackageFormat } from '../../conf/package.js'
import type { Database } from '../database/database.js'
import { selectRows } from '../database/dialect.js'
import type { RowPage } from '../database/page.js'
import type { PackageNamespace } from './packages.js'

/** Conditions of a rule, all of which a version must fulfil to be removed. */
export interface CleanupConditions {
  /** Number of newest versions of each package that are kept. */
  readonly keepCount: number
  /** Pattern of versions that are kept; empty for none. */
  readonly keepPattern: string
  /** Minimum age in days; 0 for any age. */
  readonly removeDays: number
  /** Pattern that removed versions match; empty for all. */
  readonly removePattern: string
  /** True if patterns are matched with `name/version`, false if with the version. */
  readonly matchesFullName: boolean
}

export interface CleanupRuleInput extends CleanupConditions {
  readonly isEnabled: boolean
}

export interface CleanupRule extends CleanupRuleInput {
  readonly id: number
  readonly ownerId: number
  readonly format: PackageFormat
  /** Number of the last change. */
  readonly revision: number
  readonly lastRun: CleanupRun | undefined
}

/** Result of the last run of a rule. */
export interface CleanupRun {
  readonly endedAtMs: number
  readonly versions: number
  readonly bytes: number
  /** Reason for which the run stopped early; empty if it was complete. */
  readonly error: string
}

/** Creates or replaces the rule of an owner for a format. */
export async function saveCleanupRule(
  db: Database,
  { ownerId, format }: PackageNamespace,
  input: CleanupRuleInput,
): Promise<void> {
  const conditions = {
    is_enabled: input.isEnabled ? 1 : 0,
    keep_count: input.keepCount,
    keep_pattern: input.keepPattern,
    remove_days: input.removeDays,
    remove_pattern: input.removePattern,
    matches_full_name: input.matchesFullName ? 1 : 0,
  }
  const unused = { ran_at: null, removed_count: 0, removed_bytes: 0, run_error: '' }
  await db('package_cleanup_rules')
    .insert({ owner_id: ownerId, format, ...conditions, ...unused, revision: 1 })
    .onConflict(['owner_id', 'format'])
    .merge({ ...conditions, revision: db.raw('package_cleanup_rules.revision + 1') })
}

/** Deletes the rule of an owner for a format. Returns false if there is none. */
export async function deleteCleanupRule(
  db: Database,
  { ownerId, format }: PackageNamespace,
): Promise<boolean> {
  const rules = db('package_cleanup_rules').where({ owner_id: ownerId, format })
  return (await rules.delete()) > 0
}

/** Returns the rules of an owner, ordered by format. */
export async function listCleanupRules(
  db: Database,
  ownerId: number,
): Promise<readonly CleanupRule[]> {
  return await selectRules(db, 'owner_id = ? order by format', [ownerId])
}

/** Returns the rule of an owner for a format. */
export async function findCleanupRule(
  db: Database,
  { ownerId, format }: PackageNamespace,
): Promise<CleanupRule | undefined> {
  const [rule] = await selectRules(db, 'owner_id = ? and format = ?', [ownerId, format])
  return rule
}

/** Returns the rule with that id. */
export async function findCleanupRuleById(
  db: Database,
  id: number,
): Promise<CleanupRule | undefined> {
  const [rule] = await selectRules(db, 'id = ?', [id])
  return rule
}

/** Returns the ids of enabled rules after `afterId`, in order. */
export async function listEnabledRuleIds(
  db: Database,
  { afterId, limit }: RowPage,
): Promise<readonly number[]> {
  const rows = await selectRows<{ id: number }>(
    db,
    'select id from package_cleanup_rules where is_enabled = 1 and id > ? order by id limit ?',
    [afterId, limit],
  )
  return rows.map(({ id }) => id)
}

/** True if the rule is enabled and was not changed since that revision. */
export async function isCurrentRule(
  db: Database,
  { id, revision }: Pick<CleanupRule, 'id' | 'revision'>,
): Promise<boolean> {
  const rows = await selectRows(
    db,
    'select 1 from package_cleanup_rules where id = ? and revision = ? and is_enabled = 1',
    [id, revision],
  )
  return rows.length > 0
}

/** Records the result of a run. */
export async function recordCleanupRun(db: Database, id: number, run: CleanupRun): Promise<void> {
  await db('package_cleanup_rules').where({ id }).update({
    ran_at: run.endedAtMs,
    removed_count: run.versions,
    removed_bytes: run.bytes,
    run_error: run.error,
  })
}

async function selectRules(
  db: Database,
  where: string,
  bindings: ReadonlyArray<number | string>,
): Promise<readonly CleanupRule[]> {
  const rows = await selectRows<RuleRow>(
    db,
    `select id, owner_id, format, is_enabled, keep_count, keep_pattern, remove_days,
      remove_pattern, matches_full_name, revision, ran_at, removed_count, removed_bytes, run_error
      from package_cleanup_rules where ${where}`,
    bindings,
  )
  return rows.map(ruleOf)
}

interface RuleRow {
  readonly id: number
  readonly owner_id: number
  readonly format: PackageFormat
  readonly is_enabled: number
  readonly keep_count: number
  readonly keep_pattern: string
  readonly remove_days: number
  readonly remove_pattern: string
  readonly matches_full_name: number
  readonly revision: number
  readonly ran_at: number | null
  readonly removed_count: number
  readonly removed_bytes: number
  readonly run_error: string
}

function ruleOf(row: RuleRow): CleanupRule {
  const { ran_at, removed_count: versions, removed_bytes: bytes, run_error: error } = row
  return {
    id: row.id,
    ownerId: row.owner_id,
    format: row.format,
    isEnabled: row.is_enabled === 1,
    keepCount: row.keep_count,
    keepPattern: row.keep_pattern,
    removeDays: row.remove_days,
    removePattern: row.remove_pattern,
    matchesFullName: row.matches_full_name === 1,
    revision: row.revision,
    lastRun: ran_at === null ? undefined : { endedAtMs: ran_at, versions, bytes, error },
  }
}

/** A version that a rule considers. */
export interface CleanupCandidate {
  readonly id: number
  readonly packageId: number
  readonly packageName: string
  readonly version: string
  readonly createdAtMs: number
}

/** Returns versions by package, newest upload first, after the given one; undefined: the first. */
export async function listCandidates(
  db: Database,
  { ownerId, format }: PackageNamespace,
  { after, limit }: { readonly after: CleanupCandidate | undefined; readonly limit: number },
): Promise<readonly CleanupCandidate[]> {
  const { packageId = 0, id = 0 } = after ?? {}
  const rows = await selectRows<CandidateRow>(
    db,
    `select v.id, v.package_id, v.version, v.created_at, p.name from packages p
      join package_versions v on v.package_id = p.id
      where p.owner_id = ? and p.format = ?
      and (p.id > ? or (p.id = ? and v.id < ?)) order by p.id, v.id desc limit ?`,
    [ownerId, format, packageId, packageId, id, limit],
  )
  return rows.map((row) => ({
    id: row.id,
    packageId: row.package_id,
    packageName: row.name,
    version: row.version,
    createdAtMs: row.created_at,
  }))
}

interface CandidateRow {
  readonly id: number
  readonly package_id: number
  readonly version: string
  readonly created_at: number
  readonly name: string
}

/** Returns the total size of the files of versions. */
export async function sumVersionBytes(
  db: Database,
  versionIds: readonly number[],
): Promise<number> {
  if (versionIds.length === 0) return 0
  const [row] = await selectRows<{ total: number }>(
    db,
    `select coalesce(sum(b.bytes), 0) as total from package_files f
      join blobs b on b.id = f.blob_id where f.version_id in (${versionIds.map(() => '?').join(', ')})`,
    [...versionIds],
  )
  return Number(row?.total ?? 0)
}
