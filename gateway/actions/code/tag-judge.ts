/** Checks of tag changes against the tag protection rules, for pushes and the API. */

import type { ReferenceChange } from '../../../cgi/refs/references.js'
import { Failure } from '../../../conf/failures.js'
import { parseGlob } from '../../../conf/lib/glob.js'
import type { PatternInput } from '../../../registry/version-patterns.js'
import { listTagProtections, type TagProtection } from '../../../sql/code/tag-protections.js'
import type { Context } from '../../request/context.js'
import { hasFewStars, type RefChangeRequest } from './branch-judge.js'
import { type Actor, actorOf } from './branch-rules.js'

const TAGS = 'refs/tags/'

/** Number of tags that are matched in one event-loop tick, and in one call of the pool. */
const TAGS_PER_TICK = 50

/**
 * Returns a refusal for each tag whose change its rules do not permit: rules match its name, and
 * none of them lists the pusher. Rules list no deploy keys.
 */
export async function checkTagChanges(
  context: Context,
  { repository, pusher, changes }: Pick<RefChangeRequest, 'repository' | 'pusher' | 'changes'>,
): Promise<readonly string[]> {
  const tags = changes.filter(isTagChange).map(({ name }) => name.slice(TAGS.length))
  if (tags.length === 0) return []
  const rules = await listTagProtections(context.db, repository.id)
  if (rules.length === 0) return []
  const actor = await actorOf(context.db, repository, pusher)
  const match = (input: PatternInput) => context.registry.matchPatterns(input, repository.owner.id)
  const refused = await refusedTags({ rules, actor, match }, tags)
  return refused.map((name) => `Tag ${name} is protected`)
}

/** Returns true for a change below refs/tags/. */
export function isTagChange({ name }: Pick<ReferenceChange, 'name'>): boolean {
  return name.startsWith(TAGS)
}

export interface TagJudgement {
  readonly rules: readonly TagProtection[]
  readonly actor: Actor
  /** Returns for each text the index of the first pattern that matches it, or -1. */
  readonly match: (input: PatternInput) => Promise<readonly number[]>
}

/** Returns the tags that match a rule, but no rule that lists the actor. */
export async function refusedTags(
  { rules, actor, match }: TagJudgement,
  tags: readonly string[],
): Promise<readonly string[]> {
  const open = rules.filter((rule) => isAllowed(rule, actor))
  const closed = rules.filter((rule) => !isAllowed(rule, actor))
  const [openTests, closedTests] = [open.flatMap(globOf), closed.flatMap(globOf)]
  const openExpressions = open.flatMap(expressionOf)
  const patterns = [...openExpressions, ...closed.flatMap(expressionOf)]
  const refused: string[] = []
  for (let start = 0; start < tags.length; start += TAGS_PER_TICK) {
    const some = tags.slice(start, start + TAGS_PER_TICK)
    const isOpen = some.map((tag) => openTests.some((fits) => fits(tag)))
    const isClosed = some.map((tag) => closedTests.some((fits) => fits(tag)))
    const found = patterns.length === 0 ? [] : await match({ patterns, texts: some })
    some.forEach((tag, index) => {
      const first = found[index] ?? -1
      if (isOpen[index] || (first >= 0 && first < openExpressions.length)) return
      if (isClosed[index] || first >= 0) refused.push(tag)
    })
    await new Promise((resolve) => setImmediate(resolve))
  }
  return refused
}

function isAllowed({ allowed }: TagProtection, { userId, teamIds }: Actor): boolean {
  const { users, teams } = allowed
  return users.some(({ id }) => id === userId) || teams.some(({ id }) => teamIds.has(id))
}

function globOf({ namePattern }: TagProtection): readonly ((tag: string) => boolean)[] {
  const fits = isExpression(namePattern) ? undefined : parseGlob(namePattern)
  return fits === undefined ? [] : [fits]
}

function expressionOf({ namePattern }: TagProtection): readonly string[] {
  return isExpression(namePattern) ? [anywhere(expressionIn(namePattern))] : []
}

/** Returns true for a pattern between slashes, which is a regular expression. */
function isExpression(pattern: string): boolean {
  return pattern.length >= 2 && pattern.startsWith('/') && pattern.endsWith('/')
}

function expressionIn(pattern: string): string {
  return pattern.slice(1, -1)
}

/** Returns an expression for a whole text that has a match of `expression`, with its case. */
function anywhere(expression: string): string {
  return `(?s:.*)(?-i:${expression})(?s:.*)`
}

/** Throws `invalid` if a rule cannot have that pattern. */
export async function checkTagPattern(
  { registry }: Context,
  pattern: string,
  ownerId: number,
): Promise<void> {
  if (/[\p{Cc}\p{Cs}]/u.test(pattern)) {
    throw new Failure('invalid', 'name_pattern has control characters.')
  }
  if (isExpression(pattern)) {
    const expression = expressionIn(pattern)
    await registry.matchPatterns(
      { patterns: [expression, anywhere(expression)], texts: [''] },
      ownerId,
    )
  } else if (parseGlob(pattern) === undefined || !hasFewStars(pattern)) {
    const message = `The name_pattern ${pattern} is malformed or has too many stars.`
    throw new Failure('invalid', message)
  }
}
