/** Containers of a job as in its file: `container`, and those of `services`. */

import type { YamlValue } from '../workflows/yaml-value.js'
import { fieldOf, type Texts, textsOf } from './step-file.js'

/** A container in whose texts expressions are not evaluated yet. */
export interface ContainerFile {
  /** Place in the file, such as `jobs.build.services.db`. */
  readonly title: string
  /** Name of the image; there is no container if its value is empty. */
  readonly image: string
  /** User name and password for the registry of the image. */
  readonly credentials: Texts
  readonly env: Texts
  readonly ports: readonly string[]
  readonly volumes: readonly string[]
  readonly options: string
}

/** Reads `container` of a job: an image, or a map. Throws FileFault. */
export function readJobContainer(job: YamlValue): ContainerFile | undefined {
  const container = fieldOf(job, 'container')
  return container === undefined ? undefined : readContainer(container)
}

/** Name of a service, by which it is reached. */
const SERVICE_NAME = /^[A-Za-z_][\w-]{0,62}$/

/** Reads `services` of a job, by their names. Throws FileFault. */
export function readServices(job: YamlValue): ReadonlyMap<string, ContainerFile> {
  const services = fieldOf(job, 'services')
  const entries = [...(services?.map() ?? [])]
  for (const [name, service] of entries) {
    if (!SERVICE_NAME.test(name)) {
      service.fail('has a name that is not 1 to 63 letters, digits, hyphens and underscores')
    }
  }
  return new Map(entries.map(([name, service]) => [name, readContainer(service)]))
}

const KEYS = ['image', 'credentials', 'env', 'ports', 'volumes', 'options']

function readContainer(value: YamlValue): ContainerFile {
  const plain = { credentials: {}, env: {}, ports: [], volumes: [], options: '' }
  if (!value.isMap) return { ...plain, title: value.name, image: value.text() }
  const unknown = [...value.map().keys()].find((key) => !KEYS.includes(key))
  if (unknown !== undefined) value.fail(`has the key '${unknown}', which is not one of ${KEYS}`)
  const image = value.map().get('image') ?? value.fail("has no 'image'")
  return {
    title: value.name,
    image: image.isNull ? '' : image.text(),
    credentials: textsOf(value, 'credentials'),
    env: textsOf(value, 'env'),
    ports: fieldOf(value, 'ports')?.texts() ?? [],
    volumes: fieldOf(value, 'volumes')?.texts() ?? [],
    options: fieldOf(value, 'options')?.text() ?? '',
  }
}
