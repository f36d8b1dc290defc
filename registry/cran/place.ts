/** Where a package is for its clients: among the sources, or the binaries of one platform. */

export interface Place {
  /** Of the index that it is in. */
  readonly subject: string
  /** Tells its file from others of the same name. */
  readonly compositeKey: string
  /** Of a tar archive here. */
  readonly tarSuffix: '.tar.gz' | '.tgz'
  /** What R asks for where the index says nothing else. */
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
 * That of binaries for a platform such as `windows` or `macosx/big-sur-arm64` and a version of R
 * such as `4.2`; undefined where one of the two has no place in an address.
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
