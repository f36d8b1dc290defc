/** Validation of the values that are bound to SQL statements. */

/**
 * Validates the bindings of a statement. Drivers expand objects and arrays into SQL, so an
 * unchecked value from a JSON body could change the statement. Throws a TypeError.
 */
export function checkBindings(bindings: unknown): readonly unknown[] {
  if (bindings === undefined) return []
  if (!Array.isArray(bindings)) throw new TypeError('The bindings of a statement must be an array.')
  for (const value of bindings) {
    if (!isPlain(value)) {
      throw new TypeError(
        'A binding must be a string, a finite number, a boolean, a Buffer or null.',
      )
    }
  }
  return bindings
}

/**
 * Returns a text that is compared with a column. Throws a TypeError if it is not a string: MySQL
 * converts a text column to a number when it compares it with a number, so 0 or false would match
 * every row whose text is not a number.
 */
export function checkText(text: string): string {
  if (typeof text !== 'string') throw new TypeError('Expected a string.')
  return text
}

/**
 * Returns a name or address in lower case, for comparisons that ignore case. Folds ASCII letters
 * only: Unicode folding would make the Kelvin sign equal to the letter k.
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
