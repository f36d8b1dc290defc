/** Patterns of branches, tags and paths in workflow files, matched in linear time. */

/** A pattern as a sequence of states; the last one is followed by the end of the text. */
interface State {
  /** Returns true for a character that leads to the next state. */
  readonly accepts: (character: string) => boolean
  /** True if the characters that it accepts may also lead back to it. */
  readonly repeats: boolean
  /** Distances to later states that are reached together with this one. */
  readonly jumps: readonly number[]
}

/** A pattern that is ready to be matched. */
export interface FilterPattern {
  /** True if the pattern begins with `!`: what it matches is taken back. */
  readonly isNegative: boolean
  /** Returns true if the whole text matches; upper and lower case differ. */
  readonly matches: (text: string) => boolean
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
  const states = statesOf(isNegative ? text.slice(1) : text)
  return { isNegative, matches: (candidate) => matchStates(states, candidate) }
}

/** Returns true if the last pattern that matches the text is not a negative one. */
export function matchesPatterns(patterns: readonly FilterPattern[], text: string): boolean {
  return patterns.findLast((pattern) => pattern.matches(text))?.isNegative === false
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
  const content = characters.slice(at + 1, close)
  if (content.length === 0) throw new PatternError("has an empty '[]'")
  const ranges: (readonly [string, string])[] = []
  for (let index = 0; index < content.length; ) {
    const [from = '', dash, to] = content.slice(index)
    const isRange = dash === '-' && to !== undefined
    ranges.push([from, isRange ? to : from])
    index += isRange ? 3 : 1
  }
  const accepts = (character: string) =>
    ranges.some(([from, to]) => from <= character && character <= to)
  return { states: [once(accepts)], isStar: false, end: close + 1 }
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

function once(accepts: State['accepts']): State {
  return { accepts, repeats: false, jumps: [] }
}

function any(accepts: State['accepts']): State {
  return { accepts, repeats: true, jumps: [1] }
}

/** Follows all ways through the states at the same time, so that no text makes it slow. */
function matchStates(states: readonly State[], text: string): boolean {
  let present = reach(states, new Set(), 0)
  for (const character of text) {
    const next = new Set<number>()
    for (const at of present) {
      const state = states[at]
      if (state === undefined || !state.accepts(character)) continue
      if (state.repeats) reach(states, next, at)
      reach(states, next, at + 1)
    }
    present = next
  }
  return present.has(states.length)
}

/** Adds a state, and those that are reached together with it. */
function reach(states: readonly State[], present: Set<number>, start: number): Set<number> {
  const waiting = [start]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (present.has(at)) continue
    present.add(at)
    for (const jump of states[at]?.jumps ?? []) waiting.push(at + jump)
  }
  return present
}
