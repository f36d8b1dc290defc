/** Versions of R packages and their order: numbers between dots and hyphens (?package_version). */

const CHARACTERS_MAX = 255

/** Largest integer of R, which refuses versions with larger numbers. */
const NUMBER_MAX = 2_147_483_647

/** Returns true if R accepts the text as the version of a package. */
export function isVersion(text: string): boolean {
  if (text.length > CHARACTERS_MAX || !/^\d+(?:[.-]\d+)+$/.test(text)) return false
  return numbersOf(text).every((number) => number <= NUMBER_MAX)
}

/**
 * Compares two versions as R does: number by number, where a missing number is 0. So `1.0-1` equals
 * `1.0.1`, and `1.0` equals `1.0.0`. Returns a negative number, 0 or a positive number.
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
