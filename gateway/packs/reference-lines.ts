/** Lines of a ref list as git sends it: parsed once, and kept as packets in one buffer. */

import { setImmediate } from 'node:timers/promises'

/** Line with an object id or `unborn`, a ref name and attributes (gitprotocol-v2(5) "ls-refs"). */
const LINE =
  /^([0-9a-f]{40}|[0-9a-f]{64}|unborn) ([^ ]+)( symref-target:[^ ]+)?( peeled:[0-9a-f]+)?\n$/

const [SPACE, NEWLINE] = [0x20, 0x0a]

/** The letter u, with which `unborn` begins; object ids have digits and the letters a to f. */
export const LETTER_U = 0x75

/** Length of the length of a packet. */
export const LENGTH_DIGITS = 4

/** Word in place of the object id of a `HEAD` whose branch does not exist. */
export const UNBORN = 'unborn'

/** Packet that ends a list. */
export const FLUSH = Buffer.from('0000')

/** A line with attributes, parsed. */
export interface SpecialLine {
  readonly line: number
  /** Object id, or `unborn`. */
  readonly oid: string
  readonly name: string
  /** Ref name, or undefined. */
  readonly target: string | undefined
  /** Object id, or undefined. */
  readonly peeled: string | undefined
}

/** The lines of a list: packets in one buffer, sorted by ref name, `HEAD` first. */
export interface Lines {
  /** Packets of all lines, without the flush-pkt at the end. */
  readonly bytes: Buffer
  /** Starts of the packets, and the end of the last one. */
  readonly starts: Uint32Array
  /** Length of an object id in hexadecimal digits. */
  readonly oidLength: number
  /** Lines with attributes, in their order. */
  readonly special: readonly SpecialLine[]
  /** Lines of symbolic refs, in their order. */
  readonly symbolic: readonly SpecialLine[]
}

/** Number of lines that are parsed in a few milliseconds. */
export const PART_LINES = 10_000

/** Runs a generator to its end, with other work of the event loop between its parts. */
export async function runInParts<T>(parts: Generator<undefined, T>): Promise<T> {
  for (;;) {
    const { done, value } = parts.next()
    if (done) return value
    await setImmediate()
  }
}

/** Runs a generator to its end, without other work of the event loop. */
export function runWhole<T>(parts: Generator<undefined, T>): T {
  for (;;) {
    const { done, value } = parts.next()
    if (done) return value
  }
}

/**
 * Reads the packets of a list; yields between its parts. Returns undefined if they are not
 * complete, sorted lines.
 */
export function* readLines(answer: Buffer): Generator<undefined, Lines | undefined> {
  const end = answer.byteLength - FLUSH.byteLength
  if (end < 0 || !answer.subarray(end).equals(FLUSH)) return undefined
  const bytes = answer.subarray(0, end)
  const starts: number[] = []
  const special: SpecialLine[] = []
  let oidLength = 0
  let previous = { start: 0, end: 0 }
  for (let start = 0; start < end; ) {
    const next = start + lengthAt(bytes, start)
    const isWhole = next > start + LENGTH_DIGITS && next <= end && bytes[next - 1] === NEWLINE
    if (!isWhole) return undefined
    const isUnborn = bytes[start + LENGTH_DIGITS] === LETTER_U
    if (!isUnborn && oidLength === 0)
      oidLength = bytes.indexOf(SPACE, start) - start - LENGTH_DIGITS
    const oidEnd = start + LENGTH_DIGITS + (isUnborn ? UNBORN.length : oidLength)
    if (oidEnd >= next || bytes[oidEnd] !== SPACE) return undefined
    const name = { start: oidEnd + 1, end: nameEnd(bytes, oidEnd + 1) }
    if (name.start === name.end || compareNames([bytes, previous], [bytes, name]) >= 0)
      return undefined
    if (isUnborn || bytes[name.end] === SPACE) {
      const parsed = parseLine(bytes.toString('latin1', start + LENGTH_DIGITS, next))
      if (parsed === undefined) return undefined
      special.push({ ...parsed, line: starts.length })
    }
    if (starts.length % PART_LINES === PART_LINES - 1) yield
    starts.push(start)
    previous = name
    start = next
  }
  if (oidLength !== 0 && oidLength !== 40 && oidLength !== 64) return undefined
  starts.push(end)
  const symbolic = special.filter(({ target }) => target !== undefined)
  return { bytes, starts: Uint32Array.from(starts), oidLength, special, symbolic }
}

