/** The file go.mod, as far as a proxy has to know it (go.dev/ref/mod#go-mod-file-grammar). */

/** What the module says its path is, whatever that is; undefined when it says nothing. */
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

/** What a module of before go.mod would say: its name. */
export function plainGoMod(path: string): string {
  return `module ${path}\n`
}
