/** Cleanup rules and protected versions of an owner's packages, for the API and the pages. */

import { Failure, notFound } from '../../../conf/failures.js'
import { PACKAGE_FORMATS, type PackageFormat } from '../../../conf/package.js'
import { type CleanupPreview, previewRule } from '../../../registry/cleanup.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import {
  type CleanupRule,
  type CleanupRuleInput,
  findCleanupRule,
  saveCleanupRule,
} from '../../../sql/packages/cleanup-rules.js'
import { addPackageProtection, type PackageProtection } from '../../../sql/packages/protections.js'
import type { Context } from '../../request/context.js'

/** Permitted numbers of kept versions, and of days. */
export const KEEP_COUNTS: readonly number[] = [0, 1, 5, 10, 25, 50, 100]
export const REMOVE_DAYS: readonly number[] = [0, 7, 14, 30, 60, 90, 180]

/** Maximum length of a pattern. */
export const PATTERN_CHARACTERS_MAX = 255

/** Returns the format with that name. Throws `not_found`. */
export function wantedFormat(name: string | undefined): PackageFormat {
  const format = PACKAGE_FORMATS.find((known) => known === name)
  if (format === undefined) throw notFound()
  return format
}

/** Returns the rule of an owner for the format with that name. Throws `not_found`. */
export async function wantedRule(
  context: Context,
  owner: Owner,
  formatName: string | undefined,
): Promise<CleanupRule> {
  const place = { ownerId: owner.id, format: wantedFormat(formatName) }
  const rule = await findCleanupRule(context.db, place)
  if (rule === undefined) throw notFound()
  return rule
}

/** Creates or replaces a rule. Throws `invalid` for a number or a pattern that is not permitted. */
export async function saveRule(
  context: Context,
  owner: Owner,
  { format, input }: { readonly format: PackageFormat; readonly input: CleanupRuleInput },
): Promise<CleanupRule> {
  refuseOther('number of kept versions', input.keepCount, KEEP_COUNTS)
  refuseOther('number of days', input.removeDays, REMOVE_DAYS)
  const patterns = [input.keepPattern, input.removePattern].filter((pattern) => pattern !== '')
  await refuseMalformed(context, owner, patterns)
  await saveCleanupRule(context.db, { ownerId: owner.id, format }, input)
  return await wantedRule(context, owner, format)
}

function refuseOther(what: string, value: number, permitted: readonly number[]): void {
  if (permitted.includes(value)) return
  throw new Failure(
    'invalid',
    `The ${what} is ${value}; it must be one of ${permitted.join(', ')}.`,
  )
}

async function refuseMalformed(
  { registry }: Context,
  owner: Owner,
  patterns: readonly string[],
): Promise<void> {
  if (patterns.some((pattern) => pattern.length > PATTERN_CHARACTERS_MAX)) {
    const message = `A pattern is longer than ${PATTERN_CHARACTERS_MAX} characters.`
    throw new Failure('invalid', message)
  }
  await registry.matchPatterns({ patterns, texts: [''] }, owner.id)
}

/** Returns what a run of the rule would remove now, with one page of the versions. */
export async function preview(
  { registry }: Context,
  rule: CleanupRule,
  page: { readonly page: number; readonly limit: number },
): Promise<CleanupPreview> {
  return await previewRule(registry, rule, page)
}

/** Enqueues a run of the rule. Throws `invalid` if it is disabled. */
export async function startCleanup({ upkeep }: Context, rule: CleanupRule): Promise<void> {
  if (!rule.isEnabled) throw new Failure('invalid', 'The rule is disabled: enable it first.')
  await upkeep.enqueueCleanup(rule.id)
}

/**
 * Protects the versions that match a pattern, and returns the protection. Throws `invalid` for a
 * malformed pattern, and `conflict` for a known one.
 */
export async function protectVersions(
  context: Context,
  owner: Owner,
  wanted: Pick<PackageProtection, 'format' | 'pattern'>,
): Promise<PackageProtection> {
  if (wanted.pattern === '') throw new Failure('invalid', 'The pattern is empty.')
  await refuseMalformed(context, owner, [wanted.pattern])
  return await addPackageProtection(context.db, owner.id, wanted)
}
