/** Replaces secrets by `***` in the rows of a log, in time linear in their length. */

/** Minimum length of a masked text: shorter ones are not secret. */
const LENGTH_MIN = 3

/** Minimum length of a masked part of a base64 text. */
const BASE64_LENGTH_MIN = 8

/**
 * Maximum number of masked texts; a step can add some with `::add-mask::`. If there are more, rows
 * are hidden completely.
 */
const MASKS_MAX = 20_000

/**
 * Maximum number of comparisons in a row. Texts and rows can be chosen so that many of them begin
 * alike; such a row is hidden completely.
 */
const comparisonsMax = (characters: number) => 1_024 + 4 * characters

/** Number of characters that a comparison reads; a longer one counts as several. */
const COMPARED_CHARACTERS = 64

/** Low bits of heads. */
const HEAD_BITS = 0xffff

const MASK = '***'

/** The texts that the log of a task must not have. */
export class Masker {
  readonly #texts = new Set<string>()
  /** The texts by their first characters, the longest first, because one may contain another. */
  readonly #byHead = new Map<number, string[]>()
  readonly #unordered = new Set<string[]>()
  /** Marks the low bits of the heads that exist: most positions of a row need no look-up. */
  readonly #heads = new Uint8Array(HEAD_BITS + 1)
  #characters = 0
  #hasTooMany = false

  constructor(secrets: Iterable<string>) {
    for (const secret of secrets) this.add(secret)
  }

  /** Sum of the lengths of the masked texts. */
  get characters(): number {
    return this.#characters
  }

  /** Adds each line of a text, and the forms of the text in base64. */
  add(secret: string): void {
    for (const line of secret.split(/\r?\n/)) this.#addText(line.trim(), LENGTH_MIN)
    for (const text of base64Forms(secret)) this.#addText(text, BASE64_LENGTH_MIN)
  }

  #addText(text: string, lengthMin: number): void {
    if (text.length < lengthMin || this.#texts.has(text)) return
    if (this.#texts.size === MASKS_MAX) {
      this.#hasTooMany = true
      return
    }
    this.#texts.add(text)
    this.#characters += text.length
    const head = headAt(text, 0)
    const alike = this.#byHead.get(head) ?? []
    alike.push(text)
    this.#byHead.set(head, alike)
    this.#heads[head & HEAD_BITS] = 1
    this.#unordered.add(alike)
  }

  /**
   * Returns the first `charactersMax` characters of a row without secrets. A secret that goes on
   * behind them is masked too.
   */
  mask(row: string, charactersMax: number = row.length): string {
    const end = Math.min(row.length, charactersMax)
    if (this.#hasTooMany) return MASK
    for (const alike of this.#unordered) alike.sort((a, b) => b.length - a.length)
    this.#unordered.clear()
    const count = { left: comparisonsMax(row.length) }
    const heads = this.#heads
    let masked = ''
    let copied = 0
    for (let at = 0; at < end; at += 1) {
      const head = headAt(row, at)
      if (heads[head & HEAD_BITS] !== 1) continue
      const length = this.#matchAt(row, { at, head, count })
      if (count.left < 0) return MASK
      if (length === 0) continue
      masked += row.slice(copied, at) + MASK
      copied = at + length
      at = copied - 1
    }
    return masked + row.slice(copied, end)
  }

  /** Returns the length of the longest masked text at a position; 0 if there is none. */
  #matchAt(row: string, { at, head, count }: Position): number {
    for (const text of this.#byHead.get(head) ?? []) {
      const fits = text.length <= row.length - at
      count.left -= fits ? Math.ceil(text.length / COMPARED_CHARACTERS) : 1
      if (count.left < 0) return 0
      if (fits && row.slice(at, at + text.length) === text) return text.length
    }
    return 0
  }
}

interface Position {
  readonly at: number
  readonly head: number
  /** Number of comparisons that the row has left. */
  readonly count: { left: number }
}

/** Returns a number that is equal for equal first three characters. */
function headAt(text: string, at: number): number {
  return (text.charCodeAt(at) << 16) ^ (text.charCodeAt(at + 1) << 8) ^ text.charCodeAt(at + 2)
}

/**
 * Returns the parts of base64 texts that contain the secret, whatever precedes and follows it: the
 * bytes before it shift it by 0, 1 or 2. A header of Basic authentication is such a text.
 */
function base64Forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  return [0, 1, 2].map((shift) => {
    const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
    // Characters that also depend on the neighbours are left out.
    const start = shift === 0 ? 0 : shift + 1
    const end = Math.floor(((shift + bytes.length) * 8) / 6)
    return text.slice(start, end)
  })
}
