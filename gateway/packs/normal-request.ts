/** Requests of protocol v2 in one form, so that equal ones are told (gitprotocol-v2(5)). */

import { packetLine, readSections } from './pkt-line.js'

export type ObjectFormat = 'sha1' | 'sha256'

/** `ls-refs`: which references there are. */
export interface LsRefsRequest {
  readonly command: 'ls-refs'
  readonly objectFormat: ObjectFormat
  readonly peel: boolean
  readonly symrefs: boolean
  readonly unborn: boolean
  /** None: all references. */
  readonly prefixes: readonly string[]
}

/** `fetch` of a client that has nothing yet: a clone, whole, shallow or partial. */
export interface FetchRequest {
  readonly command: 'fetch'
  readonly objectFormat: ObjectFormat
  /** Object names, sorted. */
  readonly wants: readonly string[]
  readonly includesTags: boolean
  /** Whether references besides those that are wanted have a say in the answer. */
  readonly asksReferences: boolean
  /** Equal for requests that git answers alike. */
  readonly text: string
}

export type NormalRequest = LsRefsRequest | FetchRequest

const PREFIXES_MAX = 1_000
const WANTS_MAX = 10_000

/**
 * A request in its normal form. Undefined for one that is malformed, or that says anything which is
 * not known here to be a function of the references and objects alone: git itself answers those.
 */
export function normalize(body: Buffer): NormalRequest | undefined {
  const sections = readSections(body)
  const [first, ...capabilities] = sections?.head ?? []
  const objectFormat = readCapabilities(capabilities)
  if (sections === undefined || objectFormat === undefined) return undefined
  if (first === 'command=ls-refs') return readLsRefs(sections.tail, objectFormat)
  if (first === 'command=fetch') return readFetch(sections.tail, objectFormat)
  return undefined
}

/**
 * What the lines behind a command say of the objects; undefined for a capability not known here.
 * The client's name and session say nothing that git answers to.
 */
export function readCapabilities(lines: readonly string[]): ObjectFormat | undefined {
  let format: ObjectFormat | undefined
  for (const line of lines) {
    if (line === 'object-format=sha1' || line === 'object-format=sha256') {
      if (format !== undefined) return undefined
      format = line.slice('object-format='.length) as ObjectFormat
    } else if (!/^(?:agent|session-id)=[\u0021-\u007e]*$/.test(line)) {
      return undefined
    }
  }
  return format ?? 'sha1'
}

/** Git ends a prefix at a zero byte, and no name of a reference holds any of these. */
const PREFIX = /^ref-prefix ([^\u0000-\u001f\u007f]*)$/

function readLsRefs(
  lines: readonly string[],
  objectFormat: ObjectFormat,
): LsRefsRequest | undefined {
  const flags = new Set<string>()
  const prefixes = new Set<string>()
  for (const line of lines) {
    const [, prefix] = PREFIX.exec(line) ?? []
    if (prefix !== undefined) prefixes.add(prefix)
    else if (line === 'peel' || line === 'symrefs' || line === 'unborn') flags.add(line)
    else return undefined
  }
  if (prefixes.size > PREFIXES_MAX) return undefined
  return {
    command: 'ls-refs',
    objectFormat,
    peel: flags.has('peel'),
    symrefs: flags.has('symrefs'),
    unborn: flags.has('unborn'),
    prefixes: [...prefixes].toSorted(),
  }
}

const FETCH_FLAGS: ReadonlySet<string> = new Set([
  'thin-pack',
  'no-progress',
  'include-tag',
  'ofs-delta',
  'done',
])

/** Filters that the objects alone decide; `sparse:oid` takes the name of a reference too. */
const FILTER = '(?:blob:none|blob:limit=\\d{1,15}[kmg]?|tree:\\d{1,9}|object:type=[a-z]{1,9})'

/** What may stand once in a fetch, and what its value looks like. */
const FETCH_VALUES: ReadonlyMap<string, RegExp> = new Map([
  ['deepen', /^[1-9]\d{0,9}$/],
  ['deepen-since', /^[1-9]\d{0,14}$/],
  ['deepen-not', /^[\u0021-\u007e]{1,255}$/],
  ['filter', new RegExp(`^(?:${FILTER}|combine:${FILTER}(?:\\+${FILTER}){0,9})$`)],
])

/** The request that git is sent for all who ask the same: nobody's odd wording fails the others. */
export function writeFetch({ text }: FetchRequest): Buffer {
  const [format = '', ...lines] = text.split('\n')
  const head = `${packetLine('command=fetch')}${packetLine(`object-format=${format}`)}`
  return Buffer.from(`${head}0001${lines.map((line) => packetLine(`${line}\n`)).join('')}0000`)
}

function readFetch(lines: readonly string[], objectFormat: ObjectFormat): FetchRequest | undefined {
  const oid = objectFormat === 'sha1' ? /^[0-9a-f]{40}$/ : /^[0-9a-f]{64}$/
  const wants = new Set<string>()
  const flags = new Set<string>()
  const values = new Map<string, string>()
  for (const line of lines) {
    const [name = '', value, ...rest] = line.split(' ')
    if (value === undefined) {
      if (!FETCH_FLAGS.has(name)) return undefined
      flags.add(name)
    } else if (name === 'want' && rest.length === 0 && oid.test(value)) {
      wants.add(value)
    } else {
      const isKnown = rest.length === 0 && FETCH_VALUES.get(name)?.test(value) === true
      if (!isKnown || values.has(name)) return undefined
      values.set(name, value)
    }
  }
  // Without it git tells what is common and waits for more, which depends on the objects it has.
  if (!flags.has('done') || wants.size === 0 || wants.size > WANTS_MAX) return undefined
  const sorted = [...wants].toSorted()
  return {
    command: 'fetch',
    objectFormat,
    wants: sorted,
    includesTags: flags.has('include-tag'),
    asksReferences: values.has('deepen-not') || values.has('deepen-since'),
    text: [
      objectFormat,
      ...sorted.map((name) => `want ${name}`),
      ...[...flags].toSorted(),
      ...[...values].map(([name, value]) => `${name} ${value}`).toSorted(),
    ].join('\n'),
  }
}
