/** Version constraints of requirements (composer/semver, VersionParser::parseConstraints). */

import { MODIFIER, normalizeVersion, trimBlanks, withoutAlias } from './version.js'

const CHARACTERS_MAX = 1_000

/**
 * Returns true if Composer can parse the constraint. The steps and their order are those of
 * VersionParser.
 */
export function isConstraint(text: string): boolean {
  // White space other than spaces and tabs is refused, because PHP's patterns treat it differently.
  if (text.length > CHARACTERS_MAX || /[^\S \t]/.test(text)) return false
  return trimBlanks(text)
    .split(/\s*\|\|?\s*/)
    .every((either) => either.split(AND).every(isSimpleConstraint))
}

/** Separator: a comma or space that is not next to an operator, a hyphen or an alias's `as`. */
const AND = /(?<!^|as|[=>< ,]) *(?<!-)[, ](?!-) *(?!,|as|$)/

const STABILITY_FLAG = /^([^,\s]*?)@(?:stable|RC|beta|alpha|dev)$/i
const REFERENCE = /^(dev-[^,\s@]+?|[^,\s@]+?\.x-dev)#.+$/i
const ANYTHING = /^v?[x*](?:\.[x*])*$/i
const NUMBERS = `v?\\d+(?:\\.\\d+)?(?:\\.\\d+)?(?:\\.\\d+)?(?:${MODIFIER}|\\.([x*][.-]?dev))(?:\\+\\S+)?`
const FROM = new RegExp(`^[~^]${NUMBERS}$`, 'i')
const X_RANGE = /^v?\d+(?:\.\d+)?(?:\.\d+)?(?:\.[xX*])+$/
const HYPHEN_RANGE = new RegExp(`^(?<from>${NUMBERS}) +- +(?<to>${NUMBERS})$`, 'i')
const COMPARISON = /^(?:<>|!=|>=?|<=?|==?)?\s*(.*)/

function isSimpleConstraint(text: string): boolean {
  const constraint = withoutAlias(text)
    .replace(STABILITY_FLAG, (_, version: string) => version || '*')
    .replace(REFERENCE, '$1')
  if (ANYTHING.test(constraint) || X_RANGE.test(constraint)) return true
  const from = FROM.exec(constraint)
  if (from !== null) {
    const [, stability, , dev, branch] = from
    const suffix = stability || dev || branch ? '' : '-dev'
    return normalizeVersion(`${constraint.slice(1)}${suffix}`) !== undefined
  }
  const range = HYPHEN_RANGE.exec(constraint)?.groups
  if (range !== undefined) {
    const ends = [range['from'] ?? '', range['to'] ?? '']
    return ends.every((end) => normalizeVersion(end) !== undefined)
  }
  const version = COMPARISON.exec(constraint)?.[1] ?? ''
  // Composer also accepts `name-dev` for the branch `dev-name`.
  return normalizeVersion(version) !== undefined || /^[0-9a-zA-Z./-]*-dev$/.test(version)
}
