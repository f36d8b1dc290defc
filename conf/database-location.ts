/** The setting for the database that holds the metadata: an SQLite file or a MySQL server. */

import { resolve } from 'node:path'
import { asText } from './field.js'

export type DatabaseLocation =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'mysql'; readonly url: URL }

/** Parameter of the URL with the path of a local server's socket. */
const SOCKET_PARAMETER = 'socket'

/** Parses `sqlite:PATH` or `mysql://…`. Throws an Error that names the accepted forms. */
export function asDatabaseLocation(value: unknown): DatabaseLocation {
  const text = asText(value)
  if (text.startsWith('sqlite:') && text.length > 'sqlite:'.length) {
    return { kind: 'sqlite', file: resolve(text.slice('sqlite:'.length)) }
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'mysql:' && url.pathname.length > 1 && url.hostname !== '') {
    checkParameters(url)
    return { kind: 'mysql', url }
  }
  throw new Error('must be sqlite:PATH or mysql://user:password@host:port/name')
}

/** Throws an Error if a parameter, such as one for encryption, would have no effect. */
function checkParameters(url: URL): void {
  const isKnown = [...url.searchParams.keys()].every((name) => name === SOCKET_PARAMETER)
  const paths = url.searchParams.getAll(SOCKET_PARAMETER)
  if (isKnown && paths.length <= 1 && paths.every((path) => path.startsWith('/'))) return
  throw new Error('of MySQL may have one parameter, ?socket= with the absolute path of a socket')
}

/** Returns the path of the server's socket, if the URL has one in place of host and port. */
export function socketPathOf(url: URL): string | undefined {
  return url.searchParams.get(SOCKET_PARAMETER) ?? undefined
}
