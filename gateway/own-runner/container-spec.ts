/** Containers of a job with the values of their expressions, as podman gets them. */

import type { Contexts } from '../workflows/expression-values.js'
import { interpolate } from '../workflows/expressions.js'
import type { ContainerFile } from './container-file.js'
import { type ContainerImage, parseImage } from './container-image.js'
import { parseContainerOptions } from './container-options.js'
import { JobFault } from './job-fault.js'
import type { Texts } from './step-file.js'

/** A volume that ends with the job. */
export interface ContainerVolume {
  /** Name for the containers of the job that share it; absent for a volume of one container. */
  readonly name: string | undefined
  readonly path: string
  readonly isReadOnly: boolean
}

/** Values of a container, none of which can become an option of podman. */
export interface ContainerSpec {
  readonly image: ContainerImage
  readonly credentials: { readonly username: string; readonly password: string } | undefined
  readonly env: Texts
  /** Arguments that publish ports on 127.0.0.1. */
  readonly ports: readonly string[]
  readonly volumes: readonly ContainerVolume[]
  /** Further arguments. */
  readonly options: readonly string[]
}

/** Contexts that the keys of a container read, and those that `env` and `credentials` read too. */
const CONTEXTS = ['github', 'needs', 'strategy', 'matrix', 'vars', 'inputs']
const SECRET_CONTEXTS = [...CONTEXTS, 'env', 'secrets', 'runner']

/**
 * Evaluates and checks a container. Returns undefined if its image is empty, as for a combination
 * of a matrix that has no container. Throws JobFault or ExpressionFault.
 */
export function evaluateContainer(
  file: ContainerFile,
  contexts: Contexts,
  role: 'job' | 'service',
): ContainerSpec | undefined {
  const evaluate = (text: string) => interpolate(text, only(contexts, CONTEXTS))
  const image = evaluate(file.image).trim()
  if (image === '') return undefined
  const evaluateAll = (texts: Texts) => {
    const secretContexts = only(contexts, SECRET_CONTEXTS)
    const entries = Object.entries(texts)
    return Object.fromEntries(
      entries.map(([key, text]) => [key, interpolate(text, secretContexts)]),
    )
  }
  return {
    image: parseImage(image),
    credentials: credentialsOf(file, evaluateAll(file.credentials)),
    env: checkNames(evaluateAll(file.env)),
    ports: file.ports.map((port) => parsePort(evaluate(port))),
    volumes: file.volumes.map((volume) => parseVolume(evaluate(volume))),
    options: parseContainerOptions(evaluate(file.options), role),
  }
}

function only(contexts: Contexts, names: readonly string[]): Contexts {
  return Object.fromEntries(Object.entries(contexts).filter(([name]) => names.includes(name)))
}

/** Returns the credentials; undefined if they are empty, as secrets are in runs of forks. */
function credentialsOf({ title }: ContainerFile, texts: Texts): ContainerSpec['credentials'] {
  const { username = '', password = '' } = texts
  if (username === '' && password === '') return undefined
  if (username === '' || password === '' || username.includes(':')) {
    throw new JobFault(`${title}.credentials must have a username without colon, and a password`)
  }
  return { username, password }
}

function checkNames(env: Texts): Texts {
  const wrong = Object.keys(env).find((name) => !/^[A-Za-z_][\w.-]*$/.test(name))
  if (wrong !== undefined) {
    throw new JobFault(`the variable '${wrong}' of a container has a malformed name`)
  }
  return env
}

/**
 * Parses a port of the container, with that of the machine before it; without, a free one is used.
 * Ports are published on 127.0.0.1, where the steps of a job without a container reach them.
 */
function parsePort(text: string): string {
  const [, host = '', own, protocol = 'tcp'] =
    /^(?:(\d{1,5}):)?(\d{1,5})(?:\/(tcp|udp))?$/.exec(text) ?? []
  if (own === undefined || Number(own) > 65_535 || Number(host) > 65_535) {
    throw new JobFault(`the port '${text}' of a container is not PORT or HOST-PORT:PORT`)
  }
  return `--publish=127.0.0.1:${host}:${own}/${protocol}`
}

function parseVolume(text: string): ContainerVolume {
  const [, name, shared, mode, own] =
    /^(?:([^:]*):(\/[^:,\0\n]*)(?::(ro|rw))?|(\/[^:,\0\n]*))$/.exec(text) ?? []
  const path = shared ?? own
  if (path === undefined) {
    throw new JobFault(`the volume '${text}' of a container is not NAME:/PATH or /PATH`)
  }
  if (name !== undefined && !/^[A-Za-z0-9][\w.-]{0,62}$/.test(name)) {
    throw new JobFault(`the volume '${text}' of a container is not NAME:/PATH: it has a host path`)
  }
  return { name, path, isReadOnly: mode === 'ro' }
}
