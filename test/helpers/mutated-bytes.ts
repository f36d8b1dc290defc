/** Inputs for fuzzing: examples with random edits. */

import { type Arbitrary, array, constantFrom, integer, nat, oneof, record } from 'fast-check'

export interface Example {
  readonly seeds: readonly Uint8Array[]
  /** Tokens of the grammar, which edits insert. */
  readonly words: readonly string[]
}

interface Edit {
  readonly kind: 'replace' | 'insert' | 'remove' | 'repeat' | 'swap' | 'cut'
  /** Position in the bytes, as a fraction of their length. */
  readonly at: number
  readonly bytes: number
  readonly times: number
  readonly word: Buffer
}

const POSITIONS = 1_000_000
const EDITS_MAX = 6

/** Maximum size of repeated parts, which is enough to detect quadratic time. */
const BYTES_MAX = 65_536

/** Limit values and special characters of formats, as text. */
const BORDERS: readonly Buffer[] = [
  '0',
  '-1',
  '00',
  '9999999999999999',
  '1e9',
  '%00',
  '../',
  '\0',
  '\r\n',
  '\u{202e}',
  '"',
  '\\',
  '{',
  '[',
  '<',
  '&',
  ';',
  ' ',
  '\t',
  ',',
  '=',
  ':',
].map((text) => Buffer.from(text))
/** Limit values of binary formats. */
const BINARY_BORDERS: readonly Buffer[] = ['ff', '00', '80', '7fffffff', 'ffffffff', '00000000']
  .concat(['ffffffffffffffff', '0000000000000080', 'fffe', '0001'])
  .map((hex) => Buffer.from(hex, 'hex'))

/** Returns mutated inputs; some are the seed itself. */
export function mutatedBytes({ seeds, words }: Example): Arbitrary<Buffer> {
  const known = words.map((word) => Buffer.from(word, 'latin1'))
  const edit = record<Edit>({
    kind: constantFrom('replace', 'insert', 'remove', 'repeat', 'swap', 'cut'),
    at: nat(POSITIONS),
    bytes: oneof(integer({ min: 1, max: 8 }), integer({ min: 1, max: 600 })),
    times: oneof(integer({ min: 1, max: 4 }), constantFrom(100, BYTES_MAX)),
    word: constantFrom(...BORDERS, ...BINARY_BORDERS, ...known),
  })
  const seed = constantFrom(...seeds.map((bytes) => Buffer.from(bytes)))
  return record({ seed, edits: array(edit, { maxLength: EDITS_MAX }) }).map(({ seed, edits }) =>
    edits.reduce(applyEdit, seed),
  )
}

function applyEdit(bytes: Buffer, { kind, at, bytes: count, times, word }: Edit): Buffer {
  const start = Math.floor((at / POSITIONS) * bytes.length)
  const [before, part] = [bytes.subarray(0, start), bytes.subarray(start, start + count)]
  const after = bytes.subarray(start + count)
  switch (kind) {
    case 'replace':
      return Buffer.concat([before, word, bytes.subarray(start + word.length)])
    case 'insert':
      return Buffer.concat([before, repeated(word, times), bytes.subarray(start)])
    case 'remove':
      return Buffer.concat([before, after])
    case 'repeat':
      return Buffer.concat([before, repeated(part, times), after])
    case 'swap':
      return Buffer.concat([before, after.subarray(0, count), part, after.subarray(count)])
    case 'cut':
      return before
  }
}

function repeated(part: Buffer, times: number): Buffer {
  const most = Math.floor(BYTES_MAX / Math.max(1, part.length))
  return Buffer.alloc(part.length * Math.min(times, most), part)
}
