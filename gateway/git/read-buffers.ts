/** Buffers that files are read into: large while few are lent, small when many are. */

/** What all readers of a process may hold together, about. */
const LENT_BYTES_MAX = 25_165_824
/** Each a multiple of the smallest. */
const SIZES_BYTES = [524_288, 131_072, 65_536] as const
const SPARE_MAX = 16

const spare = new Map<number, Uint8Array[]>()
let lentBytes = 0

export interface BorrowedBuffer {
  readonly bytes: Uint8Array
  /** To be called once; then the memory may serve another reader. */
  giveBack(): void
}

/** A buffer to read into: a smaller one, the more is lent already. */
export function borrowBuffer(): BorrowedBuffer {
  const leftBytes = LENT_BYTES_MAX - lentBytes
  const sizeBytes = SIZES_BYTES.find((size) => size * 16 <= leftBytes) ?? SIZES_BYTES[2]
  const bytes = spare.get(sizeBytes)?.pop() ?? new Uint8Array(sizeBytes)
  lentBytes += sizeBytes
  return {
    bytes,
    giveBack() {
      lentBytes -= sizeBytes
      const shelf = spare.get(sizeBytes) ?? []
      if (shelf.length < SPARE_MAX) shelf.push(bytes)
      spare.set(sizeBytes, shelf)
    },
  }
}
