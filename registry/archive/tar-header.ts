/** Headers of files in tar archives that the registry writes (ustar, POSIX.1-1988). */

export const TAR_BLOCK_BYTES = 512

/** End of an archive: two zero blocks. A segment that another segment continues has none. */
export const TAR_END = Buffer.alloc(2 * TAR_BLOCK_BYTES)

/**
 * Returns the header of a file with mode 0600. The modification time is 0, so that equal content
 * gives equal archives. Throws an Error for a path longer than 100 bytes.
 */
export function tarHeader(path: string, bytes: number): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`the path ${path} exceeds 100 bytes`)
  const header = Buffer.alloc(TAR_BLOCK_BYTES)
  header.write(path, 0)
  header.write(octal(0o600, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(bytes, 12), 124)
  header.write(octal(0, 12), 136)
  // The checksum is computed with its own field filled with spaces.
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257, 'latin1')
  const sum = header.reduce((before, byte) => before + byte, 0)
  header.write(`${octal(sum, 7)} `, 148)
  return header
}

/** Returns the padding of a file's last block. */
export function tarPadding(bytes: number): Buffer {
  return Buffer.alloc(-bytes & (TAR_BLOCK_BYTES - 1))
}

/** Returns a number in octal digits, padded to a field of `fieldBytes` bytes. */
function octal(number: number, fieldBytes: number): string {
  return `${number.toString(8).padStart(fieldBytes - 1, '0')}\0`
}
