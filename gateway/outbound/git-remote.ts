/** Addresses of repositories elsewhere, as users name them, and what git is told of them. */

import { isIP } from 'node:net'
import type { Git } from '../../cgi/process/git.js'
import { canPinAddresses, type Remote, type RemoteBounds } from '../../cgi/transfer/remote.js'
import { Failure, isFailure } from '../../conf/failures.js'
import { decodePercent } from '../../conf/http.js'
import type { Settings } from '../../conf/settings.js'
import { resolveOutbound, UnresolvedHost } from './address.js'

export interface CloneAddress {
  /** Without credentials. */
  readonly url: URL
  /** From the address itself; empty where it has none. */
  readonly username: string
  readonly password: string
}

const URL_BYTES_MAX = 2_048
const LOCAL_MESSAGE = 'You are not allowed to import local repositories.'
const FORM_MESSAGE = 'The clone address must be a URL of http or https, without a query.'
const DISALLOWED_MESSAGE = 'You can not import from disallowed hosts.'

/** Reads an address. Throws `invalid`, and never says what it read: there may be a secret in it. */
export function parseCloneAddress(text: string): CloneAddress {
  if (/^(?:file:|[./~\\]|[a-z]:[\\/])/i.test(text)) throw new Failure('invalid', LOCAL_MESSAGE)
  // What a parser of URLs would quietly drop, mend or take for a part of another kind.
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

/** The value of `Authorization` for a name and a password or token; none where both are empty. */
export function basicAuthorization(username: string, password: string): string | undefined {
  if (username === '' && password === '') return undefined
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
}

/** What each call of a source is bounded by. */
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
 * What git may be told to call, checked now: a name may lead elsewhere than it did yesterday.
 * Throws `invalid` if the host does not resolve or is not allowed, and `bad_gateway` if the
 * resolver fails for the moment.
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
      `${DISALLOWED_MESSAGE} Git is older than 2.37 here: names must stand in outbound.allow.`,
    )
  }
  return { url, addresses, authorization }
}
