/** Glob patterns with `*`, `**`, `?`, `[abc]` and `{one,other}`. */

import { any, type Matcher, matcherOf, once, rangesOf, type State } from './pattern-states.js'

/** Maximum number of alternatives of a pattern. */
const ALTERNATIVES_MAX = 64

const PATTERN_LENGTH_MAX = 1_000

/** Maximum number of states, because matching compares each with each character of a name. */
const STATES_MAX = 2_000

/**
 * Returns a function that matches names; undefined if the pattern is malformed or too long. `*` and
 * `?` match all characters except the separators, `**` matches those too. The time of a match is
 * proportional to the length of the pattern times the length of the name.
 */
export function parseGlob(
  pattern: string,
  separators = '',
): ((name: string) => boolean) | undefined {
  if (pattern.length > PATTERN_LENGTH_MAX) return undefined
  const alternatives: Matcher[] = []
  let count = 0
  for (const alternative of unfold(pattern) ?? [undefined]) {
    const states = alternative === undefined ? undefined : statesOf(alternative, separators)
    count += states?.length ?? 0
    if (states === undefined || count > STATES_MAX) return undefined
    alternatives.push(matcherOf(states))
  }
  return (name) => alternatives.some((matches) => matches(name))
}

/** Expands braces into one pattern for each alternative. */
function unfold(pattern: string): readonly string[] | undefined {
  const match = /\{([^{}]*)\}/.exec(pattern)
  if (match === null) return /[{}]/.test(pattern) ? undefined : [pattern]
  const head = pattern.slice(0, match.index)
  const tail = pattern.slice(match.index + match[0].length)
  const found: string[] = []
  for (const choice of (match[1] ?? '').split(',')) {
    const unfolded = unfold(head + choice + tail)
    if (unfolded === undefined || found.length + unfolded.length > ALTERNATIVES_MAX)
      return undefined
    found.push(...unfolded)
  }
  return found
}

function statesOf(pattern: string, separators: string): readonly State[] | undefined {
  const states: State[] = []
  const isInside = (character: string) => !separators.includes(character)
  const parts = pattern.match(/\*+|\?|\[[^\]]*\]?|\\?./gsu) ?? []
  for (const part of parts) {
    if (part === '*') states.push(any(isInside))
    else if (part.startsWith('*')) states.push(any(() => true))
    else if (part === '?') states.push(once(isInside))
    else if (part.startsWith('[')) {
      const takes = classOf(part)
      if (takes === undefined) return undefined
      states.push(once(takes))
    } else {
      const literal = part.length > 1 && part.startsWith('\\') ? part.slice(1) : part
      states.push(once((character) => character === literal))
    }
  }
  return states
}

/** Parses a character class such as `[a-z]` or `[!abc]`. */
function classOf(text: string): ((character: string) => boolean) | undefined {
  const match = /^\[(!?)([^\]]+)\]$/u.exec(text)
  if (match === null) return undefined
  const isInverted = match[1] === '!'
  const isListed = rangesOf(match[2] ?? '')
  return (character) => isInverted !== isListed(character)
}
