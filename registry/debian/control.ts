/** The control file of a package: its metadata as one paragraph of fields (deb-control(5)). */

import { Failure } from '../../conf/failures.js'
import { parseArchitecture, parsePackageName, parseVersion } from './names.js'

/** Name in Debian's spelling, and value whose continuation lines begin with white space. */
export type ControlField = readonly [name: string, value: string]

export interface Control {
  readonly packageName: string
  readonly version: string
  readonly architecture: string
  /** All fields, each once, in the order in which dpkg writes them. */
  readonly fields: readonly ControlField[]
}

/**
 * Parses a control file. Throws `bad_request` unless it is one well-formed paragraph with the
 * fields that an index needs.
 */
export function parseControl(bytes: Uint8Array): Control {
  const fields = inOrder(parseParagraph(decodeText(bytes)))
  const required = (name: string) => {
    const value = fields.find((field) => field[0] === name)?.[1]
    if (value !== undefined && value !== '') return value
    throw refuse(`it has no field ${name}`)
  }
  return {
    packageName: parsePackageName(required('Package')),
    version: parseVersion(required('Version')),
    architecture: parseArchitecture(required('Architecture')),
    fields,
  }
}

function refuse(why: string, cause?: unknown): Failure {
  return new Failure('bad_request', `The control file is malformed: ${why}.`, { cause })
}

/** Characters that a reader of the index could treat as a line end, or show to users. */
const CONTROL_CHARACTER = /[^\P{Cc}\n\t]|\p{Zl}|\p{Zp}/u

/** Decodes UTF-8. Throws `bad_request` for invalid text or control characters. */
export function decodeText(bytes: Uint8Array): string {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (error) {
    throw refuse('it is not valid UTF-8', error)
  }
  if (CONTROL_CHARACTER.test(text)) throw refuse('it has control characters')
  return text
}

const FIELD = /^(?![#-])([!-9;-~]+):(.*)$/

/** Parses a single paragraph (deb822(5)). Throws `bad_request` if it is malformed. */
export function parseParagraph(text: string): ControlField[] {
  const fields: Array<[string, string]> = []
  const seen = new Set<string>()
  for (const line of linesOf(text)) {
    if (line.trim() === '') throw refuse('it has a blank line, but must be a single paragraph')
    const last = fields.at(-1)
    if (/^[ \t]/.test(line)) {
      if (last === undefined) throw refuse('it begins with a continuation line')
      last[1] += `\n${line.trimEnd()}`
      continue
    }
    const [, name, value = ''] = FIELD.exec(line) ?? []
    if (name === undefined) throw refuse(`the line ${quote(line)} is not a field`)
    const key = name.toLowerCase()
    if (seen.has(key)) throw refuse(`it has the field ${quote(name)} twice`)
    if (OF_THE_INDEX.has(key)) throw refuse(`the field ${quote(name)} is not allowed in a package`)
    seen.add(key)
    fields.push([name, value.trim()])
  }
  return fields
}

/**
 * Returns the lines without blank lines at either end, which belong to no paragraph. Throws
 * `bad_request` if the last line does not end, because dpkg cannot install such a package.
 */
function linesOf(text: string): readonly string[] {
  const last = text.slice(text.lastIndexOf('\n') + 1)
  // dpkg ignores a single blank after the last line feed.
  if (!/^[ \t]?$/.test(last))
    throw refuse(`its last line ${quote(last)} does not end with a line feed`)
  const lines = text.trimEnd().split('\n')
  const first = lines.findIndex((line) => line.trim() !== '')
  return first < 0 ? [] : lines.slice(first)
}

/** Quotes at most 40 characters of a text for a message. */
function quote(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}

/** Fields that only an index has, and fields that dpkg adds for installed packages. */
const OF_THE_INDEX: ReadonlySet<string> = new Set([
  'filename',
  'size',
  'md5sum',
  'sha1',
  'sha256',
  'sha512',
  'status',
  'config-version',
  'conffiles',
])

/** Order in which dpkg writes fields; all others follow in the order of the file. */
const ORDER: readonly string[] = [
  'Package',
  'Package-Type',
  'Source',
  'Version',
  'Kernel-Version',
  'Built-For-Profiles',
  'Auto-Built-Package',
  'Architecture',
  'Subarchitecture',
  'Installer-Menu-Item',
  'Build-Essential',
  'Essential',
  'Protected',
  'Origin',
  'Bugs',
  'Maintainer',
  'Installed-Size',
  'Pre-Depends',
  'Depends',
  'Recommends',
  'Suggests',
  'Enhances',
  'Conflicts',
  'Breaks',
  'Replaces',
  'Provides',
  'Built-Using',
  'Static-Built-Using',
  'Section',
  'Priority',
  'Multi-Arch',
  'Homepage',
  'Description',
  'Tag',
  'Task',
]

const RANK_BY_KEY: ReadonlyMap<string, number> = new Map(
  ORDER.map((name, rank) => [name.toLowerCase(), rank]),
)

function inOrder(fields: readonly ControlField[]): readonly ControlField[] {
  const rankOf = ([name]: ControlField) => RANK_BY_KEY.get(name.toLowerCase()) ?? ORDER.length
  return fields
    .map((field): ControlField => [ORDER[rankOf(field)] ?? field[0], field[1]])
    .sort((one, other) => rankOf(one) - rankOf(other))
}
