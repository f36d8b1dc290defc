/** Parser of the header Authorization; it does not verify the credentials. */

export type Credentials =
  | { readonly kind: 'none' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'password'; readonly name: string; readonly password: string }

const NONE: Credentials = { kind: 'none' }
const MALFORMED: Credentials = { kind: 'malformed' }

/**
 * Reads `token T`, `Bearer T` and Basic (RFC 7617). In Basic, a token may be sent as the user name,
 * with an empty password or `x-oauth-basic`. A token in place of the password is returned as a
 * password, because a password may look like one.
 */
export function readCredentials(authorization: string | undefined): Credentials {
  if (authorization === undefined) return NONE
  const match = /^([A-Za-z]+) +(\S+)$/.exec(authorization.trim())
  const [, scheme = '', value = ''] = match ?? []
  switch (scheme.toLowerCase()) {
    case 'token':
    case 'bearer':
      return { kind: 'token', token: value }
    case 'basic':
      return readBasic(value)
    default:
      return MALFORMED
  }
}

function readBasic(encoded: string): Credentials {
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded)) return MALFORMED
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon < 0) return MALFORMED
  const name = text.slice(0, colon)
  const password = text.slice(colon + 1)
  if (password === '' || password === 'x-oauth-basic') return { kind: 'token', token: name }
  return { kind: 'password', name, password }
}
