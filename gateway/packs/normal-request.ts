/** Protocol v2 requests in a form in which equivalent ones are equal (gitprotocol-v2(5)). */

import { packetLine, readSections } from './pkt-line.js'

export type ObjectFormat = 'sha1' | 'sha256'

/** An `ls-refs` request, which lists refs. */
export interface LsRefsRequest {
  readonly command: 'ls-refs'
  readonly objectFormat: ObjectFormat
  readonly peel: boolean
  readonly symrefs: boolean
  readonly unborn: boolean
  /** Ref name prefixes, sorted; if there are none, all refs are listed. */
  readonly prefixes: readonly string[]
}

/** A `fetch`: a clone or an incremental fetch, or one round of its negotiation. */
export interface FetchRequest {
  readonly command: 'fetch'
  readonly objectFormat: ObjectFormat
  /** Wanted object ids, sorted. */
  readonly wants: readonly string[]
  readonly includesTags: boolean
  /** True if refs other than those of the wanted objects can change the answer. */
  readonly asksReferences: boolean
  /** Text that is equal for requests with the same answer; see `writeFetch`. */
  readonly text: string
}

export type NormalRequest = LsRefsRequest | FetchRequest

const PREFIXES_MAX = 1_000
const WANTS_MAX = 10_000
const HAVES_MAX = 50_000

/**
 * Parses a request into its normal form. Returns undefined if the request is malformed, or contains
 * a line that is not known to have an answer computable from refs and objects alone. Git itself
 * must answer such a request.
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
 * Returns the object format from the capability lines after a command, `sha1` by default. Ignores
 * `agent` and `session-id`, which do not change the answer. Returns undefined for any other line.
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

/** A prefix without control characters: git stops at a zero byte, and ref names contain none. */
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
  'deepen-relative',
  'wait-for-done',
  'done',
])

/** Filters that depend on objects alone. `sparse:oid` is missing because it can name a ref. */
const FILTER = '(?:blob:none|blob:limit=\\d{1,15}[kmg]?|tree:\\d{1,9}|object:type=[a-z]{1,9})'

/** Arguments with an object id that a fetch may repeat; their order has no effect. */
const FETCH_OBJECTS = ['want', 'have', 'shallow'] as const

/** Arguments with a value that a fetch may contain once, and the form of their values. */
const FETCH_VALUES: ReadonlyMap<string, RegExp> = new Map([
  ['deepen', /^[1-9]\d{0,9}$/],
  ['deepen-since', /^[1-9]\d{0,14}$/],
  ['deepen-not', /^[\u0021-\u007e]{1,255}$/],
  ['filter', new RegExp(`^(?:${FILTER}|combine:${FILTER}(?:\\+${FILTER}){0,9})$`)],
])

/**
 * Returns the request that is sent to git on behalf of all clients with equal requests. It is built
 * from the normal form, so that the wording of one client's request cannot break the others.
 */
export function writeFetch({ text }: FetchRequest): Buffer {
  const [format = '', ...lines] = text.split('\n')
  const head = `${packetLine('command=fetch')}${packetLine(`object-format=${format}`)}`
  return Buffer.from(`${head}0001${lines.map((line) => packetLine(`${line}\n`)).join('')}0000`)
}

function readFetch(lines: readonly string[], objectFormat: ObjectFormat): FetchRequest | undefined {
  const oid = objectFormat === 'sha1' ? /^[0-9a-f]{40}$/ : /^[0-9a-f]{64}$/
  const objects = { want: new Set<string>(), have: new Set<string>(), shallow: new Set<string>() }
  const flags = new Set<string>()
  const values = new Map<string, string>()
  for (const line of lines) {
    const [name = '', value, ...rest] = line.split(' ')
    if (value === undefined) {
      if (!FETCH_FLAGS.has(name)) return undefined
      flags.add(name)
    } else if (isObjectArgument(name) && rest.length === 0 && oid.test(value)) {
      objects[name].add(value)
    } else {
      const isKnown = rest.length === 0 && FETCH_VALUES.get(name)?.test(value) === true
      if (!isKnown || values.has(name)) return undefined
      values.set(name, value)
    }
  }
  const { want, have, shallow } = objects
  if (want.size === 0 || want.size > WANTS_MAX) return undefined
  if (have.size + shallow.size > HAVES_MAX) return undefined
  const wants = [...want].toSorted()
  return {
    command: 'fetch',
    objectFormat,
    wants,
    includesTags: flags.has('include-tag'),
    asksReferences: values.has('deepen-not') || values.has('deepen-since'),
    text: [
      objectFormat,
      ...FETCH_OBJECTS.flatMap((name) =>
        [...objects[name]].toSorted().map((id) => `${name} ${id}`),
      ),
      ...[...flags].toSorted(),
      ...[...values].map(([name, value]) => `${name} ${value}`).toSorted(),
    ].join('\n'),
  }
}

function isObjectArgument(name: string): name is (typeof FETCH_OBJECTS)[number] {
  return FETCH_OBJECTS.some((known) => known === name)
}
