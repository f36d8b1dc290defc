/** Patterns of names, as people write them: `*`, `?`, `[abc]` and `{one,other}`. */

/** Alternatives that one pattern may unfold to. */
const ALTERNATIVES_MAX = 64

type Token =
  | { readonly kind: 'any' }
  | { readonly kind: 'one'; readonly takes: (character: string) => boolean }

/**
 * A function that says whether a name fits; `*` stands for any characters, slashes among them.
 * Undefined for a pattern that cannot be read. The time it takes is that of length by length.
 */
export function parseGlob(pattern: string): ((name: string) => boolean) | undefined {
  const plain = unfold(pattern)
  if (plain === undefined) return undefined
  const alternatives = plain.map(tokensOf)
  if (alternatives.some((tokens) => tokens === undefined)) return undefined
  return (name) => alternatives.some((tokens) => fits(tokens ?? [], [...name]))
}

/** Without braces: one pattern for each alternative. */
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

function tokensOf(pattern: string): readonly Token[] | undefined {
  const tokens: Token[] = []
  const parts = pattern.match(/\*+|\?|\[[^\]]*\]?|\\?./gsu) ?? []
  for (const part of parts) {
    if (part.startsWith('*')) tokens.push({ kind: 'any' })
    else if (part === '?') tokens.push({ kind: 'one', takes: () => true })
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

/** `[a-z]`, `[!abc]` */
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

/** On a failure the last `*` takes one character more; those before it never have to. */
function fits(tokens: readonly Token[], name: readonly string[]): boolean {
  let [at, token] = [0, 0]
  let retry: { at: number; token: number } | undefined
  while (at < name.length) {
    const current = tokens[token]
    if (current?.kind === 'any') {
      token += 1
      retry = { at, token }
    } else if (current?.takes(name[at] ?? '')) {
      at += 1
      token += 1
    } else {
      if (retry === undefined) return false
      retry.at += 1
      at = retry.at
      token = retry.token
    }
  }
  return tokens.slice(token).every(({ kind }) => kind === 'any')
}
