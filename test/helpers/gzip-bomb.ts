/** Much text in few bytes: what a server meets that unpacks before it counts. */

import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'

export interface GzipBomb {
  /** What comes first, once. */
  readonly head: string
  /** What follows again and again. */
  readonly piece: string
  /** About how much it is unpacked. */
  readonly bytes: number
}

/** One gzip member that holds it all, made without holding it all. */
export async function gzipBomb({ head, piece, bytes }: GzipBomb): Promise<Buffer> {
  const pieceBytes = Buffer.from(piece, 'latin1')
  function* parts() {
    yield Buffer.from(head, 'latin1')
    for (let size = 0; size < bytes; size += pieceBytes.length) yield pieceBytes
  }
  return await buffer(Readable.from(parts()).pipe(createGzip({ level: 6 })))
}
