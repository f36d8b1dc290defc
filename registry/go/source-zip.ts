/**
 * Module zips of commits. They have the checksum in go.sum that the go command computes if it
 * clones the repository itself.
 */

import { Failure } from '../../conf/failures.js'
import type { Reply, Request } from '../../conf/http.js'
import { changeZip, ZIP_ENTRIES_MAX } from '../archive/changed-zip.js'
import type { SourceReader } from '../source-repository.js'
import { MODULE_BYTES_MAX } from './module-zip.js'
import { LICENSE_BYTES_MAX, selectFiles } from './source-files.js'
import type { SourceModule } from './source-module.js'
import type { SourceVersion } from './source-versions.js'

/**
 * Returns a reply with the zip of a version. Throws `not_found` if the go command would refuse the
 * files, so that it shows the reason and asks the next proxy.
 */
export async function serveSourceZip(
  { path, repository }: SourceModule,
  { version, directory, commit }: SourceVersion,
  request: Request,
): Promise<Reply> {
  const root = `${path}@${version}/`
  return await repository.serveArchive(request, {
    commitId: commit.id,
    directory,
    words: ['go', root],
    contentType: 'application/zip',
    fileName: `${version}.zip`,
    async make(archive) {
      const { names, license } = await repository.read((reader) =>
        readContents(reader, commit.id, directory),
      )
      const pathOf = (file: string) => {
        const name = directory === '' ? file : file.slice(directory.length + 1)
        return names.has(name) ? `${root}${name}` : undefined
      }
      const additions = license === undefined ? [] : [{ path: `${root}LICENSE`, content: license }]
      const check = createSizeCheck()
      return changeZip(await archive(), { pathOf, additions, check })
    },
  })
}

/** Returns a function that throws if the module is too large after line breaks are converted. */
function createSizeCheck(): (bytes: number) => void {
  let total = 0
  return (bytes) => {
    total += bytes
    if (total > MODULE_BYTES_MAX) {
      throw new Failure('payload_too_large', 'The module has more than 500 MiB.')
    }
  }
}

interface Contents {
  /** Paths of the files of the zip, below the folder of the module. */
  readonly names: ReadonlySet<string>
  /** License of the repository, for a module in a folder without one. */
  readonly license: Buffer | undefined
}

async function readContents(
  reader: SourceReader,
  commitId: string,
  directory: string,
): Promise<Contents> {
  const files = await reader.listFiles(commitId, { directory, filesMax: ZIP_ENTRIES_MAX - 1 })
  const names = await selectFiles(files)
  const isWithout = directory !== '' && !files.some(({ path }) => path === 'LICENSE')
  const license = isWithout ? await readLicense(reader, commitId) : undefined
  return { names, license }
}

/** Reads the license at the top of the repository; undefined if it is missing or too large. */
async function readLicense(reader: SourceReader, commitId: string): Promise<Buffer | undefined> {
  try {
    return await reader.readFile(commitId, 'LICENSE', LICENSE_BYTES_MAX)
  } catch (error) {
    if (error instanceof Failure && error.failure === 'not_found') return undefined
    throw error
  }
}
