/** Starts the containers of a job by podman. */

import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ContainerSpec } from './container-spec.js'
import { JobFault } from './job-fault.js'
import type { Podman } from './podman.js'
import type { TaskFolder } from './task-folder.js'
import type { TaskLog } from './task-log.js'

/** A start of the containers of one job. */
export interface ContainerStart {
  readonly podman: Podman
  /** Name of the network, and label of everything that the job has. */
  readonly name: string
  /** Arguments with the labels. */
  readonly labels: readonly string[]
  /** Folder with credentials and variables, which no container has. */
  readonly folder: string
  readonly taskFolder: TaskFolder
  readonly signal: AbortSignal
  readonly log: TaskLog
}

/** A service that is to be started. */
export interface NamedSpec {
  readonly name: string
  readonly spec: ContainerSpec
}

/** Capabilities of root in containers, with which packages are installed and users changed. */
const CAPABILITIES =
  'CHOWN,DAC_OVERRIDE,FOWNER,FSETID,KILL,NET_BIND_SERVICE,SETFCAP,SETGID,SETUID,SYS_CHROOT'

/** Arguments of all containers. They get no proxies of the machine, which may have passwords. */
const OF_ALL = [
  '--detach',
  '--pull=never',
  '--security-opt=no-new-privileges',
  '--cap-drop=ALL',
  `--cap-add=${CAPABILITIES}`,
  '--http-proxy=false',
]

/** Starts a service, and returns its id. */
export function startService(start: ContainerStart, { name, spec }: NamedSpec): Promise<string> {
  // `--log-driver` is a file, because podman may not be permitted to read the journal.
  const log = ['--log-driver=k8s-file', '--log-opt=max-size=10mb']
  return runContainer(start, spec, [...log, `--network-alias=${name}`], [])
}

/** Path of Node in the container of a job: no path of an image, which may have its own Node. */
export const NODE = '/.gatehouse/node'

/** Waits until the end of standard input, which is that of the container, and reaps processes. */
const WAIT = 'exec 3<&0; read -r line <&3 & wait'

/** Starts the container of the job, in which its steps run, and returns its id. */
export function startJobContainer(start: ContainerStart, spec: ContainerSpec): Promise<string> {
  const { path } = start.taskFolder
  const mounts = [`--volume=${path}:${path}`, `--volume=${process.execPath}:${NODE}:ro`]
  const waiting = ['--interactive', '--log-driver=none', '--no-healthcheck', '--user=0:0']
  const entry = ['--workdir=/', '--entrypoint=/bin/sh']
  // Programs of steps get the variables from the runner, which knows their names and values.
  const bare = { ...spec, env: {} }
  return runContainer(start, bare, [...mounts, ...waiting, ...entry], ['-c', WAIT])
}

/** Runs a container, and returns its id. */
async function runContainer(
  start: ContainerStart,
  spec: ContainerSpec,
  args: readonly string[],
  command: readonly string[],
): Promise<string> {
  const { podman, labels, name, signal } = start
  const volumes = spec.volumes.map(
    ({ name: volume, path, isReadOnly }) =>
      `--volume=${volume === undefined ? '' : `${name}-${volume}:`}${path}${isReadOnly ? ':ro' : ''}`,
  )
  const output = await podman.run(
    [
      'run',
      ...OF_ALL,
      ...labels,
      `--network=${name}`,
      `--env-file=${await writePrivate(start, environmentText(spec.env))}`,
      ...spec.ports,
      ...volumes,
      ...spec.options,
      ...args,
      spec.image.name,
      ...command,
    ],
    { signal },
  )
  return output.trim()
}

/** Returns the text of a file with variables, as podman reads it. Throws JobFault. */
function environmentText(env: Readonly<Record<string, string>>): string {
  const lines = Object.entries(env).map(([name, value]) => {
    if (/[\r\n\0]/.test(value)) {
      throw new JobFault(`the variable '${name}' of a service has more than one line`)
    }
    return `${name}=${value}\n`
  })
  return lines.join('')
}

/** Writes a file that only this user reads. Returns its path. */
export async function writePrivate({ folder }: ContainerStart, text: string): Promise<string> {
  const path = join(folder, randomBytes(8).toString('hex'))
  await writeFile(path, text, { mode: 0o600 })
  return path
}
