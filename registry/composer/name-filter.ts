/** Which names of a list a client wants: of one vendor, or with a pattern of stars. */

/** Whether the pattern, in which a star is any text, is all of the name; in any case of letters. */
export function fitsPattern(name: string, pattern: string): boolean {
  const [first = '', ...pieces] = pattern.toLowerCase().split('*')
  const last = pieces.pop()
  if (last === undefined) return name === first
  if (!name.startsWith(first)) return false
  let at = first.length
  // The leftmost place of each piece leaves most of the name to the others.
  for (const piece of pieces) {
    const found = name.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return name.length - at >= last.length && name.endsWith(last)
}
