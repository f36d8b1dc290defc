/** Paths of modules and of their files (go.dev/ref/mod#go-mod-file-ident). */

/**
 * Returns the reason why the go command would refuse a module path; undefined if it is valid. Does
 * not compare the path with a version; see `module-version`.
 */
export function modulePathError(path: string): string | undefined {
  const elements = path.split('/')
  const [first = ''] = elements
  if (!first.includes('.')) return 'its first element must have a dot, as in example.com'
  if (!/^[a-z0-9][a-z0-9.-]*$/.test(first)) {
    return 'its first element must consist of lower-case letters, digits, dots and hyphens'
  }
  for (const element of elements) {
    const fault = whyNoElement(element)
    if (fault !== undefined) return fault
    if (!/^[A-Za-z0-9._~-]+$/.test(element)) {
      return `it must consist of ASCII letters, digits and -._~`
    }
    if (element.startsWith('.')) return 'one of its elements begins with a dot'
    // Such an element could be a Windows short name, as in LONGNA~1.
    if (/^[^.]*~\d+(?:\.|$)/.test(element)) return 'one of its elements ends with ~ and digits'
  }
  return splitPathMajor(path) === undefined
    ? 'its major version suffix is invalid, see go.dev/ref/mod#major-version-suffixes'
    : undefined
}

/**
 * Returns the reason why the go command would refuse the path of a file, relative to its module;
 * undefined if it is valid.
 */
export function filePathError(path: string): string | undefined {
  for (const element of path.split('/')) {
    const fault = whyNoElement(element)
    if (fault !== undefined) return fault
    if (!/^[A-Za-z0-9\p{L}!#$%&()+,\-.=@[\]^_{}~ ]+$/u.test(element)) {
      return 'its name has a character that some file systems do not allow'
    }
  }
  return undefined
}

const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\.|$)/i

function whyNoElement(element: string): string | undefined {
  if (/^\.*$/.test(element)) return 'one of its elements is empty or consists of dots'
  if (element.endsWith('.')) return 'one of its elements ends with a dot'
  if (WINDOWS_DEVICE.test(element)) return 'one of its elements is a reserved name on Windows'
  return undefined
}

/**
 * Returns the major version that a module path requires: `v2` for `/v2`, or `v1` for
 * `gopkg.in/yaml.v1`. Returns an empty text for a path without major version suffix, and undefined
 * for an invalid suffix, such as `/v1` (go.dev/ref/mod#major-version-suffixes).
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
 * Decodes a module path or version in a URL, where `!` and a lower-case letter encode an upper-case
 * letter (go.dev/ref/mod#goproxy-protocol). Returns undefined for an invalid encoding.
 */
export function unescapeCapitals(text: string): string | undefined {
  if (!/^(?:[^!A-Z\x80-\uffff]|![a-z])*$/.test(text)) return undefined
  return text.replace(/![a-z]/g, (pair) => pair.slice(1).toUpperCase())
}
