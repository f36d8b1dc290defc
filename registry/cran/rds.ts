/** A table as R keeps one in a file ("R Internals", Serialization Formats), in version 2. */

/**
 * What `saveRDS(table, version = 2, compress = FALSE)` writes of a matrix of texts with so many
 * rows, before and after its cells. These stand there column by column.
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

/** A cell, in ASCII; undefined is what R calls NA. A character of the result is a byte. */
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
/** A pair with a name. */
const ATTRIBUTE = 0x402
const IS_ASCII = 0x40000

/** The format, by which R, and which R can read it: numbers most significant byte first. */
const HEADER = `X\n${int(2)}${int(0x30500)}${int(0x20300)}`

function texts(all: readonly string[]): string {
  return int(all.length) + all.map(serializeText).join('')
}

/** Four characters of a byte each. */
function int(value: number): string {
  return String.fromCharCode(
    (value >>> 24) & 255,
    (value >>> 16) & 255,
    (value >>> 8) & 255,
    value & 255,
  )
}
