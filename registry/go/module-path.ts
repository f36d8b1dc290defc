/** What modules and their files may be called (go.dev/ref/mod#go-mod-file-ident). */

/**
 * Why the go command would not take the path of a module. Whether it fits a version is for
 * `module-version` to say.
 */
export function modulePathError(path: string): string | undefined {
  const elements = path.split('/')
  const [first = ''] = elements
  if (!first.includes('.')) return 'its first element has no dot'
  if (!/^[a-z0-9][a-z0-9.-]*$/.test(first)) {
    return 'its first element holds other than small letters, digits, dots and dashes'
  }
  for (const element of elements) {
    const fault = whyNoElement(element)
    if (fault !== undefined) return fault
    if (!/^[A-Za-z0-9._~-]+$/.test(element)) {
      return `it holds other than letters, digits and -._~ in ASCII`
    }
    if (element.startsWith('.')) return 'one of its elements begins with a dot'
    // As Windows shortens names: LONGNA~1.
    if (/^[^.]*~\d+(?:\.|$)/.test(element)) return 'one of its elements ends with ~ and digits'
  }
  return splitPathMajor(path) === undefined
    ? 'it ends with a major version of no module'
    : undefined
}

/** Why the go command would not take the path of a file, relative to its module. */
export function filePathError(path: string): string | undefined {
  for (const element of path.split('/')) {
    const fault = whyNoElement(element)
    if (fault !== undefined) return fault
    if (!/^[A-Za-z0-9\p{L}!#$%&()+,\-.=@[\]^_{}~ ]+$/u.test(element)) {
      return 'its name has a character that not all systems take'
    }
  }
  return undefined
}

const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\.|$)/i

function whyNoElement(element: string): string | undefined {
  if (/^\.*$/.test(element)) return 'one of its elements is empty, or dots alone'
  if (element.endsWith('.')) return 'one of its elements ends with a dot'
  if (WINDOWS_DEVICE.test(element)) return 'one of its elements is a device of Windows'
  return undefined
}

/**
 * The major version that the end of a module's path asks for: `v2` of `/v2`, or `v1` of
 * `gopkg.in/yaml.v1`. Empty for none; undefined where no module ends so, such as in `/v1`.
 */
export function splitPathMajor(path: string): string | undefined {
  if (path.startsWith('gopkg.in/')) {
    return /[^/]\.(v(?:0|[1-9]\d*))(?:-unstable)?$/.exec(path)?.[1]
  }
  const end = /[^/]\/v([\d.]+)$/.exec(path)?.[1]
  if (end === undefined) return ''
  return /^(?:[2-9]|[1-9]\d+)$/.test(end) ? `v${end}` : undefined
}

/**
 * Undoes the escape of module paths and versions in addresses, where each capital is `!` and its
 * small letter, for storages that know one case. Undefined for what is not written so.
 */
export function unescapeCapitals(text: string): string | undefined {
  if (!/^(?:[^!A-Z\x80-\uffff]|![a-z])*$/.test(text)) return undefined
  return text.replace(/![a-z]/g, (pair) => pair.slice(1).toUpperCase())
}
