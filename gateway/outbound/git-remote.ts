/** Addresses of repositories on other servers, as users enter them and as git gets them. */

import { isIP } from 'node:net'
import type { Git } from '../../cgi/process/git.js'
import { canPinAddresses, type Remote, type RemoteBounds } from '../../cgi/transfer/remote.js'
import { Failure, isFailure } from '../../conf/failures.js'
import { decodePercent } from '../../conf/http.js'
import type { Settings } from '../../conf/settings.js'
import { resolveOutbound, UnresolvedHost } from './address.js'

export interface CloneAddress {
  /** Address without credentials. */
  readonly url: URL
  /** User name in the address, or empty. */
  readonly username: string
  readonly password: string
}

const URL_BYTES_MAX = 2_048
const LOCAL_MESSAGE = 'You are not allowed to import local repositories.'
const FORM_MESSAGE = 'The clone address must be a URL of http or https, without a query.'
const DISALLOWED_MESSAGE = 'You can not import from disallowed hosts.'

/** Reads an address. Throws `invalid`, with a message that never contains text of the address. */
export function parseCloneAddress(text: string): CloneAddress {
  if (/^(?:file:|[./~\\]|[a-z]:[\\/])/i.test(text)) throw new Failure('invalid', LOCAL_MESSAGE)
  // A URL parser would silently drop, correct or reinterpret these characters.
  const isPlain = /^https?:\/\/[^/?#\\]/i.test(text) && !/[\u0000-\u0020\u007f\\?#]/.test(text)
  const hasControl = /%(?:[01][0-9a-f]|7f)/i.test(text)
  if (!isPlain || hasControl || Buffer.byteLength(text) > URL_BYTES_MAX || !URL.canParse(text)) {
    throw new Failure('invalid', FORM_MESSAGE)
  }
  const url = new URL(text)
  const [username, password] = [decodePercent(url.username), decodePercent(url.password)]
  url.username = ''
  url.password = ''
  url.hostname = url.hostname.replace(/\.$/, '')
  if (Buffer.byteLength(url.href) > URL_BYTES_MAX) throw new Failure('invalid', FORM_MESSAGE)
  return { url, username, password }
}

/** Returns the value of the header Authorization; undefined if name and password are empty. */
export function basicAuthorization(username: string, password: string): string | undefined {
  if (username === '' && password === '') return undefined
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** Returns the limits of each call to a source. */
export function boundsOf({
  migrations,
}: Settings): Pick<RemoteBounds, 'timeoutMs' | 'idleMs' | 'packBytesMax'> {
  const { timeoutMs, idleMs, packBytesMax } = migrations
  return { timeoutMs, idleMs, packBytesMax }
}

export interface RemoteInput {
  readonly url: URL
  readonly authorization: string | undefined
}

/**
 * Checks an address that git is to call, and returns it with its resolved addresses. Must be called
 * before each use, because a name may resolve differently later. Throws `invalid` if the host does
 * not resolve or is not allowed, and `bad_gateway` if the resolver fails for the moment.
 */
export async function resolveRemote(
  { settings, git }: { readonly settings: Settings; readonly git: Git },
  { url, authorization }: RemoteInput,
): Promise<Remote> {
  const { allow: allowPrivate } = settings.outbound
  const name = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const addresses = await resolveOutbound(name, { allowPrivate }).catch((error: unknown) => {
    if (!isFailure(error, 'invalid') || error instanceof UnresolvedHost) throw error
    throw new Failure('invalid', `${DISALLOWED_MESSAGE} ${error.message}`, { cause: error })
  })
  if (!canPinAddresses(git) && isIP(name) === 0 && !allowPrivate.hasName(name)) {
    throw new Failure(
      'invalid',
      `${DISALLOWED_MESSAGE} This server's git is older than 2.37: add the name to outbound.allow.`,
    )
  }
  return { url, addresses, authorization }
}
