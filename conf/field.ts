/** A setting and its parser, which accepts a TOML value or the text of an environment variable. */

export interface Field<T> {
  /** Documentation for administrators, one sentence. */
  readonly about: string
  /** The default as written in TOML. Absent if there is none or it depends on other settings. */
  readonly byDefault?: string | number | boolean | readonly string[]
  /**
   * Parses the value. Throws an Error whose message follows the setting's name ("must be …") and
   * never contains the value, because that may be a secret.
   */
  readonly parse: (value: unknown) => T
}

/** Parses a text, which must not be empty. */
export function asText(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw new Error('must be a text')
  return value
}

/** Parses `true` or `false`. */
export function asBoolean(value: unknown): boolean {
  if (value === true || value === 'true') return true
  if (value === false || value === 'false') return false
  throw new Error('must be true or false')
}

/** Returns a parser for a whole number of at least `min`. */
export function asCount(min: number): (value: unknown) => number {
  return (value) => {
    const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= min) return count
    throw new Error(`must be a whole number of at least ${min}`)
  }
}

const PORT_MAX = 65_535

/** Parses a port number from 1 to 65535. */
export function asPort(value: unknown): number {
  const port = asCount(1)(value)
  if (port > PORT_MAX) throw new Error(`must be a port of at most ${PORT_MAX}`)
  return port
}

const MILLISECONDS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** The longest delay of a Node.js timer (2³¹ − 1 ms); a longer one would fire immediately. */
const TIMER_MS_MAX = 2_147_483_647

/** Converts a duration such as `500ms`, `30s`, `5m` or `2h` to milliseconds. */
export function asDurationMs(value: unknown): number {
  const match = typeof value === 'string' ? /^(\d{1,9})(ms|s|m|h)$/.exec(value) : null
  const duration = Number(match?.[1]) * (MILLISECONDS[match?.[2] ?? ''] ?? Number.NaN)
  if (Number.isNaN(duration)) throw new Error("must be a duration such as '30s', '5m' or '2h'")
  if (duration > TIMER_MS_MAX) throw new Error("must be a duration of at most '596h'")
  return duration
}

/** Parses a time of day such as `03:00` to milliseconds after midnight. */
export function asTimeOfDayMs(value: unknown): number {
  const match = typeof value === 'string' ? /^([01]\d|2[0-3]):([0-5]\d)$/.exec(value) : null
  if (match === null) throw new Error("must be a time of day such as '03:00'")
  return (Number(match[1]) * 60 + Number(match[2])) * 60_000
}

const BYTES: Readonly<Record<string, number>> = {
  '': 1,
  KiB: 1_024,
  MiB: 1_048_576,
  GiB: 1_073_741_824,
}

/** Converts a number of bytes, or a size such as `64KiB`, `10MiB` or `2GiB`, to bytes. */
export function asBytes(value: unknown): number {
  const text = typeof value === 'number' ? String(value) : value
  const match = typeof text === 'string' ? /^(\d{1,12})(KiB|MiB|GiB|)$/.exec(text) : null
  const bytes = Number(match?.[1]) * (BYTES[match?.[2] ?? '?'] ?? Number.NaN)
  if (Number.isSafeInteger(bytes)) return bytes
  throw new Error("must be a size such as '64KiB', '10MiB' or '2GiB'")
}

/** Returns a parser that accepts exactly the given words. */
export function asOneOf<const T extends string>(words: readonly T[]): (value: unknown) => T {
  return (value) => {
    const word = words.find((candidate) => candidate === value)
    if (word === undefined) throw new Error(`must be one of ${words.join(', ')}`)
    return word
  }
}

/** Returns a parser for an array in TOML, or for a comma-separated list in the environment. */
export function asList<T>(parse: (value: unknown) => T): (value: unknown) => readonly T[] {
  return (value) => {
    const entries =
      typeof value === 'string' ? value.split(',').filter((part) => part !== '') : value
    if (!Array.isArray(entries)) throw new Error('must be a list')
    return entries.map((entry: unknown) => parse(typeof entry === 'string' ? entry.trim() : entry))
  }
}

export interface HostPort {
  readonly host: string
  readonly port: number
}

/** Parses `host:port`; an IPv6 address is in brackets. */
export function asHostPort(value: unknown): HostPort {
  const text = typeof value === 'string' ? value : ''
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(text)
  const host = match?.[1] ?? match?.[2]
  const port = Number(match?.[3])
  if (host === undefined || port > PORT_MAX) {
    throw new Error("must be an address such as '127.0.0.1:3000'")
  }
  return { host, port }
}

/** Returns the address as in a URL, an IPv6 address in brackets. */
export function addressOf({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Returns a parser for a URL of one of the schemes (such as `https:`), without query and hash. */
export function asUrl(...schemes: readonly string[]): (value: unknown) => URL {
  return (value) => {
    const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
    if (url === undefined || !schemes.includes(url.protocol) || url.search || url.hash) {
      throw new Error(`must be a URL that starts with ${schemes.join(' or ')}`)
    }
    return url
  }
}
