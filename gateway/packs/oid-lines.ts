/** Lines of a ref list by their object ids. */

import { randomInt } from 'node:crypto'
import { OidTable } from './oid-table.js'
import { LENGTH_DIGITS, LETTER_U, type Lines, lineAt, PART_LINES } from './reference-lines.js'

/** Creates the table of a list; yields between its parts. */
export function* tableOf(lines: Lines): Generator<undefined, OidTable> {
  const count = lines.starts.length - 1
  const table = new OidTable(count)
  for (let line = 0; line < count; line += 1) {
    if (line % PART_LINES === PART_LINES - 1) yield
    addLine(table, lines, line)
  }
  return table
}

/** Adds a line, unless the table has another one with the same id. */
function addLine(table: OidTable, lines: Lines, line: number): void {
  const { bytes, starts } = lines
  const at = (starts[line] ?? 0) + LENGTH_DIGITS
  if (bytes[at] === LETTER_U) return
  if (findLine(table, lines, { bytes, at }) === undefined) table.add(hashAt(bytes, at), line)
}

/** Returns the line of the table that has this id. */
export function findLine(
  table: OidTable,
  { bytes, starts, oidLength }: Lines,
  wanted: OidAt,
): number | undefined {
  const isWanted = (line: number) => {
    const at = (starts[line] ?? 0) + LENGTH_DIGITS
    for (let digit = 0; digit < oidLength; digit += 1) {
      if (bytes[at + digit] !== wanted.bytes[wanted.at + digit]) return false
    }
    return true
  }
  return table.find(hashAt(wanted.bytes, wanted.at), isWanted)
}

/** An object id in hexadecimal digits, at a position. */
interface OidAt {
  readonly bytes: Uint8Array
  readonly at: number
}

/** Random numbers, so that a client cannot push objects whose ids have equal hashes. */
const [SEED, OTHER_SEED] = [randomInt(2 ** 32), randomInt(2 ** 32)]

/** Returns a hash of the first 16 digits of an id. */
function hashAt(bytes: Uint8Array, at: number): number {
  const [first, second] = [wordAt(bytes, at), wordAt(bytes, at + 8)]
  return Math.imul(first ^ SEED, 0x9e3779b1) ^ Math.imul(second ^ OTHER_SEED, 0x85ebca6b)
}

/** Returns the number that eight digits form. */
function wordAt(bytes: Uint8Array, at: number): number {
  let word = 0
  for (let digit = 0; digit < 8; digit += 1) {
    const character = bytes[at + digit] ?? 0
    // Letters have bit 6, and the low bits of `a` are those of 1.
    word = (word << 4) | ((character & 15) + (character >> 6) * 9)
  }
  return word
}

/** Returns the first other line with this id, if there is one, by a search through all bytes. */
export function lineWith(
  { bytes, starts }: Lines,
  oid: string,
  except: ReadonlySet<number>,
): number | undefined {
  for (
    let at = bytes.indexOf(oid, 0, 'latin1');
    at >= 0;
    at = bytes.indexOf(oid, at + 1, 'latin1')
  ) {
    const line = lineAt(starts, at - LENGTH_DIGITS)
    if (line !== undefined && !except.has(line)) return line
  }
  return undefined
}
