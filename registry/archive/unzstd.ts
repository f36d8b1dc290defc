/** Decompression of a zstd frame in steps, with limits on the output and the time. */

import { setImmediate as nextTick } from 'node:timers/promises'
import { createContext, Script } from 'node:vm'
import { Failure } from '../../conf/failures.js'
import { bounded } from './compress.js'
import { readZstdFrame } from './zstd-frame.js'

/**
 * Decompresses one zstd frame. Throws `bad_request` if it is damaged or truncated, contains more
 * than `bytesMax` bytes, needs a dictionary or a window of more than 128 MiB (the largest of
 * `zstd --ultra`), or takes too long. Its checksum is not verified.
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
  // Loaded on first use, because most processes never need it.
  const { Decompress } = await import('fzstd')
  const full: Uint8Array[] = []
  let bytes = 0
  const unpacking = new Decompress((chunk) => {
    bytes += chunk.byteLength
    full.push(chunk)
    // One step can decompress to gigabytes, so it is stopped in the middle.
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
    await nextTick()
  }
}

/** Signal that the output exceeds the limit; `bounded` throws the error for the caller. */
class TooMuch extends Error {}

/**
 * Maximum time by the clock, which no frame of a package needs on a busy machine either. The pool
 * that inspects uploads limits the processor time.
 */
const TIME_MAX_MS = 10_000
const STEP = new Script('step()')

/**
 * Limits the time of all steps together, and interrupts the step that exceeds it. The library
 * trusts the number of sequences in a block: twenty bytes can keep it busy for minutes.
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
  const message = 'The zstd data is damaged, truncated, or takes too long to decompress.'
  return new Failure('bad_request', message, { cause })
}
