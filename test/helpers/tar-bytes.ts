/** Tar archives (ustar, POSIX.1-1988) built from fields, also malformed ones. */

export interface TarPiece {
  readonly path: string
  readonly body?: string | Uint8Array
  /** Type flag; by default that of a file. */
  readonly type?: string
  /** Text of the size field, if it differs from the real size. */
  readonly size?: string
  /** Text of the checksum field, if it differs from the real checksum. */
  readonly sum?: string
}

/** Returns header, body and padding of an entry. */
export function tarPiece({ path, body = '', type = '0', size, sum }: TarPiece): Buffer {
  const bytes = Buffer.from(body)
  const header = Buffer.alloc(512)
  header.write(path, 0, 100)
  header.write('0000644\0', 100)
  header.write(size ?? `${bytes.length.toString(8).padStart(11, '0')}\0`, 124, 12, 'latin1')
  header.write('00000000000\0', 136)
  header.write(' '.repeat(8), 148)
  header.write(type, 156)
  header.write('ustar\x0000', 257, 'latin1')
  const total = header.reduce((before, byte) => before + byte, 0)
  header.write(sum ?? `${total.toString(8).padStart(6, '0')}\0 `, 148)
  return Buffer.concat([header, bytes, Buffer.alloc(-bytes.length & 511)])
}

export const TAR_END = Buffer.alloc(1024)

/** Returns an archive of these entries with the end-of-archive marker. */
export function tarOf(pieces: readonly TarPiece[]): Buffer {
  return Buffer.concat([...pieces.map(tarPiece), TAR_END])
}

/** Returns a record of an extended header (pax(1), "pax Extended Header"). */
export function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  let length = rest.length
  while (String(length).length + rest.length !== length)
    length = String(length).length + rest.length
  return `${length}${rest}`
}
