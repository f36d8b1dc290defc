/** Removes containers, networks and volumes of jobs. */

import type { Log } from '../../conf/log.js'
import { findPodman, linesOf, type Podman, type PodmanInput } from './podman.js'

/** Label with the id of the runner. */
export const RUNNER_LABEL = 'gatehouse.runner'

/** Label with the name of the job's network. */
export const JOB_LABEL = 'gatehouse.job'

/**
 * Removes everything that has the label, such as `gatehouse.job=NAME`. Throws JobFault if podman
 * has failed.
 */
export async function removeContainers(podman: Podman, label: string): Promise<void> {
  const filter = `--filter=label=${label}`
  const list = async (...args: readonly string[]) => linesOf(await podman.run([...args, filter]))
  const [containers, networks, volumes] = await Promise.all([
    list('ps', '--all', '--quiet', '--no-trunc'),
    list('network', 'ls', '--quiet'),
    list('volume', 'ls', '--quiet'),
  ])
  if (containers.length > 0) {
    const force = ['--force', '--ignore', '--time=0', '--volumes']
    await podman.run(['rm', ...force, '--', ...containers])
  }
  if (networks.length > 0) await podman.run(['network', 'rm', '--force', '--', ...networks])
  if (volumes.length > 0) await podman.run(['volume', 'rm', '--force', '--', ...volumes])
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
