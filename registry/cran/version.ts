/** Versions of R packages, and their order: numbers between dots and hyphens (?package_version). */

const CHARACTERS_MAX = 255

/** More than R can count: to it, such a version is none. */
const NUMBER_MAX = 2_147_483_647

/** Whether R takes that for the version of a package. */
export function isVersion(text: string): boolean {
  if (text.length > CHARACTERS_MAX || !/^\d+(?:[.-]\d+)+$/.test(text)) return false
  return numbersOf(text).every((number) => number <= NUMBER_MAX)
}

/**
 * Below, at or above nought as R orders the two: number by number, where one that is missing is 0.
 * `1.0-1` and `1.0.1` are the same to it, as are `1.0` and `1.0.0`.
 */
export function compareVersions(one: string, other: string): number {
  const [numbers, others] = [numbersOf(one), numbersOf(other)]
  for (let at = 0; at < Math.max(numbers.length, others.length); at += 1) {
    const difference = (numbers[at] ?? 0) - (others[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

function numbersOf(version: string): readonly number[] {
  return version.split(/[.-]/).map(Number)
}
