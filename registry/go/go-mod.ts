/** The directives module and retract of a go.mod file (go.dev/ref/mod#go-mod-file-grammar). */

/** Returns the unchecked module path that a go.mod declares; undefined if it declares none. */
export function readModuleLine(goMod: string): string | undefined {
  for (let start = 0; start < goMod.length; ) {
    const found = goMod.indexOf('\n', start)
    const end = found === -1 ? goMod.length : found
    const path = modulePathOf(goMod.slice(start, end))
    if (path !== undefined) return path
    start = end + 1
  }
  return undefined
}

function modulePathOf(line: string): string | undefined {
  const [text = ''] = line.split('//', 1)
  const [, path] = /^module\s+(.+)$/.exec(text.trim()) ?? []
  const quoted = /^(["`])([^"`]*)\1$/.exec(path ?? '')
  return quoted?.[2] ?? path
}

/** Versions from `low` to `high`, both included. */
export interface VersionRange {
  readonly low: string
  readonly high: string
}

/** Returns the versions that a go.mod retracts. Malformed lines are left out. */
export function readRetractions(goMod: string): readonly VersionRange[] {
  const found: VersionRange[] = []
  let isInBlock = false
  for (const line of goMod.split('\n')) {
    const text = (line.split('//', 1)[0] ?? '').trim()
    if (isInBlock && text === ')') isInBlock = false
    else if (/^retract\s*\($/.test(text)) isInBlock = true
    else {
      const range = isInBlock ? text : /^retract\b(.*)$/.exec(text)?.[1]
      found.push(...rangesIn(range ?? ''))
    }
  }
  return found
}

/** Parses `v1.0.0` or `[v1.0.0, v1.1.0]`. */
function rangesIn(text: string): readonly VersionRange[] {
  const version = '["`]?(v[\\w.+-]+)["`]?'
  const pattern = new RegExp(`^\\s*(?:${version}|\\[\\s*${version}\\s*,\\s*${version}\\s*\\])$`)
  const [, single, low = single, high = single] = pattern.exec(text) ?? []
  return low === undefined || high === undefined ? [] : [{ low, high }]
}

/** Returns the go.mod that a proxy must serve for a module without one. */
export function plainGoMod(path: string): string {
  return `module ${path}\n`
}
