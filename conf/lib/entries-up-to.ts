/** Bound of caches by their number of entries. */

/**
 * Options of an LRUCache that keeps at most `entries` entries and grows with its contents. The
 * option `max` instead allocates memory for all entries when the cache is created, which takes 4 ms
 * for 50,000 of them.
 */
export function entriesUpTo(entries: number) {
  return { maxSize: entries, sizeCalculation: () => 1 } as const
}
