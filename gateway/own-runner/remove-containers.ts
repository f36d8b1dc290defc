/** Removes containers, networks and volumes of jobs. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../../conf/log.js'
import { findPodman, linesOf, type Podman, type PodmanInput } from './podman.js'

/** Label with the id of the runner. */
export const RUNNER_LABEL = 'gatehouse.runner'

/** Label with the name of the job's network. */
export const JOB_LABEL = 'gatehouse.job'

/** Number of attempts to remove, because podman may be killed while it makes a container. */
const TRIES_MAX = 3
/** Time between two attempts. */
const PAUSE_MS = 1_000

/**
 * Removes everything that has the label, such as `gatehouse.job=NAME`. Throws JobFault if podman
 * has failed repeatedly.
 */
export async function removeContainers(podman: Podman, label: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const faults = await removeAll(podman, label)
    if (faults.length === 0) return
    if (tries === TRIES_MAX) throw faults[0]
    await sleep(PAUSE_MS)
  }
}

/** Removes what there is of each kind, also if another kind fails; returns the faults. */
async function removeAll(podman: Podman, label: string): Promise<readonly unknown[]> {
  const filter = `--filter=label=${label}`
  const list = async (...args: readonly string[]) => linesOf(await podman.run([...args, filter]))
  const [containers, networks, volumes] = await Promise.all([
    list('ps', '--all', '--quiet', '--no-trunc'),
    list('network', 'ls', '--quiet'),
    list('volume', 'ls', '--quiet'),
  ])
  const faults: unknown[] = []
  const remove = async (command: readonly string[], names: readonly string[]) => {
    if (names.length === 0) return
    await podman.run([...command, '--', ...names]).catch((fault: unknown) => faults.push(fault))
  }
  await remove(['rm', '--force', '--ignore', '--time=0', '--volumes'], containers)
  await remove(['network', 'rm', '--force'], networks)
  await remove(['volume', 'rm', '--force'], volumes)
  return faults
}

/** Removes what an earlier process of the runner has left, and nothing of other runners. */
export async function removeLeftovers(input: PodmanInput, log: Log): Promise<void> {
  const podman = await findPodman(input)
  if (podman === undefined) return
  try {
    await removeContainers(podman, `${RUNNER_LABEL}=${input.runnerId}`)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    log.warn({ reason }, 'podman does not work, so jobs with containers fail')
  }
}
