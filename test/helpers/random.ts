/** Random choices. */

import { randomInt } from 'node:crypto'

export function pick<T>(list: readonly T[]): T {
  return list[randomInt(list.length)] as T
}

export function some<T>(list: readonly T[]): T[] {
  return list.filter(() => randomInt(2) === 0)
}

/** Returns the values in a random order. */
export function shuffle<T>(list: readonly T[]): readonly T[] {
  const keyed = list.map((value) => ({ value, key: randomInt(2 ** 32) }))
  return keyed.sort((one, other) => one.key - other.key).map(({ value }) => value)
}
