/** The place of an action, as `uses` of a step names it. */

import { isPlainRef } from './git-access.js'
import { JobFault } from './job-fault.js'

/** Folder of an action in the workspace. */
interface LocalPlace {
  readonly kind: 'local'
  readonly path: string
}

/** Folder of an action in a repository of the server. */
export interface SitePlace {
  readonly kind: 'site'
  /** Owner and name. */
  readonly repository: string
  /** Path in the repository, empty for its root. */
  readonly path: string
  /** Branch, tag or commit. */
  readonly ref: string
}

export type ActionPlace = LocalPlace | SitePlace

/** Owner or name of a repository, which is neither `.` nor `..`. */
const NAME = String.raw`(?!\.\.?(?:[/@]|$))[\w.-]+`
const SITE = new RegExp(`^(${NAME}/${NAME})((?:/[^/@\\s]+)*)@(\\S+)$`)

/**
 * Parses `uses`. An address must be one of the server, whose addresses are `servers`. Throws
 * JobFault.
 */
export function parseActionPlace(uses: string, servers: readonly string[]): ActionPlace {
  if (uses.startsWith('./')) return { kind: 'local', path: uses }
  if (uses.startsWith('docker://')) {
    throw new JobFault(`'${uses}' is not supported by this runner: only jobs have containers`)
  }
  const name = /^https?:\/\//i.test(uses) ? nameOnServer(uses, servers) : uses
  const [, repository, path, ref] = SITE.exec(name) ?? []
  if (repository === undefined || path === undefined || ref === undefined || !isPlainRef(ref)) {
    throw new JobFault(`'${uses}' is neither OWNER/NAME@REF, OWNER/NAME/PATH@REF nor ./PATH`)
  }
  return { kind: 'site', repository, path: path.slice(1), ref }
}

/** Returns the part behind the address of the server. Throws JobFault for another server. */
function nameOnServer(uses: string, servers: readonly string[]): string {
  const address = URL.parse(uses)?.href ?? ''
  for (const server of servers) {
    const base = `${URL.parse(server)?.href.replace(/\/+$/, '')}/`
    if (address.startsWith(base)) return address.slice(base.length)
  }
  throw new JobFault(`the action '${uses}' is on another server; ${MIRROR_ADVICE}`)
}

/** Advice for actions that the server does not have. */
export const MIRROR_ADVICE =
  'mirror its repository to this server and use OWNER/NAME@REF (docs/actions.md, "Actions")'
