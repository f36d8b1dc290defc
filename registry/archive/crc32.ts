/** CRC-32 of concatenated data (ISO 3309), computed from the checksums of its parts alone. */

/** CRC-32 polynomial with its lowest power in the highest bit. */
const POLYNOMIAL = 0xedb88320

/**
 * Returns the checksum of two concatenated parts from their checksums and the size of the second.
 * A checksum is a polynomial over GF(2). Appending n zero bits multiplies it by x to the power n,
 * modulo the CRC polynomial.
 */
export function appendCrc32(first: number, second: number, secondBytes: number): number {
  return (multiply(first, powerOfX(8 * secondBytes)) ^ second) >>> 0
}

/** Returns x to that power, modulo the polynomial. Bit 31 is the coefficient of 1, bit 30 of x. */
function powerOfX(power: number): number {
  let result = 2 ** 31
  let square = 2 ** 30
  for (let left = power; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = multiply(result, square)
    square = multiply(square, square)
  }
  return result
}

/** Returns the product of two polynomials, modulo the CRC polynomial. */
function multiply(one: number, other: number): number {
  let product = 0
  let shifted = other
  for (let bit = 31; bit >= 0; bit -= 1) {
    if ((one >>> bit) & 1) product ^= shifted
    shifted = shifted & 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1
  }
  return product >>> 0
}
