/** The `Link` header (RFC 8288), in the narrow form that Swift's client reads. */

import type { Reply } from '../../conf/http.js'

export interface Link {
  readonly url: string
  readonly rel: string
  /** Further parameters, whose values hold neither quotes nor `=`, `;` and commas. */
  readonly parameters?: Readonly<Record<string, string>>
}

/** None for no links. One whose address the client would take for the end of it is left out. */
export function linkHeaders(links: readonly Link[]): NonNullable<Reply['headers']> {
  const written = links.flatMap(({ url, rel, parameters = {} }) => {
    if (!/^[\x21-\x7e]+$/.test(url) || /[<>",;]/.test(url)) return []
    const pairs = Object.entries({ rel, ...parameters }).map(
      ([name, value]) => `${name}="${value}"`,
    )
    return [[`<${url}>`, ...pairs].join('; ')]
  })
  return written.length === 0 ? [] : [['Link', written.join(', ')]]
}
