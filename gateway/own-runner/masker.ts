/** Replaces secrets by `***` in the rows of a log. */

/**
 * Maximum number of masked texts; a step can add some with `::add-mask::`. If there are more, rows
 * are hidden completely.
 */
const MASKS_MAX = 2_000

/** Minimum length of a line of a secret that is masked alone: `{` is not secret. */
const LINE_LENGTH_MIN = 4

/** Minimum length of a masked part of a base64 text. */
const BASE64_LENGTH_MIN = 8

const MASK = '***'

/** The texts that the log of a task must not have. */
export class Masker {
  readonly #texts = new Set<string>()
  /** The texts, the longest first, because one may contain another. */
  #ordered: readonly string[] = []
  #hasTooMany = false

  constructor(secrets: readonly string[]) {
    for (const secret of secrets) this.add(secret)
  }

  /** Adds a text, each of its lines, and its forms in base64. */
  add(secret: string): void {
    const lines = secret.split(/\r?\n/).map((line) => line.trim())
    const [only = ''] = lines
    const parts =
      lines.length === 1 ? [only] : lines.filter((line) => line.length >= LINE_LENGTH_MIN)
    for (const text of [secret, ...parts, ...base64Forms(secret)]) {
      if (text.trim() === '' || this.#texts.has(text)) continue
      if (this.#texts.size < MASKS_MAX) this.#texts.add(text)
      else this.#hasTooMany = true
    }
    this.#ordered = [...this.#texts].sort((a, b) => b.length - a.length)
  }

  mask(text: string): string {
    if (this.#hasTooMany) return MASK
    let masked = text
    for (const secret of this.#ordered) masked = masked.replaceAll(secret, MASK)
    return masked
  }
}

/**
 * Returns the parts of base64 texts that contain the secret, whatever precedes and follows it: the
 * bytes before it shift it by 0, 1 or 2. A header of Basic authentication is such a text.
 */
function base64Forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  return [0, 1, 2]
    .map((shift) => {
      const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64')
      // Characters that also depend on the neighbours are left out.
      const start = shift === 0 ? 0 : shift + 1
      const end = Math.floor(((shift + bytes.length) * 8) / 6)
      return text.slice(start, end)
    })
    .filter((text) => text.length >= BASE64_LENGTH_MIN)
}
