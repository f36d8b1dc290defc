/** Names of container images. */

import { JobFault } from './job-fault.js'

/** An image in a registry. */
export interface ContainerImage {
  /** Complete name, such as `docker.io/library/debian:12`. It begins with a letter or digit. */
  readonly name: string
  readonly registry: string
}

const LENGTH_MAX = 512
const PART = '[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*'
const LABEL = '[A-Za-z0-9][A-Za-z0-9-]*'
const HOST = `(?:localhost|${LABEL}(?:\\.${LABEL})+|${LABEL}(?=:\\d))(?::\\d{1,5})?`
const TAG = '(?::\\w[\\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?'
const IMAGE = new RegExp(`^(?:(${HOST})/)?(${PART}(?:/${PART})*)(${TAG})$`)

/**
 * Parses the name of an image. A name without a registry is one of docker.io, as on GitHub, so that
 * the configuration of the machine has no influence. Throws JobFault.
 */
export function parseImage(text: string): ContainerImage {
  const short = text.replace(/^docker:\/\//, '')
  const [, registry, path, tag] = (short.length <= LENGTH_MAX && IMAGE.exec(short)) || []
  if (path === undefined) {
    throw new JobFault(`the image '${text}' is not a name such as debian:12 or HOST/OWNER/NAME:TAG`)
  }
  if (registry !== undefined) return { name: short, registry }
  const folder = path.includes('/') ? '' : 'library/'
  return { name: `docker.io/${folder}${path}${tag}`, registry: 'docker.io' }
}
