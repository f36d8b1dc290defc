/** Patterns of users for package versions, in the regular expression syntax of RE2. */

import { RE2JS, RE2JSException } from 're2js'
import { Failure } from '../conf/failures.js'

export interface PatternInput {
  readonly patterns: readonly string[]
  readonly texts: readonly string[]
}

/**
 * Matches texts with patterns in the pool, outside the event loop. Returns for each text the index
 * of the first pattern that matches all of it, ignoring case; -1 if none does. Throws `invalid` if
 * a pattern is malformed or takes too long, and `unavailable` if the pool is busy.
 */
export type MatchPatterns = (input: PatternInput, ownerId: number) => Promise<readonly number[]>

/**
 * Matches texts as `MatchPatterns` describes. The time of a match is proportional to the pattern
 * times the text, but a pattern of a few characters can have thousands of states, so callers need
 * a deadline.
 */
export function matchPatterns({ patterns, texts }: PatternInput): readonly number[] {
  const compiled = patterns.map(compile)
  return texts.map((text) => compiled.findIndex((pattern) => pattern.matches(text)))
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE)
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    const message = `The pattern ${JSON.stringify(pattern)} is not a regular expression: ${error.message}.`
    throw new Failure('invalid', message)
  }
}
