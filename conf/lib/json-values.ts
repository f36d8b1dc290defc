/** Parsing of JSON texts of clients, and the number of their values. */

/** Maximum number of values in a JSON body, which take some milliseconds to parse and validate. */
export const JSON_VALUES_MAX = 20_000

const [QUOTE, COMMA, BRACKET, BRACE, BACKSLASH] = [0x22, 0x2c, 0x5b, 0x7b, 0x5c]

/**
 * Returns true if a JSON text has more than `max` values. Each array, object and comma counts as
 * one. Malformed texts are counted approximately. The time is linear.
 */
export function hasManyValues(text: string, max: number): boolean {
  let count = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === COMMA || code === BRACKET || code === BRACE) count += 1
    if (count > max) return true
  }
  return false
}

/** Returns the index of the quote that ends a string, or the end of the text. */
function endOfString(text: string, start: number): number {
  for (let at = start; ; ) {
    at = text.indexOf('"', at + 1)
    if (at === -1) return text.length
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return at
  }
}

/** Parses a JSON text of a client. Throws a SyntaxError if it is not JSON. */
export function parseJsonText(text: string): unknown {
  return JSON.parse(text, removeOmitted) as unknown
}

/**
 * Reviver that removes `__proto__`, which would set an object's prototype when fields are copied,
 * and null fields, which Go clients send for values that they omit.
 */
function removeOmitted(this: unknown, key: string, value: unknown): unknown {
  const isLeftOut = value === null && !Array.isArray(this)
  return key === '__proto__' || isLeftOut ? undefined : value
}