function parseLine(text: string): Omit<SpecialLine, 'line'> | undefined {
  const [, oid, name, target, peeled] = LINE.exec(text) ?? []
  if (oid === undefined || name === undefined) return undefined
  return {
    oid,
    name,
    target: target?.slice(' symref-target:'.length),
    peeled: peeled?.slice(' peeled:'.length),
  }
}

/** Returns the length of the packet at a position; NaN if its digits are invalid. */
function lengthAt(bytes: Buffer, at: number): number {
  let length = 0
  for (let digit = 0; digit < LENGTH_DIGITS; digit += 1) {
    length = length * 16 + digitOf(bytes[at + digit] ?? 0)
  }
  return length
}

/** Returns the value of a hexadecimal digit in small letters; NaN for another character. */
function digitOf(character: number): number {
  if (character >= 0x30 && character <= 0x39) return character - 0x30
  return character >= 0x61 && character <= 0x66 ? character - 0x57 : Number.NaN
}

/** Returns the end of the ref name at a position: it contains neither space nor newline. */
function nameEnd(bytes: Buffer, start: number): number {
  let end = start
  while (bytes[end] !== SPACE && bytes[end] !== NEWLINE) end += 1
  return end
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Compares two names by their bytes, as git sorts them; faster than Buffer.compare. */
export function compareNames(
  [bytes, one]: readonly [Buffer, Span],
  [otherBytes, other]: readonly [Buffer, Span],
): number {
  const length = Math.min(one.end - one.start, other.end - other.start)
  for (let at = 0; at < length; at += 1) {
    const difference = (bytes[one.start + at] ?? 0) - (otherBytes[other.start + at] ?? 0)
    if (difference !== 0) return difference
  }
  return one.end - one.start - (other.end - other.start)
}

export function nameOf({ bytes, starts, oidLength }: Lines, line: number): Span {
  const at = (starts[line] ?? 0) + LENGTH_DIGITS
  const start = at + (bytes[at] === LETTER_U ? UNBORN.length : oidLength) + 1
  return { start, end: nameEnd(bytes, start) }
}

export function nameAt(lines: Lines, line: number): string | undefined {
  if (line >= lines.starts.length - 1) return undefined
  const { start, end } = nameOf(lines, line)
  return lines.bytes.toString('latin1', start, end)
}

/** Returns the id of the object that a line shows. */
export function oidAt({ bytes, starts, oidLength }: Lines, line: number): string {
  const at = (starts[line] ?? 0) + LENGTH_DIGITS
  return bytes.toString('latin1', at, at + oidLength)
}

/** Returns the first line whose name is not smaller than this text; the end if there is none. */
export function lineAfter(lines: Lines, text: string): number {
  const wanted = Buffer.from(text, 'latin1')
  let [low, high] = [0, lines.starts.length - 1]
  while (low < high) {
    const middle = (low + high) >>> 1
    const { start, end } = nameOf(lines, middle)
    if (lines.bytes.compare(wanted, 0, wanted.length, start, end) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns the line that starts at a position, if one does. */
export function lineAt(starts: Uint32Array, position: number): number | undefined {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((starts[middle] ?? 0) < position) low = middle + 1
    else high = middle
  }
  return low < starts.length - 1 && starts[low] === position ? low : undefined
}
