/** The header of a file in a tar archive that is written here (ustar, POSIX.1-1988). */

export const TAR_BLOCK_BYTES = 512

/** The mark of the end: what an archive has, and a segment that is to be continued has not. */
export const TAR_END = Buffer.alloc(2 * TAR_BLOCK_BYTES)

/**
 * The header of a file that only its owner may write or read. It has no time, so that the same
 * content has always the same archive. Throws for a path of more than 100 bytes.
 */
export function tarHeader(path: string, bytes: number): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`a tar header has no room for ${path}`)
  const header = Buffer.alloc(TAR_BLOCK_BYTES)
  header.write(path, 0)
  header.write(octal(0o600, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(bytes, 12), 124)
  header.write(octal(0, 12), 136)
  // The sum is taken with spaces in its own place.
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257, 'latin1')
  const sum = header.reduce((before, byte) => before + byte, 0)
  header.write(`${octal(sum, 7)} `, 148)
  return header
}

/** What fills up the last block of a file. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc(-bytes & (TAR_BLOCK_BYTES - 1))
}

/** A number as it stands in a field of that many bytes. */
function octal(number: number, fieldBytes: number): string {
  return `${number.toString(8).padStart(fieldBytes - 1, '0')}\0`
}
