/** Serialization of values for R ("R Internals", Serialization Formats, version 2). */

/**
 * Returns the bytes before and after the cells in the output of
 * `saveRDS(table, version = 2, compress = FALSE)` for a character matrix. The cells are stored
 * column by column.
 */
export function serializeTable(columns: readonly string[], rows: number) {
  const dimensions = int(INTEGERS) + int(2) + int(rows) + int(columns.length)
  const names = int(LIST) + int(2) + int(NOTHING) + serializeTexts(columns)
  const head = HEADER + int(TEXTS | HAS_ATTRIBUTES) + int(rows * columns.length)
  const tail = attributesOf({ dim: dimensions, dimnames: names })
  return { head: Buffer.from(head, 'latin1'), tail: Buffer.from(tail, 'latin1') }
}

/** Serializes an ASCII cell; undefined is NA. Each character of the result is one byte. */
export function serializeText(value: string | undefined): string {
  if (value === undefined) return int(CHARACTERS) + int(-1)
  return int(CHARACTERS | IS_ASCII) + int(value.length) + value
}

/**
 * Returns the bytes around the elements and around the names in the serialization of a named list:
 * `head`, elements, `between`, names, `tail`.
 */
export function serializeNamedList(count: number) {
  const head = HEADER + int(LIST | HAS_ATTRIBUTES) + int(count)
  const between = attributeHead('names') + int(TEXTS) + int(count)
  return {
    head: Buffer.from(head, 'latin1'),
    between: Buffer.from(between, 'latin1'),
    tail: Buffer.from(int(NOTHING), 'latin1'),
  }
}

/** Serializes a data frame. Columns are serialized vectors with as many elements as rows. */
export function serializeFrame(
  columns: Readonly<Record<string, string>>,
  rowNames: readonly string[],
): string {
  const all = Object.entries(columns)
  const attributes = {
    names: serializeTexts(all.map(([name]) => name)),
    'row.names': serializeTexts(rowNames),
    class: serializeTexts(['data.frame']),
  }
  return (
    int(LIST | HAS_ATTRIBUTES | IS_OBJECT) +
    int(all.length) +
    all.map(([, column]) => column).join('') +
    attributesOf(attributes)
  )
}

/** Serializes a vector of numbers, with the classes of its object, if it is one. */
export function serializeNumbers(
  values: readonly number[],
  classes: readonly string[] = [],
): string {
  const bytes = Buffer.alloc(values.length * DOUBLE_BYTES)
  for (const [at, value] of values.entries()) bytes.writeDoubleBE(value, at * DOUBLE_BYTES)
  return vector(NUMBERS, { length: values.length, content: bytes.toString('latin1'), classes })
}

/** Serializes a vector of integers; undefined is NA. */
export function serializeIntegers(
  values: readonly (number | undefined)[],
  classes: readonly string[] = [],
): string {
  const content = values.map((value) => int(value ?? NA_INTEGER)).join('')
  return vector(INTEGERS, { length: values.length, content, classes })
}

/** Serializes a vector of truth values. */
export function serializeFlags(values: readonly boolean[]): string {
  const content = values.map((value) => int(Number(value))).join('')
  return vector(FLAGS, { length: values.length, content, classes: [] })
}

/** Serializes a vector of ASCII texts; undefined is NA. */
export function serializeTexts(values: readonly (string | undefined)[]): string {
  const content = values.map(serializeText).join('')
  return vector(TEXTS, { length: values.length, content, classes: [] })
}

interface Vector {
  readonly length: number
  readonly content: string
  readonly classes: readonly string[]
}

function vector(type: number, { length, content, classes }: Vector): string {
  if (classes.length === 0) return int(type) + int(length) + content
  const attributes = attributesOf({ class: serializeTexts(classes) })
  return int(type | HAS_ATTRIBUTES | IS_OBJECT) + int(length) + content + attributes
}

/** Serializes attributes. R itself writes the name of a repeated attribute once. */
function attributesOf(all: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(all).map(([name, value]) => attributeHead(name) + value)
  return pairs.join('') + int(NOTHING)
}

function attributeHead(name: string): string {
  return int(ATTRIBUTE) + int(SYMBOL) + serializeText(name)
}

const SYMBOL = 1
const CHARACTERS = 9
const FLAGS = 10
const INTEGERS = 13
const NUMBERS = 14
const TEXTS = 16
const LIST = 19
const NOTHING = 254
const IS_OBJECT = 0x100
const HAS_ATTRIBUTES = 0x200
/** Pair of a list with a tag. */
const ATTRIBUTE = 0x402
const IS_ASCII = 0x40000
const NA_INTEGER = -2_147_483_648
const DOUBLE_BYTES = 8

/** Header: XDR format (big-endian), version 2, written by R 3.5.0, readable from R 2.3.0 on. */
const HEADER = `X\n${int(2)}${int(0x30500)}${int(0x20300)}`

/** Returns a 32-bit integer as four characters of one byte each. */
function int(value: number): string {
  return String.fromCharCode(
    (value >>> 24) & 255,
    (value >>> 16) & 255,
    (value >>> 8) & 255,
    value & 255,
  )
}
