/** Module zip files, checked as the go command checks them (go.dev/ref/mod#zip-files). */

import { Failure } from '../../conf/failures.js'
import type { ByteSource } from '../archive/byte-source.js'
import { createYielder } from '../archive/yielder.js'
import { openZip, type Zip, type ZipEntry } from '../archive/zip.js'
import { quote } from '../archive/zip-paths.js'
import { readReadme } from '../readme.js'
import { readModuleLine } from './go-mod.js'
import { checkFolding } from './letter-case.js'
import { filePathError, modulePathError } from './module-path.js'
import { versionError } from './module-version.js'

export interface Module {
  readonly path: string
  readonly version: string
  /** Content of go.mod; absent for a module without one. */
  readonly goMod?: string
  readonly readme?: string | undefined
}

/**
 * Reads the path and version of a module from its zip, after checking all files. Throws
 * `bad_request` if the go command would refuse the zip.
 */
export async function readModuleZip(source: ByteSource): Promise<Module> {
  if (source.bytes > MODULE_BYTES_MAX) throw refuse('it has more than 500 MiB')
  const zip = await openZip(source)
  const { path, version, root } = readRoot(zip)
  const fault = modulePathError(path)
  if (fault !== undefined) throw refuse(`${quote(path)} is not a module path: ${fault}`)
  await checkFiles(zip, root)
  const goMod = await readGoMod(zip, `${root}go.mod`)
  const versionFault = versionError(version, { path, hasGoMod: goMod !== undefined })
  if (versionFault !== undefined) {
    throw refuse(`${quote(version)} is not a version of this module: ${versionFault}`)
  }
  const named = goMod === undefined ? path : readModuleLine(goMod)
  if (named !== path) {
    const declared = named === undefined ? 'no module' : `the module ${quote(named)}`
    throw refuse(`its go.mod declares ${declared}, but its folder names ${quote(path)}`)
  }
  for (const entry of zip.entries) await zip.check(entry)
  const readme = await readReadme(zip, root)
  return { path, version, readme, ...(goMod === undefined ? {} : { goMod }) }
}

/** Maximum size of a module zip and of its files together (golang.org/x/mod/zip). */
export const MODULE_BYTES_MAX = 524_288_000
const LICENSE_BYTES_MAX = 16_777_216

/**
 * Maximum size of go.mod. The go command allows 16 MiB, but the registry stores it in the database
 * and parses it, and a go.mod with ten thousand requirements is smaller than this.
 */
export const GO_MOD_BYTES_MAX = 1_048_576

function refuse(fault: string): Failure {
  return new Failure('bad_request', `The module zip is invalid: ${fault}.`)
}

/** Returns the folder `module@version/` that contains all files, and its parts. */
function readRoot({ entries: [first] }: Zip) {
  const [, path, version] = /^([^@]+)@([^@/]+)\//.exec(first?.path ?? '') ?? []
  if (path === undefined || version === undefined) {
    throw refuse('its files must be in a folder named module@version')
  }
  return { path, version, root: `${path}@${version}/` }
}

async function checkFiles({ entries }: Zip, root: string): Promise<void> {
  const yieldIfDue = createYielder()
  const names: string[] = []
  let bytes = 0
  for (const entry of entries) {
    await yieldIfDue()
    bytes += entry.bytes
    if (entry.path !== root) names.push(checkFile(entry, root))
  }
  checkFolding(names)
  if (bytes > MODULE_BYTES_MAX) throw refuse('it decompresses to more than 500 MiB')
}

/** Checks an entry and returns its path in the module. */
function checkFile({ path, kind, bytes }: ZipEntry, root: string): string {
  if (!path.startsWith(root)) throw refuse(`${quote(path)} is not in the folder ${quote(root)}`)
  const name = path.slice(root.length)
  const shown = quote(name)
  if (kind === 'other') throw refuse(`${shown} is neither a file nor a folder`)
  const fault = filePathError(kind === 'folder' ? name.slice(0, -1) : name)
  if (fault !== undefined) throw refuse(`${shown} is not allowed: ${fault}`)
  if (/(?:^|\/)go\.mod$/i.test(name) && name !== 'go.mod') {
    const advice = name.includes('/') ? 'leave out nested modules' : 'its name must be go.mod'
    throw refuse(`${shown} is not allowed: ${advice}`)
  }
  if (name === 'LICENSE' && bytes > LICENSE_BYTES_MAX) throw refuse('LICENSE has more than 16 MiB')
  return name
}

async function readGoMod(zip: Zip, wanted: string): Promise<string | undefined> {
  const entry = zip.entries.find(({ path }) => path === wanted)
  if (entry === undefined) return undefined
  if (entry.bytes > GO_MOD_BYTES_MAX) throw refuse('its go.mod has more than 1 MiB')
  const bytes = await zip.read(entry, GO_MOD_BYTES_MAX)
  const goMod = bytes.toString()
  // go.mod is stored as text, so invalid UTF-8 would be served with other bytes.
  if (!Buffer.from(goMod).equals(bytes)) throw refuse('its go.mod is not valid UTF-8')
  return goMod
}
