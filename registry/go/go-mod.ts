/** The module directive of a go.mod file (go.dev/ref/mod#go-mod-file-grammar). */

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

/** Returns the go.mod that a proxy must serve for a module without one. */
export function plainGoMod(path: string): string {
  return `module ${path}\n`
}
