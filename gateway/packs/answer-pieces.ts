/** Pieces of long answers, so that a long list does not block the event loop. */

/** Size of the pieces of a long answer, which are sent one after the other. */
export const PIECE_BYTES = 262_144

/** Splits an answer into pieces of at most `PIECE_BYTES`. */
export function split(piece: Buffer): readonly Buffer[] {
  const count = Math.ceil(piece.byteLength / PIECE_BYTES)
  return Array.from({ length: count }, (_, at) =>
    piece.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES),
  )
}

/** Returns the pieces as one buffer; a single piece is not copied. */
export function joined(pieces: readonly Buffer[], bytes: number): Buffer {
  const [first, ...others] = pieces
  return first !== undefined && others.length === 0 ? first : Buffer.concat(pieces, bytes)
}
