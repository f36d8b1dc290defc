/** Serialization of a character matrix for R ("R Internals", Serialization Formats, version 2). */

/**
 * Returns the bytes before and after the cells in the output of
 * `saveRDS(table, version = 2, compress = FALSE)` for a character matrix. The cells are stored
 * column by column.
 */
export function serializeTable(columns: readonly string[], rows: number) {
  const dimensions = int(INTEGERS) + int(2) + int(rows) + int(columns.length)
  const names = int(LIST) + int(2) + int(NOTHING) + int(TEXTS) + texts(columns)
  const head = HEADER + int(TEXTS | HAS_ATTRIBUTES) + int(rows * columns.length)
  const tail = [
    int(ATTRIBUTE) + int(SYMBOL) + serializeText('dim') + dimensions,
    int(ATTRIBUTE) + int(SYMBOL) + serializeText('dimnames') + names,
    int(NOTHING),
  ].join('')
  return { head: Buffer.from(head, 'latin1'), tail: Buffer.from(tail, 'latin1') }
}

/** Serializes an ASCII cell; undefined is NA. Each character of the result is one byte. */
export function serializeText(value: string | undefined): string {
  if (value === undefined) return int(CHARACTERS) + int(-1)
  return int(CHARACTERS | IS_ASCII) + int(value.length) + value
}

const SYMBOL = 1
const CHARACTERS = 9
const INTEGERS = 13
const TEXTS = 16
const LIST = 19
const NOTHING = 254
const HAS_ATTRIBUTES = 0x200
/** Pair of a list with a tag. */
const ATTRIBUTE = 0x402
const IS_ASCII = 0x40000

/** Header: XDR format (big-endian), version 2, written by R 3.5.0, readable from R 2.3.0 on. */
const HEADER = `X\n${int(2)}${int(0x30500)}${int(0x20300)}`

function texts(all: readonly string[]): string {
  return int(all.length) + all.map(serializeText).join('')
}

/** Returns a 32-bit integer as four characters of one byte each. */
function int(value: number): string {
  return String.fromCharCode(
    (value >>> 24) & 255,
    (value >>> 16) & 255,
    (value >>> 8) & 255,
    value & 255,
  )
}
