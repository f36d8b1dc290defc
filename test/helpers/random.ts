/** Random choices. */

import { randomInt } from 'node:crypto'

export function pick<T>(list: readonly T[]): T {
  return list[randomInt(list.length)] as T
}

export function some<T>(list: readonly T[]): T[] {
  return list.filter(() => randomInt(2) === 0)
}
