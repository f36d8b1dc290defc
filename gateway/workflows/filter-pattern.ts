/** Patterns of branches, tags and paths in workflow files, matched in linear time. */

import {
  any,
  type Matcher,
  type MatchWork,
  matcherOf,
  once,
  rangesOf,
  type State,
} from '../../conf/lib/pattern-states.js'

/** A pattern that is ready to be matched. */
export interface FilterPattern {
  /** True if the pattern begins with `!`: what it matches is taken back. */
  readonly isNegative: boolean
  /** Upper and lower case differ. */
  readonly matches: Matcher
}

/** Maximum number of characters of a pattern. */
const PATTERN_LENGTH_MAX = 256

/** Error of a pattern; its message continues "the pattern 'x' ". */
export class PatternError extends Error {}

/**
 * Parses a pattern: `*` matches all characters but `/`, `**` all of them, and a double star with a
 * slash also no folder at all. `?` and `+` repeat the character before them: at most once, and at
 * least once. `[ab0-9]` is one of these characters, and `\` removes the meaning of the next
 * character. Throws PatternError.
 */
export function parsePattern(text: string): FilterPattern {
  const isNegative = text.startsWith('!')
  return { isNegative, matches: matcherOf(statesOf(isNegative ? text.slice(1) : text)) }
}

/** Returns true if the last pattern that matches the text is not a negative one. */
export function matchesPatterns(
  patterns: readonly FilterPattern[],
  text: string,
  work?: MatchWork,
): boolean {
  return patterns.findLast((pattern) => pattern.matches(text, work))?.isNegative === false
}

function statesOf(text: string): readonly State[] {
  const characters = [...text]
  if (characters.length === 0) throw new PatternError('is empty')
  if (characters.length > PATTERN_LENGTH_MAX) {
    throw new PatternError(`is longer than ${PATTERN_LENGTH_MAX} characters`)
  }
  const states: State[] = []
  for (let at = 0; at < characters.length; ) {
    const part = readPart(characters, at)
    states.push(...repeated(part, characters[part.end]))
    at = part.end + (isRepetition(characters[part.end]) && !part.isStar ? 1 : 0)
  }
  return states
}

/** A part of a pattern, without the repetition that may follow it. */
interface Part {
  readonly states: readonly State[]
  readonly isStar: boolean
  /** Position after the part. */
  readonly end: number
}

const anyCharacter = () => true
const noCharacter = () => false
const notSlash = (character: string) => character !== '/'
const isSlash = (character: string) => character === '/'

function readPart(characters: readonly string[], at: number): Part {
  const character = characters[at] ?? ''
  if (character === '*') return readStar(characters, at)
  if (character === '[') return readSet(characters, at)
  if (isRepetition(character)) throw new PatternError(`has nothing before its '${character}'`)
  const isEscape = character === '\\'
  const literal = isEscape ? characters[at + 1] : character
  if (literal === undefined) throw new PatternError("ends with '\\'")
  return {
    states: [once((other) => other === literal)],
    isStar: false,
    end: at + (isEscape ? 2 : 1),
  }
}

function readStar(characters: readonly string[], at: number): Part {
  if (characters[at + 1] !== '*') return { states: [any(notSlash)], isStar: true, end: at + 1 }
  const isFolder = at === 0 || characters[at - 1] === '/'
  if (!isFolder || characters[at + 2] !== '/') {
    return { states: [any(anyCharacter)], isStar: true, end: at + 2 }
  }
  // Nothing at all, or any characters that end with a slash.
  const start = { ...once(noCharacter), jumps: [1, 2, 3] }
  const names = { ...once(anyCharacter), repeats: true }
  return { states: [start, names, once(isSlash)], isStar: true, end: at + 3 }
}

function readSet(characters: readonly string[], at: number): Part {
  const close = characters.indexOf(']', at + 1)
  if (close === -1) throw new PatternError("has a '[' without a ']'")
  const content = characters.slice(at + 1, close).join('')
  if (content === '') throw new PatternError("has an empty '[]'")
  return { states: [once(rangesOf(content))], isStar: false, end: close + 1 }
}

function repeated({ states, isStar }: Part, sign: string | undefined): readonly State[] {
  const [state] = states
  if (isStar || state === undefined) return states
  if (sign === '?') return [{ ...state, jumps: [1] }]
  if (sign === '+') return [{ ...state, repeats: true }]
  return states
}

function isRepetition(character: string | undefined): boolean {
  return character === '?' || character === '+'
}
