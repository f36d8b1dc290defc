/** The setting `http.sendfile`: how a proxy is asked to send a file. */

/** Prefix of the location of nginx that has the data folder, such as `/-/internal/`. */
export interface SendfileTarget {
  readonly prefix: string
}

/** Parses `nginx:/PREFIX/`. */
export function asSendfileTarget(value: unknown): SendfileTarget {
  const match = typeof value === 'string' ? /^nginx:(\/[\w./-]*)$/.exec(value) : null
  const prefix = match?.[1]
  if (prefix?.endsWith('/') && prefix !== '/' && !/\/\.{0,2}\//.test(prefix)) return { prefix }
  throw new Error("must be 'nginx:' and the path of an internal location, as 'nginx:/-/internal/'")
}
