/** Waits for the services of a job. */

import { setTimeout as delay } from 'node:timers/promises'
import { inspectContainer } from './inspect-container.js'
import { JobFault } from './job-fault.js'
import { linesOf, type Podman } from './podman.js'
import type { TaskLog } from './task-log.js'

/** A service that has started. */
export interface Service {
  readonly name: string
  readonly id: string
}

interface WaitInput {
  readonly podman: Podman
  readonly signal: AbortSignal
  readonly log: TaskLog
}

/** Longest time for which a service may become healthy. */
const HEALTHY_WITHIN_MS_MAX = 600_000

/** Time between two checks, if the service does not ask for more of them. */
const CHECK_EVERY_MS = 2_000
const CHECK_EVERY_MS_MIN = 200

/**
 * Waits until a service is healthy, or returns if it has no health check. Otherwise, the end of its
 * output is added to the log. Throws JobFault.
 */
export async function waitUntilHealthy(
  { name, id }: Service,
  { podman, signal, log }: WaitInput,
): Promise<void> {
  const fail = async (reason: string): Promise<never> => {
    await addOutput(id, { podman, log, title: `Output of the service ${name}:` })
    throw new JobFault(`the service '${name}' ${reason}`)
  }
  let { isRunning, health } = await inspectContainer(podman, id)
  const limitMs = Math.min(health?.withinMs ?? 0, HEALTHY_WITHIN_MS_MAX)
  const endsAtMs = Date.now() + limitMs
  while (isRunning && health !== undefined) {
    const timeoutMs = Math.max(1, Math.min(health.timeoutMs, endsAtMs - Date.now()))
    if (await isHealthy(id, { podman, signal, timeoutMs })) {
      log.add(`The service ${name} is healthy.`)
      return
    }
    if (Date.now() > endsAtMs) return fail(`was not healthy within ${limitMs / 1000} seconds`)
    const pauseMs = Math.min(health.intervalMs || CHECK_EVERY_MS, CHECK_EVERY_MS)
    await delay(Math.max(pauseMs, CHECK_EVERY_MS_MIN), undefined, { signal }).catch(() => {})
    if (signal.aborted) throw new JobFault('the job has ended before its services were healthy')
    ;({ isRunning, health } = await inspectContainer(podman, id))
  }
  if (!isRunning) await fail('has ended')
}

interface CheckInput extends Pick<WaitInput, 'podman' | 'signal'> {
  readonly timeoutMs: number
}

async function isHealthy(id: string, { podman, ...options }: CheckInput): Promise<boolean> {
  const check = podman.call(['healthcheck', 'run', '--', id], options)
  // A check that runs out of time has failed.
  return check.then(({ exitCode }) => exitCode === 0).catch(() => false)
}

/** Number of lines of a service's output that are added to the log of a job. */
const OUTPUT_LINES = 200

async function addOutput(
  id: string,
  { podman, log, title }: Pick<WaitInput, 'podman' | 'log'> & { readonly title: string },
): Promise<void> {
  const { output, errorText } = await podman.call(['logs', `--tail=${OUTPUT_LINES}`, '--', id])
  log.add(title)
  for (const line of linesOf(`${output}${errorText}`)) log.add(line)
}
