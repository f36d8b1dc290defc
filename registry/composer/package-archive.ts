/** Archives of Composer packages: detects their type and reads their composer.json. */

import { Failure } from '../../conf/failures.js'
import { bunzip2 } from '../archive/bunzip2.js'
import type { ByteSource } from '../archive/byte-source.js'
import { gunzip } from '../archive/compress.js'
import { readTar } from '../archive/tar.js'
import { openZip } from '../archive/zip.js'
import { quote } from '../archive/zip-paths.js'
import { isReadme, README_BYTES_MAX, readmeText, readReadme } from '../readme.js'
import { type ComposerJson, parseComposerJson } from './composer-json.js'

export interface PackageArchive {
  readonly composerJson: ComposerJson
  /** Archive type for clients, in the field `dist.type`. */
  readonly distType: 'zip' | 'tar'
  /** Extension of the file name. */
  readonly extension: '.zip' | '.tar.gz' | '.tar.bz2'
  /** README beside composer.json. */
  readonly readme?: string | undefined
}

type Content = Pick<PackageArchive, 'composerJson' | 'readme'>

/**
 * Reads the composer.json of an archive. Throws `bad_request` if the file is not a zip, tar.gz or
 * tar.bz2 archive, or does not have exactly one composer.json in its root.
 */
export async function readPackageArchive(source: ByteSource): Promise<PackageArchive> {
  const magic = (await source.read(0, 4)).toString('latin1')
  if (magic.startsWith('PK')) {
    return { ...(await readZip(source)), distType: 'zip', extension: '.zip' }
  }
  if (magic.startsWith('\x1f\x8b')) {
    const tar = gunzip(source.stream(), UNPACKED_BYTES_MAX)
    return { ...(await findInTar(tar)), distType: 'tar', extension: '.tar.gz' }
  }
  if (magic.startsWith('BZh')) {
    const tar = bunzip2(source.stream(), BZIP2_UNPACKED_BYTES_MAX)
    return { ...(await findInTar(tar)), distType: 'tar', extension: '.tar.bz2' }
  }
  throw new Failure(
    'bad_request',
    'The file is not a valid package file: upload a zip, tar.gz or tar.bz2 archive.',
  )
}

const NAME = 'composer.json'

/** Maximum size of a composer.json, which is stored in the database and sent to all clients. */
const COMPOSER_JSON_BYTES_MAX = 1_048_576

/** Maximum decompressed size of a tar archive, which is searched to its end for duplicates. */
const UNPACKED_BYTES_MAX = 268_435_456

/** Maximum decompressed size of tar.bz2, which takes some seconds in a JavaScript library. */
const BZIP2_UNPACKED_BYTES_MAX = 67_108_864

const TAR_LIMITS = { entriesMax: 50_000, headerBytesMax: 33_554_432 }

async function readZip(source: ByteSource): Promise<Content> {
  const zip = await openZip(source)
  const search = searchComposerJson()
  const entries = zip.entries.filter(({ path }) => search.see(path))
  const path = search.found()
  const entry = entries.find((entry) => tidy(entry.path) === path)
  if (entry === undefined || entry.kind !== 'file') throw missing()
  const composerJson = parseComposerJson(await zip.read(entry, COMPOSER_JSON_BYTES_MAX))
  return { composerJson, readme: await readReadme(zip, entry.path.slice(0, -NAME.length)) }
}

async function findInTar(tar: AsyncIterable<Uint8Array>): Promise<Content> {
  const search = searchComposerJson()
  const texts = new Map<string, Buffer>()
  const readmes = new Map<string, Buffer>()
  for await (const entry of readTar(tar, TAR_LIMITS)) {
    if (!search.see(entry.path)) {
      const folder = search.folderOfReadme(entry.path)
      const isWanted = entry.kind === 'file' && entry.bytes <= README_BYTES_MAX
      if (folder === undefined || !isWanted || readmes.has(folder)) continue
      readmes.set(folder, await entry.read(README_BYTES_MAX))
      continue
    }
    const path = tidy(entry.path)
    if (texts.has(path)) throw several()
    if (entry.kind === 'file') texts.set(path, await entry.read(COMPOSER_JSON_BYTES_MAX))
  }
  const path = search.found()
  const text = texts.get(path)
  if (text === undefined) throw missing()
  const readme = readmes.get(path.slice(0, -NAME.length))
  return { composerJson: parseComposerJson(text), readme: readme && readmeText(readme) }
}

/**
 * Creates a search for composer.json among paths in any order: in the root, or in the single
 * top-level folder, as in the archives that Git hosts create for tags.
 */
function searchComposerJson() {
  let isAtRoot = false
  let top: string | undefined
  let isOneTop = true
  return {
    /** Adds a path. Returns true if it could be the composer.json of the package. */
    see(rawPath: string): boolean {
      const path = tidy(rawPath)
      if (path === '') return false
      const [first = ''] = path.split('/', 1)
      if (first === '..') {
        throw new Failure('bad_request', `The path ${quote(rawPath)} leads out of the archive.`)
      }
      top ??= first
      isOneTop &&= first === top
      isAtRoot ||= path === NAME
      if (path === NAME) return true
      return isOneTop && !isAtRoot && path === `${first}/${NAME}`
    },
    /** Returns the folder of a README that could be beside that composer.json. */
    folderOfReadme(rawPath: string): string | undefined {
      const path = tidy(rawPath)
      return ['', `${top}/`].find(
        (folder) => path.startsWith(folder) && isReadme(path.slice(folder.length)),
      )
    },
    /** Returns the path of composer.json. Must be called after all paths were added. */
    found(): string {
      if (isAtRoot) return NAME
      if (isOneTop && top !== undefined) return `${top}/${NAME}`
      throw missing()
    },
  }
}

/** Normalizes a path: some programs write `./a` or `a/` for `a`. */
function tidy(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
}

function missing(): Failure {
  return new Failure(
    'bad_request',
    'The composer.json file is missing: it must be in the root of the archive, or in a single ' +
      'top-level folder that contains all files.',
  )
}

function several(): Failure {
  return new Failure('bad_request', 'The archive has several composer.json files at one path.')
}
