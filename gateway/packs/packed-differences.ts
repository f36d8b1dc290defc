/** Differences between a list of refs and `packed-refs`, which upkeep and deletions write anew. */

import { VISIBLE_NAME } from '../../cgi/refs/pushed-references.js'
import {
  compareNames,
  LENGTH_DIGITS,
  type Lines,
  nameAt,
  nameOf,
  PART_LINES,
} from './reference-lines.js'

const [HASH, CARET, SPACE, NEWLINE] = [0x23, 0x5e, 0x20, 0x0a]

/** First line of a sorted file, as git writes it. */
const HEADER = /^# pack-refs with:[^\n]* sorted[^\n]*\n/

/** Maximum number of differences; with more, git should list all refs. */
const DIFFERENCES_MAX = 10_000

/**
 * Returns the refs that differ, by full name, with their ids in the file; undefined for those that
 * it lacks. Yields between its parts. Returns undefined if there are too many differences, or if
 * the file is not as git writes it.
 */
export function* packedDifferences(
  lines: Lines,
  packed: Buffer,
): Generator<undefined, ReadonlyMap<string, string | undefined> | undefined> {
  const { bytes, starts, oidLength } = lines
  if (!HEADER.test(packed.toString('latin1', 0, 256))) return undefined
  const differences = new Map<string, string | undefined>()
  const note = (name: string | undefined, oid: string | undefined) => {
    if (name !== undefined && VISIBLE_NAME.test(name)) differences.set(name, oid)
  }
  const isFew = () => differences.size <= DIFFERENCES_MAX
  const end = starts.length - 1
  let line = 0
  let count = 0
  for (let at = 0; at < packed.length; count += 1) {
    if (count % PART_LINES === PART_LINES - 1) yield
    const next = packed.indexOf(NEWLINE, at) + 1
    if (next === 0 || !isFew()) return undefined
    const isRef = packed[at] !== HASH && packed[at] !== CARET
    if (isRef && isSameLine(lines, line, { packed, at, next })) line += 1
    else if (isRef) {
      const name = { start: at + oidLength + 1, end: next - 1 }
      if (packed[name.start - 1] !== SPACE) return undefined
      const order = () =>
        line < end ? compareNames([bytes, nameOf(lines, line)], [packed, name]) : 1
      for (; isFew() && order() < 0; line += 1) note(nameAt(lines, line), undefined)
      const isListed = order() === 0
      if (!isListed || !isSameOid(lines, line, { packed, at })) {
        const oid = packed.toString('latin1', at, at + oidLength)
        note(packed.toString('latin1', name.start, name.end), oid)
      }
      if (isListed) line += 1
    }
    at = next
  }
  for (; isFew() && line < end; line += 1) note(nameAt(lines, line), undefined)
  return isFew() ? differences : undefined
}

/** A line of `packed-refs`. */
interface PackedLine {
  readonly packed: Buffer
  readonly at: number
  readonly next: number
}

function isSameLine({ bytes, starts }: Lines, line: number, { packed, at, next }: PackedLine) {
  const start = (starts[line] ?? 0) + LENGTH_DIGITS
  if ((starts[line + 1] ?? 0) - start !== next - at) return false
  for (let offset = next - at - 1; offset >= 0; offset -= 1) {
    if (bytes[start + offset] !== packed[at + offset]) return false
  }
  return true
}

function isSameOid(
  { bytes, starts, oidLength }: Lines,
  line: number,
  { packed, at }: Pick<PackedLine, 'packed' | 'at'>,
): boolean {
  const start = (starts[line] ?? 0) + LENGTH_DIGITS
  return bytes.compare(packed, at, at + oidLength, start, start + oidLength) === 0
}
