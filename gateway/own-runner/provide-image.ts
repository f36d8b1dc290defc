/** Images of containers, from this machine or from their registries. */

import type { ContainerSpec } from './container-spec.js'
import { type ContainerStart, writePrivate } from './container-start.js'

const PULL_WITHIN_MS = 1_800_000

/** Pulls an image that the machine does not have. Throws JobFault. */
export async function provideImage(
  start: ContainerStart,
  { image, credentials }: ContainerSpec,
): Promise<void> {
  const { podman, signal, log } = start
  const { exitCode } = await podman.call(['image', 'exists', image.name], { signal })
  if (exitCode === 0) {
    log.add(`The image ${image.name} is on this machine.`)
    return
  }
  log.add(`Pulling the image ${image.name}`)
  const args: string[] = []
  if (credentials !== undefined) {
    const auth = Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')
    const text = JSON.stringify({ auths: { [image.registry]: { auth } } })
    args.push(`--authfile=${await writePrivate(start, text)}`)
  }
  const options = { signal, timeoutMs: PULL_WITHIN_MS }
  await podman.run(['pull', '--quiet', ...args, image.name], options)
}
