/** Digests that are computed while bytes arrive. */

import { createHash, type Hash } from 'node:crypto'
import type { Digests } from '../conf/package.js'

export interface RunningDigests {
  update(chunk: Uint8Array): void
  /** Returns an independent copy of the state after the bytes so far. */
  copy(): RunningDigests
  /** Returns the digests. Can be called once, after the last `update`. */
  finish(): Digests
}

/** Digests that another thread computes. One call at a time. */
export interface RemoteDigests {
  /** Adds bytes of shared memory, which must not change before this returns. */
  update(batch: Uint8Array<SharedArrayBuffer>): Promise<void>
  /** Returns the digests. Can be called once, after the last `update`. */
  finish(): Promise<Digests>
  /** Frees the state if `finish` was not called. */
  drop(): void
}

/** Creates the state before the first byte, in another thread. */
export type StartRemoteDigests = () => RemoteDigests

/** Creates the state before the first byte. */
export function startDigests(): RunningDigests {
  return running({
    md5: createHash('md5'),
    sha1: createHash('sha1'),
    sha256: createHash('sha256'),
    sha512: createHash('sha512'),
  })
}

type Hashes = Readonly<Record<keyof Digests, Hash>>

function running(hashes: Hashes): RunningDigests {
  const { md5, sha1, sha256, sha512 } = hashes
  return {
    update(chunk) {
      for (const hash of [md5, sha1, sha256, sha512]) hash.update(chunk)
    },
    copy: () =>
      running({ md5: md5.copy(), sha1: sha1.copy(), sha256: sha256.copy(), sha512: sha512.copy() }),
    finish: () => ({
      md5: md5.digest('hex'),
      sha1: sha1.digest('hex'),
      sha256: sha256.digest('hex'),
      sha512: sha512.digest('hex'),
    }),
  }
}
