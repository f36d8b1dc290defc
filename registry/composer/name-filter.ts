/** The filter of `list.json`: patterns with wildcards. */

/** Returns true if the pattern, in which `*` is any text, matches the whole name, ignoring case. */
export function fitsPattern(name: string, pattern: string): boolean {
  const [first = '', ...pieces] = pattern.toLowerCase().split('*')
  const last = pieces.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first)) return false
  let at = first.length
  // The leftmost match of each piece leaves the most text for the following pieces.
  for (const piece of pieces) {
    const found = name.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return name.length - at >= last.length && name.endsWith(last)
}
