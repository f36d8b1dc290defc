/** What may stand in the place of a question mark: plain values, never anything with a shape. */

/**
 * Checks what is bound to a statement. Drivers write objects and arrays into the SQL itself, so a
 * value from a JSON body could change the question.
 */
export function checkBindings(bindings: unknown): readonly unknown[] {
  if (bindings === undefined) return []
  if (!Array.isArray(bindings)) throw new TypeError('The values of a statement are a list')
  for (const value of bindings) {
    if (!isPlain(value)) {
      throw new TypeError('The values of a statement are texts, numbers, booleans, bytes and null')
    }
  }
  return bindings
}

/**
 * A text that is looked up. MySQL compares a text with a number by turning the text into a number,
 * so 0 or false would find every row whose text is not a number.
 */
export function checkText(text: string): string {
  if (typeof text !== 'string') throw new TypeError('A text is wanted')
  return text
}

/**
 * The form of a name or an address in which two that differ in case are the same. ASCII alone: by
 * Unicode's rules the Kelvin sign would be found as the letter k.
 */
export function foldCase(text: string): string {
  if (!/[A-Z]/.test(checkText(text))) return text
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function isPlain(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return true
    case 'number':
      return Number.isFinite(value)
    default:
      return value === null || Buffer.isBuffer(value)
  }
}
