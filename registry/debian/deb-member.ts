/** Members of Debian packages: tar archives with an optional compression (deb(5)). */

import { Failure } from '../../conf/failures.js'
import type { ArMember } from '../archive/ar.js'
import type { ByteSource } from '../archive/byte-source.js'
import { bounded, gunzip } from '../archive/compress.js'
import { unxz } from '../archive/unxz.js'
import { unzstd } from '../archive/unzstd.js'
import { quote } from '../archive/zip-paths.js'

export interface UnpackLimits {
  /** Name of the member in messages. */
  readonly what: string
  readonly packedBytesMax: number
  readonly unpackedBytesMax: number
}

/**
 * Decompresses a member. Throws `bad_request` if it exceeds `limits`, is damaged, or has an unknown
 * compression.
 */
export function unpackMember(
  source: ByteSource,
  { name, start, bytes }: ArMember,
  { what, packedBytesMax, unpackedBytesMax }: UnpackLimits,
): AsyncIterable<Uint8Array> {
  if (bytes > packedBytesMax) {
    throw new Failure('bad_request', `The ${what} exceeds ${packedBytesMax} bytes.`)
  }
  const packing = /^[a-z]+\.tar(.*)$/.exec(name)?.[1] ?? name
  const unpacker = UNPACKERS.get(packing)
  if (unpacker !== undefined) {
    const stream = () => source.stream(start, start + bytes)
    return unpacker({ stream, read: () => source.read(start, bytes) }, unpackedBytesMax)
  }
  const advice = 'use none, gzip, xz or zstd'
  throw new Failure('bad_request', `unsupported compression algorithm of ${quote(name)}: ${advice}`)
}

interface Packed {
  stream(): AsyncIterable<Uint8Array>
  read(): Promise<Uint8Array>
}

type Unpacker = (packed: Packed, bytesMax: number) => AsyncIterable<Uint8Array>

const UNPACKERS: ReadonlyMap<string, Unpacker> = new Map<string, Unpacker>([
  ['', ({ stream }, bytesMax) => bounded(stream(), bytesMax)],
  ['.gz', ({ stream }, bytesMax) => gunzip(stream(), bytesMax)],
  ['.xz', (packed, bytesMax) => whenRead(packed, bytesMax, unxz)],
  ['.zst', (packed, bytesMax) => whenRead(packed, bytesMax, unzstd)],
])

async function* whenRead(
  { read }: Packed,
  bytesMax: number,
  unpack: (packed: Uint8Array, bytesMax: number) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* unpack(await read(), bytesMax)
}
