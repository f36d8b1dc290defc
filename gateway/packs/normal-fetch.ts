/** Fetches in normal form: the arguments that both protocols share, and the request for git. */

import { packetLine } from './pkt-line.js'

export type ObjectFormat = 'sha1' | 'sha256'

/** A fetch: a clone or an incremental fetch, or one round of its negotiation. */
export interface FetchRequest {
  readonly command: 'fetch'
  readonly version: 0 | 2
  readonly objectFormat: ObjectFormat
  /** Wanted object ids, sorted. */
  readonly wants: readonly string[]
  readonly includesTags: boolean
  /** True if refs other than those of the wanted objects can change the answer. */
  readonly asksReferences: boolean
  /** Text that is equal for requests with the same answer; see `writeFetch`. */
  readonly text: string
}

/** Maximum number of wanted objects of a fetch that has a normal form. */
export const WANTS_MAX = 10_000
const HAVES_MAX = 50_000

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

interface FetchForm extends Pick<FetchRequest, 'version' | 'objectFormat'> {
  /** Arguments without a value that the protocol has. */
  readonly flags: ReadonlySet<string>
}

/** Returns the fetch with these arguments. Returns undefined if one is unknown or malformed. */
export function normalFetch(
  lines: readonly string[],
  { version, objectFormat, flags: knownFlags }: FetchForm,
): FetchRequest | undefined {
  const oid = objectFormat === 'sha1' ? /^[0-9a-f]{40}$/ : /^[0-9a-f]{64}$/
  const objects = { want: new Set<string>(), have: new Set<string>(), shallow: new Set<string>() }
  const flags = new Set<string>()
  const values = new Map<string, string>()
  for (const line of lines) {
    const [name = '', value, ...rest] = line.split(' ')
    if (value === undefined) {
      if (!knownFlags.has(name)) return undefined
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
  return {
    command: 'fetch',
    version,
    objectFormat,
    wants: [...want].toSorted(),
    includesTags: flags.has('include-tag'),
    asksReferences: values.has('deepen-not') || values.has('deepen-since'),
    text: [
      String(version),
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

/**
 * Returns the request that is sent to git on behalf of all clients with equal requests. It is built
 * from the normal form, so that the wording of one client's request cannot break the others.
 */
export function writeFetch({ version, text }: FetchRequest): Buffer {
  const [, format = '', ...lines] = text.split('\n')
  return Buffer.from(version === 2 ? writeV2(format, lines) : writeV0(format, lines))
}

function writeV2(format: string, lines: readonly string[]): string {
  const head = `${packetLine('command=fetch')}${packetLine(`object-format=${format}`)}`
  return `${head}0001${writeLines(lines)}0000`
}

/** Writes the wants, the first with the capabilities, and then what the client has. */
function writeV0(format: string, lines: readonly string[]): string {
  const isHave = (line: string) => line.startsWith('have ')
  const [first = '', ...wants] = lines.filter((line) => line.includes(' ') && !isHave(line))
  const flags = lines.filter((line) => !line.includes(' '))
  const capabilities = flags.filter((flag) => !V0_ENDS.has(flag))
  const start = [first, ...capabilities, `object-format=${format}`].join(' ')
  const end = flags.includes('done') ? packetLine('done\n') : flags.includes('flush') ? '0000' : ''
  return `${writeLines([start, ...wants])}0000${writeLines(lines.filter(isHave))}${end}`
}

/** Flags of a request of version 0 that are not capabilities: what follows the last `have`. */
export const V0_ENDS: ReadonlySet<string> = new Set(['done', 'flush'])

function writeLines(lines: readonly string[]): string {
  return lines.map((line) => packetLine(`${line}\n`)).join('')
}
