/** Answers of tests for single flights, which are written on command. */

import { writeSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { GrowingFile } from '../../gateway/packs/growing-file.js'
import type { SingleFlight, SingleFlightPlan } from '../../gateway/packs/single-flight.js'

/** Returns the signal of a client that stays connected. */
export const present = () => new AbortController().signal

/**
 * Creates a plan that writes on command and notes its starts. The answer is kept in the folder, by
 * the name of its key.
 */
export function aPlan(folder: string, key = 'k') {
  const started: { file: GrowingFile; signal: AbortSignal }[] = []
  let end = () => {}
  let fail: (error: Error) => void = () => {}
  const ended = new Promise<void>((resolve, reject) => {
    end = resolve
    fail = reject
  })
  let bytes = 0
  const plan: SingleFlightPlan = {
    key,
    async write(file, { signal, onStarted }) {
      started.push({ file, signal })
      onStarted(4711)
      const wanted = new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('was ended')))
      })
      await Promise.race([ended, wanted])
      return { bytes, keep: () => rename(file.path, join(folder, key)) }
    },
  }
  return {
    plan,
    started,
    write(text: string) {
      bytes += writeSync(started[0]?.file.file ?? -1, text)
    },
    end,
    fail,
  }
}

/** Reads a body to its end. */
export async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  for await (const chunk of body) text += Buffer.from(chunk).toString()
  return text
}

/** Joins and reads to the end. */
export async function joinAndRead(
  singleFlight: SingleFlight,
  plan: SingleFlightPlan,
  signal = present(),
): Promise<string> {
  return readText((await singleFlight.join(plan, signal)).body)
}
