/** The parts of an R repository: source packages, and binaries of each platform. */

export interface Place {
  /** Subject of the index. */
  readonly subject: string
  /** Composite key, which distinguishes files of the same name. */
  readonly compositeKey: string
  /** Suffix of tar archives. */
  readonly tarSuffix: '.tar.gz' | '.tgz'
  /** Suffix of the file that R requests if the index has no field `File`. */
  readonly usualSuffix: '.tar.gz' | '.tgz' | '.zip'
}

export const SOURCE: Place = {
  subject: 'src',
  compositeKey: '',
  tarSuffix: '.tar.gz',
  usualSuffix: '.tar.gz',
}

const CHARACTERS_MAX = 200

/**
 * Returns the place of binaries for a platform such as `windows` or `macosx/big-sur-arm64` and a
 * version of R such as `4.2`. Returns undefined if one of them is not allowed in a URL path.
 */
export function binaryPlace(platform: string, rversion: string): Place | undefined {
  const segments = [...platform.split('/'), rversion]
  if (platform.length + rversion.length > CHARACTERS_MAX) return undefined
  if (!segments.every((segment) => /^[A-Za-z0-9._+-]+$/.test(segment))) return undefined
  if (segments.some((segment) => /^\.{1,2}$/.test(segment))) return undefined
  const tarSuffix = segments[0] === 'macosx' ? '.tgz' : '.tar.gz'
  return {
    subject: `bin/${platform}/${rversion}`,
    compositeKey: `${platform}|${rversion}`,
    tarSuffix,
    usualSuffix: segments[0] === 'windows' ? '.zip' : tarSuffix,
  }
}
