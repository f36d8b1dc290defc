/** The checksum of gzip and zip (ISO 3309), of bytes that are not at hand any more. */

/** The polynomial, its bits from the lowest power on. */
const POLYNOMIAL = 0xedb88320

/**
 * The checksum of some bytes followed by others, from the checksum of each and the number of the
 * others. A checksum is a polynomial over two elements; so many zeros behind it multiply it by a
 * power of x, modulo the one above.
 */
export function appendCrc32(first: number, second: number, secondBytes: number): number {
  return (multiply(first, powerOfX(8 * secondBytes)) ^ second) >>> 0
}

/** x to that power. Bit 31 stands for 1, the next lower one for x. */
function powerOfX(power: number): number {
  let result = 2 ** 31
  let square = 2 ** 30
  for (let left = power; left > 0; left = Math.floor(left / 2)) {
    if (left % 2 === 1) result = multiply(result, square)
    square = multiply(square, square)
  }
  return result
}

function multiply(one: number, other: number): number {
  let product = 0
  let shifted = other
  for (let bit = 31; bit >= 0; bit -= 1) {
    if ((one >>> bit) & 1) product ^= shifted
    shifted = shifted & 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1
  }
  return product >>> 0
}
