/** Adds platform packages that npm omitted to package-lock.json. */

import { readFileSync, writeFileSync } from 'node:fs'

const LOCK_FILE = 'package-lock.json'

interface LockEntry {
  readonly version?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly license?: string
  readonly engines?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

type Entries = Record<string, LockEntry>

/**
 * Adds an entry for each missing optional package; returns their names. npm writes entries only for
 * packages that its registry returned, and `npm ci` then rejects the lock file with a registry that
 * returns more ("Missing: … from lock file"). The parent's entry has the name and version of each
 * optional package, and the name contains the platform.
 */
function completeLock(entries: Entries): readonly string[] {
  const added: string[] = []
  for (const [parentPath, parent] of Object.entries(entries)) {
    for (const [name, version] of Object.entries(parent.optionalDependencies ?? {})) {
      if (isListed(entries, parentPath, name)) continue
      const siblings = Object.keys(parent.optionalDependencies ?? {})
      entries[`node_modules/${name}`] = {
        version: exactVersion(name, version),
        ...platformOf(name),
        ...(parent.dev === true ? { dev: true } : {}),
        optional: true,
        ...borrowed(entries, name, siblings),
      }
      added.push(name)
    }
  }
  return added
}

/** True if Node would resolve the package from its parent: next to it or in a folder above. */
function isListed(entries: Entries, parentPath: string, name: string): boolean {
  const tail = `node_modules/${name}`
  return Object.keys(entries).some(
    (path) => path.endsWith(tail) && `${parentPath}/`.startsWith(path.slice(0, -tail.length)),
  )
}

function exactVersion(name: string, version: string): string {
  if (/^\d+\.\d+\.\d+$/.test(version)) return version
  throw new Error(`${name} has the version range ${version}: the lock needs one version`)
}

const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32']
const PROCESSORS = ['arm', 'arm64', 'ia32', 'ppc64', 'riscv64', 's390x', 'x64']

/** Parses a name: `@scope/binding-linux-arm64-musl` is for os linux, cpu arm64, libc musl. */
function platformOf(name: string): object {
  const words = name.split(/[/-]/)
  const os = words.find((word) => SYSTEMS.includes(word))
  const cpu = words.find((word) => PROCESSORS.includes(word))
  if (os === undefined || cpu === undefined) throw new Error(`${name} names no known platform`)
  const last = words.at(-1) ?? ''
  const libc = last.startsWith('musl') ? 'musl' : last.startsWith('gnu') ? 'glibc' : undefined
  return { cpu: [cpu], os: [os], ...(libc === undefined ? {} : { libc: [libc] }) }
}

/** Copies license and engines from a sibling, preferably of the same suffix (a Node version). */
function borrowed(entries: Entries, name: string, siblings: readonly string[]): object {
  const listed = siblings.filter((sibling) => entries[`node_modules/${sibling}`] !== undefined)
  const lastWord = name.slice(name.lastIndexOf('-'))
  const lender = listed.find((sibling) => sibling.endsWith(lastWord)) ?? listed[0]
  const { license, engines } = entries[`node_modules/${lender}`] ?? {}
  return { ...(license ? { license } : {}), ...(engines ? { engines } : {}) }
}

function sortedByPath(entries: Entries): Entries {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => a.localeCompare(b, 'en')))
}

const lock = JSON.parse(readFileSync(LOCK_FILE, 'utf8'))
const added = completeLock(lock.packages)
if (added.length > 0) {
  const completed = { ...lock, packages: sortedByPath(lock.packages) }
  writeFileSync(LOCK_FILE, `${JSON.stringify(completed, null, 2)}\n`)
}
console.log(`${LOCK_FILE}: ${added.length} platform packages added`)
