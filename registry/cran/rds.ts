/** A table as R keeps one in a file ("R Internals", Serialization Formats), in version 2. */

export interface Table {
  readonly columns: readonly string[]
  /** In ASCII, as many in each as there are columns; undefined is what R calls NA. */
  readonly rows: ReadonlyArray<ReadonlyArray<string | undefined>>
}

/** What `saveRDS(table, version = 2, compress = FALSE)` writes of a matrix of texts. */
export function serializeTable({ columns, rows }: Table): Buffer {
  const cells = columns.flatMap((_, column) => rows.map((row) => row[column]))
  const dimensions = int(INTEGERS) + int(2) + int(rows.length) + int(columns.length)
  const names = int(LIST) + int(2) + int(NOTHING) + int(TEXTS) + texts(columns)
  return Buffer.from(
    [
      HEADER,
      int(TEXTS | HAS_ATTRIBUTES) + texts(cells),
      int(ATTRIBUTE) + int(SYMBOL) + text('dim') + dimensions,
      int(ATTRIBUTE) + int(SYMBOL) + text('dimnames') + names,
      int(NOTHING),
    ].join(''),
    'latin1',
  )
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

function texts(all: ReadonlyArray<string | undefined>): string {
  return int(all.length) + all.map(text).join('')
}

function text(value: string | undefined): string {
  if (value === undefined) return int(CHARACTERS) + int(-1)
  return int(CHARACTERS | IS_ASCII) + int(value.length) + value
}

/** Four characters of a byte each. */
function int(value: number): string {
  return String.fromCharCode(
    ...[(value >>> 24) & 255, (value >>> 16) & 255, (value >>> 8) & 255, value & 255],
  )
}
