/** Modules in the owner's repositories: their place, and their files at a commit. */

import { notFound } from '../../conf/failures.js'
import type { SourceReader, SourceRepositories, SourceRepository } from '../source-repository.js'
import { readModuleLine } from './go-mod.js'
import { modulePathError, splitPathMajor } from './module-path.js'
import { GO_MOD_BYTES_MAX } from './module-zip.js'

/** A module path that begins with the path of a repository. */
export interface SourceModule {
  readonly path: string
  readonly repository: SourceRepository
  /** Folder of the module in the repository; empty for its top. */
  readonly directory: string
  /** Major version suffix of the path, such as `v2`; empty if it has none. */
  readonly pathMajor: string
}

/**
 * Finds the repository of a module path, which is `host/owner/repository`, followed by a folder and
 * a major version suffix, if any. Undefined if the caller may read no such repository. The module
 * may exist in none of its commits.
 */
export async function findSourceModule(
  repositories: SourceRepositories,
  path: string,
): Promise<SourceModule | undefined> {
  const { hostname, pathname } = new URL(repositories.url)
  const start = `${hostname}${pathname}/`
  if (!path.startsWith(start) || modulePathError(path) !== undefined) return undefined
  const [name = '', ...rest] = path.slice(start.length).split('/')
  const repository = await repositories.find(name.replace(/\.git$/, ''))
  if (repository === undefined) return undefined
  // A repository may be named like a major version suffix.
  if (rest.length === 0) return { path, repository, directory: '', pathMajor: '' }
  const pathMajor = splitPathMajor(path) ?? ''
  const folders = pathMajor === '' ? rest : rest.slice(0, -1)
  return { path, repository, directory: folders.join('/'), pathMajor }
}

/** The folder of a module in one commit. */
export interface ModulePlace {
  readonly directory: string
  /** Undefined for a module without go.mod. */
  readonly goMod: Buffer | undefined
}

/**
 * Finds the folder of a module: that of its path, or the folder `v2` in it if the path ends with
 * `/v2` (go.dev/ref/mod#vcs-dir). Throws `not_found` with the reason.
 */
export async function findModulePlace(
  { path, directory, pathMajor }: SourceModule,
  reader: SourceReader,
  commitId: string,
): Promise<ModulePlace> {
  const goModIn = (folder: string) =>
    reader.readFile(commitId, below(folder, 'go.mod'), GO_MOD_BYTES_MAX)
  const goMod = await goModIn(directory)
  const isHere = goMod !== undefined && isOfMajor(goMod, pathMajor)
  if (pathMajor !== '') {
    const majorDirectory = below(directory, pathMajor)
    const majorGoMod = await goModIn(majorDirectory)
    const isThere = majorGoMod !== undefined && isOfMajor(majorGoMod, pathMajor)
    if (isHere && isThere) {
      throw missing(`both go.mod and ${pathMajor}/go.mod are of ${pathMajor}`)
    }
    if (isThere) return { directory: majorDirectory, goMod: majorGoMod }
    if (majorGoMod !== undefined) throw missing(`${majorDirectory}/go.mod is of another version`)
  }
  if (isHere) return { directory, goMod }
  if (goMod !== undefined) throw missing(`its go.mod does not declare the module ${path}`)
  if (directory === '' && pathMajor === '') return { directory, goMod }
  throw missing(`it has no ${below(directory, 'go.mod')}`)
}

/** Returns the path of a file or folder below a folder, which may be empty for the top. */
export function below(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

function missing(reason: string) {
  return notFound(`not found: the commit does not have the module: ${reason}`)
}

/**
 * True if the module that a go.mod declares can have the versions of the suffix. Only the suffix is
 * compared, because forks keep the go.mod of the original, and `replace` directives name them.
 */
function isOfMajor(goMod: Buffer, pathMajor: string): boolean {
  const declared = readModuleLine(goMod.toString())
  if (declared === undefined) return false
  // The go command has accepted paths without suffix as replacements of all these.
  if (declared.startsWith('gopkg.in/') && pathMajor === '') return true
  const major = splitPathMajor(declared)
  if (pathMajor !== '') return major === pathMajor
  return major === ''
}
