/** Threat: input that crashes or slows down a parser, searched by fuzzing. */

import { asyncProperty, assert as check } from 'fast-check'
import t from 'tap'
import { Failure } from '../../conf/failures.js'
import { type FuzzTarget, fuzzTargets } from '../helpers/fuzz-targets.js'
import { mutatedBytes } from '../helpers/mutated-bytes.js'

/** Number of executions per parser; scripts/fuzz sets a duration with `FUZZ_SECONDS` instead. */
const EXECUTIONS = 250
/** Seed that makes each run use the same inputs; `scripts/fuzz` searches for new faults. */
const SEED = 20_261_123
/** Limit of CPU time per execution: inputs have up to 400 KB and are parsed at 10 MB/s or more. */
const CPU_MS_MAX = 400
/** Number of executions of an input that exceeds the limit. */
const TRIES_MAX = 4

const seconds = Number(process.env['FUZZ_SECONDS'] ?? 0)
const seed = seconds > 0 ? Date.now() : SEED
const only = process.env['FUZZ_TARGET'] ?? ''

for (const target of await fuzzTargets()) {
  if (!target.name.includes(only)) continue
  await t.test(`${target.name}: mutated inputs are parsed or refused in time`, async (t) => {
    const counts = { executions: 0, refused: 0, slowestMs: 0 }
    const execute = async (bytes: Buffer) => {
      const { isAccepted, cpuMs } = await measure(target, bytes)
      counts.executions += 1
      counts.refused += isAccepted ? 0 : 1
      counts.slowestMs = Math.max(counts.slowestMs, cpuMs)
      if (cpuMs > CPU_MS_MAX) throw new Error(`took ${cpuMs} ms of CPU for ${bytes.length} bytes`)
      return isAccepted
    }
    for (const seed of target.seeds) t.ok(await execute(Buffer.from(seed)), 'the seed is accepted')
    for (const input of target.faults ?? []) await execute(Buffer.from(input))
    const limit =
      seconds > 0
        ? { interruptAfterTimeLimit: seconds * 1_000, numRuns: 1e9 }
        : { numRuns: EXECUTIONS }
    const mutated = mutatedBytes({ words: [], ...target })
    const property = asyncProperty(mutated, async (bytes) => void (await execute(bytes)))
    await check(property, { seed, markInterruptAsFailure: false, ...limit })
    if (seconds > 0) {
      process.stderr.write(`${target.name}: ${JSON.stringify(counts)}, seed ${seed}\n`)
    }
  })
}

/**
 * Executes an input, and again while it exceeds the limit: other threads and the collection of
 * garbage count as well, but not each time.
 */
async function measure(target: FuzzTarget, bytes: Buffer) {
  for (let tries = 1; ; tries += 1) {
    const startedAt = process.cpuUsage()
    const isAccepted = await isRead(target, bytes)
    const { user, system } = process.cpuUsage(startedAt)
    const cpuMs = (user + system) / 1_000
    if (cpuMs <= CPU_MS_MAX || tries === TRIES_MAX) return { isAccepted, cpuMs }
  }
}

/** Returns true if the input was accepted. Throws errors that are not refusals: parser faults. */
async function isRead({ parse, isRefusal = isClientError }: FuzzTarget, bytes: Buffer) {
  try {
    await parse(bytes)
    return true
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}

function isClientError(error: unknown): boolean {
  return error instanceof Failure && error.status < 500
}
