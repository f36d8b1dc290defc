/** Source control files (dsc(5)): the metadata of a source package and the list of its files. */

import { Failure } from '../../conf/failures.js'
import type { ByteSource } from '../archive/byte-source.js'
import { quote } from '../archive/zip-paths.js'
import { type ControlField, decodeText, parseParagraph } from './control.js'
import { parsePackageName, parseVersion } from './names.js'
import { parseSourceFileName } from './source-names.js'

export interface SourceControl {
  readonly packageName: string
  readonly version: string
  /** Fields without the name of the package and the lists of its files. */
  readonly fields: readonly ControlField[]
  readonly files: readonly ListedFile[]
}

export interface ListedFile {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

const DSC_BYTES_MAX = 262_144
const FILES_MAX = 100

/** Reads a .dsc file, which may be signed. Throws `bad_request` if it is malformed. */
export async function readSourceControl(source: ByteSource): Promise<SourceControl> {
  if (source.bytes > DSC_BYTES_MAX) throw refuse(`it has more than ${DSC_BYTES_MAX} bytes`)
  const bytes = await source.read(0, source.bytes)
  const all = parseParagraph(withoutSignature(decodeText(bytes)))
  const required = (name: string) => {
    const value = all.find(([known]) => known.toLowerCase() === name.toLowerCase())?.[1]
    if (value !== undefined && value !== '') return value
    throw refuse(`it has no field ${name}`)
  }
  return {
    packageName: parsePackageName(required('Source')),
    version: parseVersion(required('Version')),
    fields: all.filter(([name]) => !REPLACED.test(name)),
    files: listOf(required('Checksums-Sha256')),
  }
}

/** Fields that the index has in another form. */
const REPLACED = /^(?:source|package|directory|files|checksums-.*)$/i

function refuse(why: string): Failure {
  return new Failure('bad_request', `The .dsc file is malformed: ${why}.`)
}

const BEGIN = '-----BEGIN PGP SIGNED MESSAGE-----\n'
const SIGNATURE = '\n-----BEGIN PGP SIGNATURE-----\n'
const END = '\n-----END PGP SIGNATURE-----'

/** Returns the text of a cleartext signature (RFC 9580 §7), which is not verified. */
function withoutSignature(text: string): string {
  if (!text.startsWith(BEGIN)) return text
  const start = text.indexOf('\n\n')
  const end = text.indexOf(SIGNATURE, start)
  if (start < 0 || end < 0 || text.indexOf(END, end) + END.length !== text.trimEnd().length) {
    throw refuse('its signature is incomplete, or text follows it')
  }
  return `${text.slice(start + 2, end).replace(/^- /gm, '')}\n`
}

function listOf(value: string): readonly ListedFile[] {
  const lines = value.split('\n').filter((line) => line.trim() !== '')
  if (lines.length > FILES_MAX) throw refuse(`it lists more than ${FILES_MAX} files`)
  const files = lines.map((line): ListedFile => {
    const [, sha256, size, name = ''] = /^\s+([0-9a-f]{64}) (\d{1,15}) (\S+)$/.exec(line) ?? []
    if (sha256 === undefined || parseSourceFileName(name) === undefined || name.endsWith('.dsc')) {
      throw refuse(`${quote(line)} in Checksums-Sha256 is not a file of a source package`)
    }
    return { name, bytes: Number(size), sha256 }
  })
  if (new Set(files.map(({ name }) => name)).size < files.length) {
    throw refuse('it lists a file twice')
  }
  return files
}
