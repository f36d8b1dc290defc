/** Glob patterns with `*`, `**`, `?`, `[abc]` and `{one,other}`. */

/** Maximum number of alternatives of a pattern. */
const ALTERNATIVES_MAX = 64

const PATTERN_LENGTH_MAX = 1_000

/** Maximum number of tokens, because matching compares each with each character of a name. */
const TOKENS_MAX = 2_000

interface Token {
  readonly kind: 'any' | 'one'
  readonly takes: (character: string) => boolean
}

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
  const alternatives: (readonly Token[])[] = []
  let count = 0
  for (const alternative of unfold(pattern) ?? [undefined]) {
    const tokens = alternative === undefined ? undefined : tokensOf(alternative, separators)
    count += tokens?.length ?? 0
    if (tokens === undefined || count > TOKENS_MAX) return undefined
    alternatives.push(tokens)
  }
  return (name) => alternatives.some((tokens) => fits(tokens, [...name]))
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

function tokensOf(pattern: string, separators: string): readonly Token[] | undefined {
  const tokens: Token[] = []
  const isInside = (character: string) => !separators.includes(character)
  const parts = pattern.match(/\*+|\?|\[[^\]]*\]?|\\?./gsu) ?? []
  for (const part of parts) {
    if (part === '*') tokens.push({ kind: 'any', takes: isInside })
    else if (part.startsWith('*')) tokens.push({ kind: 'any', takes: () => true })
    else if (part === '?') tokens.push({ kind: 'one', takes: isInside })
    else if (part.startsWith('[')) {
      const takes = classOf(part)
      if (takes === undefined) return undefined
      tokens.push({ kind: 'one', takes })
    } else {
      const literal = part.length > 1 && part.startsWith('\\') ? part.slice(1) : part
      tokens.push({ kind: 'one', takes: (character) => character === literal })
    }
  }
  return tokens
}

/** Parses a character class such as `[a-z]` or `[!abc]`. */
function classOf(text: string): ((character: string) => boolean) | undefined {
  const match = /^\[(!?)([^\]]+)\]$/u.exec(text)
  if (match === null) return undefined
  const isInverted = match[1] === '!'
  const ranges = (match[2] ?? '').match(/.-.|./gsu) ?? []
  return (character) =>
    isInverted !==
    ranges.some((range) => {
      const [first = '', , last = first] = [...range]
      return first <= character && character <= last
    })
}

/** Matches a name by tracking all positions of the pattern, as a nondeterministic automaton. */
function fits(tokens: readonly Token[], name: readonly string[]): boolean {
  let positions = new Set<number>()
  enter(tokens, positions, 0)
  for (const character of name) {
    const next = new Set<number>()
    for (const index of positions) {
      const token = tokens[index]
      if (token?.takes(character)) enter(tokens, next, token.kind === 'any' ? index : index + 1)
    }
    if (next.size === 0) return false
    positions = next
  }
  return positions.has(tokens.length)
}

/** Adds a position and the one after each star that follows, because a star can match nothing. */
function enter(tokens: readonly Token[], positions: Set<number>, first: number): void {
  let index = first
  positions.add(index)
  while (tokens[index]?.kind === 'any') {
    index += 1
    positions.add(index)
  }
}
