/** A hash table of object ids that are stored elsewhere: four bytes for each entry. */

/** Share of used slots above which lookups become slow. */
const LOAD_MAX = 0.6

/** Table of entries, which are numbers; the caller compares the object ids themselves. */
export class OidTable {
  readonly #slots: Uint32Array

  /** Creates a table for `entriesMax` entries. */
  constructor(entriesMax: number) {
    this.#slots = new Uint32Array(2 ** Math.ceil(Math.log2(entriesMax / LOAD_MAX + 8)))
  }

  get bytes(): number {
    return this.#slots.byteLength
  }

  /**
   * Returns the first entry of this hash for which `isWanted` returns true; undefined if there is
   * none.
   */
  find(hash: number, isWanted: (entry: number) => boolean): number | undefined {
    const mask = this.#slots.length - 1
    for (let slot = mix(hash) & mask; ; slot = (slot + 1) & mask) {
      const stored = this.#slots[slot] ?? 0
      if (stored === 0) return undefined
      if (isWanted(stored - 1)) return stored - 1
    }
  }

  /** Adds an entry, a number below 2^32 - 1, unless the table has it. */
  add(hash: number, entry: number): void {
    const mask = this.#slots.length - 1
    let slot = mix(hash) & mask
    for (; this.#slots[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#slots[slot] === entry + 1) return
    }
    this.#slots[slot] = entry + 1
  }
}

/** Spreads a hash over all bits: murmur3's finalizer. */
function mix(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35)
  return (second ^ (second >>> 16)) >>> 0
}
