/** The `Link` header (RFC 8288), in the subset that Swift's client parses. */

import type { Reply } from '../../conf/http.js'

export interface Link {
  readonly url: string
  readonly rel: string
  /** Other parameters; their values must not contain quotes, `=`, `;` or commas. */
  readonly parameters?: Readonly<Record<string, string>>
}

/**
 * Returns the header with all links, or no header if there are none. A link is left out if its URL
 * has characters that the client would parse as delimiters.
 */
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
