/** Cleanup rules: the versions that a rule removes, for its preview and for its runs. */

import { Failure } from '../conf/failures.js'
import {
  type CleanupCandidate,
  type CleanupConditions,
  type CleanupRule,
  type CleanupRun,
  listCandidates,
  sumVersionBytes,
} from '../sql/packages/cleanup-rules.js'
import { listPackageProtections } from '../sql/packages/protections.js'
import { retireVersions } from '../sql/packages/publications.js'
import type { Registry } from './registry.js'

/** Number of versions that are read together. */
const BATCH = 200

const DAY_MS = 86_400_000

type Cleaner = Pick<Registry, 'db' | 'matchPatterns'>

/**
 * Returns the versions that a rule removes, in batches: by package, newest first. A version is
 * removed if it is not among the newest ones that are kept, does not match the pattern of kept
 * versions, is old enough, matches the pattern of removed versions, and is not protected.
 */
export async function* removableVersions(
  registry: Cleaner,
  rule: CleanupRule,
): AsyncGenerator<readonly CleanupCandidate[], void, undefined> {
  const { ownerId, format } = rule
  const beforeMs = Date.now() - rule.removeDays * DAY_MS
  const protections = await listPackageProtections(registry.db, { ownerId, format })
  let after: CleanupCandidate | undefined
  /** Number of versions of the package that were read. */
  let rank = 0
  for (;;) {
    const page = { after, limit: BATCH }
    const batch = await listCandidates(registry.db, { ownerId, format }, page)
    const old: CleanupCandidate[] = []
    for (const candidate of batch) {
      rank = candidate.packageId === after?.packageId ? rank + 1 : 1
      after = candidate
      if (rank > rule.keepCount && candidate.createdAtMs <= beforeMs) old.push(candidate)
    }
    const removed = await withoutKept(registry, old, {
      rule,
      protections: protections.map(({ pattern }) => pattern),
    })
    if (removed.length > 0) yield removed
    if (batch.length < BATCH) return
  }
}

interface PatternsOf {
  readonly rule: CleanupRule
  readonly protections: readonly string[]
}

async function withoutKept(
  { matchPatterns }: Cleaner,
  candidates: readonly CleanupCandidate[],
  { rule, protections }: PatternsOf,
): Promise<readonly CleanupCandidate[]> {
  const { ownerId, keepPattern, removePattern } = rule
  const matching = async (
    of: readonly CleanupCandidate[],
    patterns: readonly string[],
    textOf: (candidate: CleanupCandidate) => string,
  ): Promise<ReadonlySet<CleanupCandidate>> => {
    if (of.length === 0 || patterns.length === 0) return new Set()
    const matches = await matchPatterns({ patterns, texts: of.map(textOf) }, ownerId)
    return new Set(of.filter((_, at) => (matches[at] ?? -1) >= 0))
  }
  const textOf = (candidate: CleanupCandidate) => textFor(rule, candidate)
  const kept = await matching(candidates, keepPattern === '' ? [] : [keepPattern], textOf)
  const loose = candidates.filter((candidate) => !kept.has(candidate))
  const guarded = await matching(loose, protections, fullName)
  const left = loose.filter((candidate) => !guarded.has(candidate))
  if (removePattern === '') return left
  const wanted = await matching(left, [removePattern], textOf)
  return left.filter((candidate) => wanted.has(candidate))
}

function textFor(rule: CleanupConditions, candidate: CleanupCandidate): string {
  return rule.matchesFullName ? fullName(candidate) : candidate.version
}

function fullName({ packageName, version }: CleanupCandidate): string {
  return `${packageName}/${version}`
}

export interface CleanupPreview {
  /** Number of versions that a run would remove now. */
  readonly versions: number
  /** Total size of their files. Bytes that other files share are counted too. */
  readonly bytes: number
  /** The versions of one page. */
  readonly listed: readonly CleanupCandidate[]
}

/** Returns what a run of the rule would remove, and one page of the versions. */
export async function previewRule(
  registry: Cleaner,
  rule: CleanupRule,
  { page, limit }: { readonly page: number; readonly limit: number },
): Promise<CleanupPreview> {
  const listed: CleanupCandidate[] = []
  const start = (page - 1) * limit
  let versions = 0
  let bytes = 0
  for await (const batch of removableVersions(registry, rule)) {
    listed.push(...batch.slice(Math.max(start - versions, 0)).slice(0, limit - listed.length))
    versions += batch.length
    bytes += await sumVersionBytes(
      registry.db,
      batch.map(({ id }) => id),
    )
  }
  return { versions, bytes, listed }
}

/** Maximum number of versions that one transaction removes. */
const REMOVED_TOGETHER = 50

/**
 * Removes the versions of a rule. Returns the result; undefined if the signal stopped the run.
 * Stops with an error in the result if a pattern takes too long, or if the rule is changed.
 */
export async function applyRule(
  registry: Cleaner,
  rule: CleanupRule,
  signal: AbortSignal,
): Promise<CleanupRun | undefined> {
  const { ownerId, format } = rule
  let [versions, bytes] = [0, 0]
  const result = (error: string): CleanupRun => ({ endedAtMs: Date.now(), versions, bytes, error })
  try {
    for await (const batch of removableVersions(registry, rule)) {
      for (const { packageId, versionIds } of portionsOf(batch)) {
        if (signal.aborted) return undefined
        const portion = { packageId, versionIds, rule }
        const removed = await retireVersions(registry.db, { ownerId, format }, portion)
        if (removed === undefined) return result('The rule was changed during the run.')
        versions += removed.versions
        bytes += removed.bytes
      }
    }
  } catch (error) {
    if (!(error instanceof Failure) || error.failure !== 'invalid') throw error
    return result(error.message.slice(0, ERROR_CHARACTERS_MAX))
  }
  return result('')
}

const ERROR_CHARACTERS_MAX = 255

/** Divides candidates, which are ordered by package, into portions of one package each. */
function portionsOf(
  batch: readonly CleanupCandidate[],
): ReadonlyArray<{ readonly packageId: number; readonly versionIds: readonly number[] }> {
  const portions: Array<{ readonly packageId: number; readonly versionIds: number[] }> = []
  for (const { packageId, id } of batch) {
    const last = portions.at(-1)
    const isFull = last !== undefined && last.versionIds.length >= REMOVED_TOGETHER
    if (last?.packageId === packageId && !isFull) last.versionIds.push(id)
    else portions.push({ packageId, versionIds: [id] })
  }
  return portions
}
