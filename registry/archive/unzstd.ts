/** What zstd packed, as it was: piece by piece, and never more of it than the reader allows. */

import { setImmediate as nextTurn } from 'node:timers/promises'
import { createContext, Script } from 'node:vm'
import { Failure } from '../../conf/failures.js'
import { bounded } from './compress.js'
import { readZstdFrame } from './zstd-frame.js'

/**
 * What one zstd frame holds. Throws `bad_request` when it is damaged or cut off, holds more than
 * `bytesMax`, needs a dictionary or a window of more than 128 MiB (the largest of `zstd --ultra`),
 * or takes too long. Its checksum is not looked at.
 */
export function unzstd(
  packed: Uint8Array,
  bytesMax: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  return bounded(unpack(packed, bytesMax), bytesMax)
}

const STEP_BYTES = 16_384

async function* unpack(packed: Uint8Array, bytesMax: number): AsyncGenerator<Uint8Array> {
  const frame = readZstdFrame(packed, bytesMax)
  // Loaded when it is needed: most processes never do.
  const { Decompress } = await import('fzstd')
  const full: Uint8Array[] = []
  let bytes = 0
  const unpacking = new Decompress((chunk) => {
    bytes += chunk.byteLength
    full.push(chunk)
    // One step may hold gigabytes: the rest of it is not waited for.
    if (bytes > bytesMax) throw new TooMuch()
  })
  const clock = startClock()
  for (let at = 0; at < frame.length; at += STEP_BYTES) {
    const step = frame.subarray(at, at + STEP_BYTES)
    try {
      clock.run(() => unpacking.push(step, at + STEP_BYTES >= frame.length))
    } catch (error) {
      if (!(error instanceof TooMuch)) throw damaged(error)
    }
    yield* full.splice(0)
    await nextTurn()
  }
}

/** What came out by then exceeds the bound, which is said where that is counted. */
class TooMuch extends Error {}

const TIME_MAX_MS = 2_000
const STEP = new Script('step()')

/**
 * The library trusts what a block says of its sequences: twenty bytes keep it busy for minutes.
 * So all steps together have a time, and what exceeds it is cut off in the middle.
 */
function startClock() {
  let leftMs = TIME_MAX_MS
  return {
    run(step: () => void): void {
      const startedMs = performance.now()
      STEP.runInContext(createContext({ step }), { timeout: Math.max(1, Math.ceil(leftMs)) })
      leftMs -= performance.now() - startedMs
    },
  }
}

function damaged(cause: unknown): Failure {
  const what = 'The zstd data is damaged, cut off, or takes too long to unpack.'
  return new Failure('bad_request', what, { cause })
}
