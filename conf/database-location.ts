/** The setting for the database that holds the metadata: an SQLite file or a MySQL server. */

import { resolve } from 'node:path'
import { asText } from './field.js'

export type DatabaseLocation =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'mysql'; readonly url: URL }

/** Parses `sqlite:PATH` or `mysql://…`. Throws an Error that names the accepted forms. */
export function asDatabaseLocation(value: unknown): DatabaseLocation {
  const text = asText(value)
  if (text.startsWith('sqlite:') && text.length > 'sqlite:'.length) {
    return { kind: 'sqlite', file: resolve(text.slice('sqlite:'.length)) }
  }
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'mysql:' && url.pathname.length > 1 && url.hostname !== '') {
    return { kind: 'mysql', url }
  }
  throw new Error('must be sqlite:PATH or mysql://user:password@host:port/name')
}
