/** Containers of one job: its own, and its services, on a network of the job. */

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Contexts, ContextValue } from '../workflows/expression-values.js'
import type { Cancellation } from './cancellation.js'
import { isolateInContainer } from './container-program.js'
import { type ContainerSpec, evaluateContainer } from './container-spec.js'
import {
  type ContainerStart,
  type NamedSpec,
  NODE,
  startJobContainer,
  startService,
} from './container-start.js'
import { inspectContainer } from './inspect-container.js'
import type { Isolate } from './isolation.js'
import { JobFault } from './job-fault.js'
import type { JobFile } from './job-file.js'
import { findPodman, type Podman, type PodmanInput } from './podman.js'
import { provideImage } from './provide-image.js'
import { JOB_LABEL, RUNNER_LABEL, removeContainers } from './remove-containers.js'
import { type Service, waitUntilHealthy } from './service-health.js'
import type { TaskFolder } from './task-folder.js'
import type { TaskLog } from './task-log.js'

/** Parts of a job that its containers need. */
export interface ContainersInput {
  readonly job: Pick<JobFile, 'container' | 'services'>
  readonly folder: TaskFolder
  /** Folder in which the folders of tasks are created. */
  readonly workFolder: string
  readonly podman: PodmanInput
  readonly cancellation: Cancellation
  readonly log: TaskLog
}

/** The container in which the steps of a job run. */
export interface StepContainer {
  readonly isolate: Isolate
  /** Folders of programs in the container, separated by colons. */
  readonly searchPath: string
  /** Returns the path of Node in the container. Throws JobFault if it does not start there. */
  node(): Promise<string>
}

/** Running containers of a job. */
export interface JobContainers {
  /** Absent if the job has services only. */
  readonly container: StepContainer | undefined
  /** Fields `container` and `services` of the context `job`. */
  readonly context: Readonly<Record<string, ContextValue>>
  /** Removes the containers with their network and volumes. Never rejects. */
  close(): Promise<void>
}

/** End of the messages about podman, for the administrator of the runner. */
const ADVICE = ' on the machine of the runner (docs/actions.md, "Containers")'

/**
 * Starts the containers of a job. Returns undefined if it has none. Throws JobFault or
 * ExpressionFault; nothing is left then.
 */
export async function startContainers(
  input: ContainersInput,
  contexts: Contexts,
): Promise<JobContainers | undefined> {
  const { job } = input
  const own = job.container && evaluateContainer(job.container, contexts, 'job')
  const services = [...job.services].flatMap(([name, file]) => {
    const spec = evaluateContainer(file, contexts, 'service')
    return spec === undefined ? [] : [{ name, spec }]
  })
  if (own === undefined && services.length === 0) return undefined
  const podman = await requirePodman(input.podman)
  const name = `gatehouse-${randomBytes(8).toString('hex')}`
  const labels = [`--label=${RUNNER_LABEL}=${podman.runnerId}`, `--label=${JOB_LABEL}=${name}`]
  const folder = await mkdtemp(join(input.workFolder, 'gatehouse-containers-'))
  const { log, folder: taskFolder } = input
  const signal = input.cancellation.signalOfStep()
  const start = { podman, name, labels, folder, taskFolder, signal, log }
  try {
    await createShared(start, [...services.map(({ spec }) => spec), ...(own ? [own] : [])])
    return await startAll(start, { own, services })
  } catch (error) {
    await close(start)
    throw error
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns podman after it has run. Throws JobFault. */
async function requirePodman(input: PodmanInput): Promise<Podman> {
  const podman = await findPodman(input)
  if (podman === undefined) {
    throw new JobFault(`the job needs containers: install the package podman${ADVICE}`)
  }
  const { exitCode, errorText } = await podman.call(['info', '--format={{.Host.Arch}}'])
  if (exitCode === 0) return podman
  throw new JobFault(`the job needs containers, but podman fails${ADVICE}: ${errorText.trim()}`)
}

/** Creates the network and the volumes with names, and pulls images. */
async function createShared(start: ContainerStart, specs: readonly ContainerSpec[]): Promise<void> {
  const { podman, signal, labels, name } = start
  await podman.run(['network', 'create', ...labels, name], { signal })
  const volumes = specs.flatMap((spec) => spec.volumes.flatMap((volume) => volume.name ?? []))
  for (const volume of new Set(volumes)) {
    await podman.run(['volume', 'create', ...labels, `${name}-${volume}`], { signal })
  }
  const images = new Map(specs.map((spec) => [spec.image.name, spec]))
  for (const spec of images.values()) await provideImage(start, spec)
}

interface Specs {
  readonly own: ContainerSpec | undefined
  readonly services: readonly NamedSpec[]
}

async function startAll(start: ContainerStart, { own, services }: Specs): Promise<JobContainers> {
  const { podman, signal, log, name: network } = start
  const started: Service[] = []
  for (const { name, spec } of services) {
    log.add(`Starting the service ${name}`)
    started.push({ name, id: await startService(start, { name, spec }) })
  }
  if (own) log.add('Starting the container of the job')
  const id = own && (await startJobContainer(start, own))
  const context: Record<string, ContextValue> = {}
  for (const service of started) {
    await waitUntilHealthy(service, { podman, signal, log })
    const { ports } = await inspectContainer(podman, service.id)
    context[service.name] = { id: service.id, network, ports }
  }
  return {
    container: own && id ? await stepContainer(start, { id, own }) : undefined,
    context: { ...(id ? { container: { id, network } } : {}), services: context },
    close: () => close(start),
  }
}

async function stepContainer(
  { podman, taskFolder: folder }: ContainerStart,
  { id, own }: { readonly id: string; readonly own: ContainerSpec },
): Promise<StepContainer> {
  const { searchPath } = await inspectContainer(podman, id)
  let isNodeTried = false
  return {
    isolate: isolateInContainer({ podman, id, folder, env: own.env }),
    searchPath: own.env['PATH'] ?? searchPath,
    async node() {
      if (isNodeTried) return NODE
      const { exitCode, errorText } = await podman.call(['exec', '--', id, NODE, '--version'])
      if (exitCode !== 0) {
        const need = 'JavaScript actions need an image with glibc and libstdc++, such as debian'
        throw new JobFault(
          `Node does not start in ${own.image.name}: ${need} (${errorText.trim()})`,
        )
      }
      isNodeTried = true
      return NODE
    },
  }
}

/** Removes everything that the job has. A failure is a row of its log. */
async function close({ podman, name, taskFolder, log }: ContainerStart): Promise<void> {
  try {
    await removeContainers(podman, `${JOB_LABEL}=${name}`)
    // Files of further users of a rootless container belong to users that this one is not.
    if (process.getuid?.() !== 0) {
      await podman.run(['unshare', 'chown', '-hR', '0:0', '--', taskFolder.path])
    }
  } catch (error) {
    log.add(`Warning: containers are left: ${error instanceof Error ? error.message : error}.`)
  }
}
