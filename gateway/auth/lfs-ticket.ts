/**
 * Tickets of Git LFS: the server gives them to clients, which send them with each object. A ticket
 * encloses the credentials of its holder, encrypted, and is valid for one repository only.
 */

import { Failure } from '../../conf/failures.js'
import { type InstanceSecret, openInstanceSecret } from '../../conf/instance-secret.js'
import {
  type AuthenticationContext,
  type AuthenticationOptions,
  authenticate,
  type Credentialed,
  type Identity,
  type TicketUse,
  ticketUseOf,
} from './authenticate.js'
import { authenticateKey } from './authenticate-key.js'
import { readCredentials } from './credentials.js'

/** Credentials that a ticket encloses; they are verified again with each request. */
type Enclosed =
  /** Value of the header Authorization. */
  | { readonly header: string }
  /** Fingerprint of an SSH key. */
  | { readonly key: string }

interface LfsTicket extends TicketUse {
  readonly enclosed: Enclosed
}

/** Time for which a ticket is valid. */
const VALID_MS = 3_600_000

const PREFIX = 'lfs_'
const WORDS = 'tickets of Git LFS'

export interface LfsHeader {
  /** Value of the header Authorization. */
  readonly value: string
  readonly expiresAtMs: number
}

/** Returns the header that presents a new ticket. */
export async function makeLfsTicket(
  { settings }: Pick<AuthenticationContext, 'settings'>,
  ticket: Omit<LfsTicket, 'expiresAtMs'>,
): Promise<LfsHeader> {
  const secret = await openInstanceSecret(settings.data.dir)
  const expiresAtMs = Date.now() + VALID_MS
  const sealed = secret.seal(JSON.stringify({ ...ticket, expiresAtMs }), WORDS)
  return { value: `Bearer ${PREFIX}${Buffer.from(sealed).toString('base64url')}`, expiresAtMs }
}

/**
 * Returns the header for the objects of a request: the ticket that the client has sent, because a
 * ticket must not outlive its time by making others, or a new one with the client's credentials.
 * Returns undefined if the client has sent none.
 */
export async function lfsHeaderFor(
  context: Pick<AuthenticationContext, 'settings'>,
  request: Pick<Credentialed, 'headers'>,
  { who, ...use }: Omit<TicketUse, 'expiresAtMs'> & { readonly who: Identity },
): Promise<LfsHeader | undefined> {
  const header = request.headers.get('authorization')
  if (header === undefined) return undefined
  const ticket = ticketUseOf(who)
  if (ticket !== undefined) return { value: header, expiresAtMs: ticket.expiresAtMs }
  return await makeLfsTicket(context, { ...use, enclosed: { header } })
}

/**
 * Returns the caller of a request with a ticket, or with the credentials that git sends. Throws
 * `bad_credentials` for a ticket that is forged, damaged or out of date, or whose key was removed.
 */
export async function authenticateLfs(
  context: AuthenticationContext,
  request: Credentialed,
  options: AuthenticationOptions,
): Promise<Identity> {
  const credentials = readCredentials(request.headers.get('authorization'))
  if (credentials.kind !== 'token' || !credentials.token.startsWith(PREFIX)) {
    return await authenticate(context, request, options)
  }
  const secret = await openInstanceSecret(context.settings.data.dir)
  const ticket = openTicket(secret, credentials.token, Date.now())
  if (ticket === undefined) throw refusal()
  const { enclosed, ...use } = ticket
  const who = await holderOf(context, enclosed, { request, options })
  if (who?.kind !== 'user' && who?.kind !== 'deploy-key' && who?.kind !== 'job') throw refusal()
  return { ...who, ticket: use }
}

async function holderOf(
  context: AuthenticationContext,
  enclosed: Enclosed,
  {
    request: { query, address },
    options,
  }: {
    readonly request: Credentialed
    readonly options: AuthenticationOptions
  },
): Promise<Identity | undefined> {
  if ('key' in enclosed) return (await authenticateKey(context.db, enclosed.key))?.who
  const headers = new Map([['authorization', enclosed.header]])
  return await authenticate(context, { query, address, headers }, options)
}

function openTicket(
  secret: Pick<InstanceSecret, 'unseal'>,
  text: string,
  nowMs: number,
): LfsTicket | undefined {
  try {
    const sealed = Buffer.from(text.slice(PREFIX.length), 'base64url').toString()
    const ticket: LfsTicket = JSON.parse(secret.unseal(sealed, WORDS))
    return nowMs < ticket.expiresAtMs ? ticket : undefined
  } catch {
    return undefined
  }
}

function refusal(): Failure {
  return new Failure(
    'bad_credentials',
    'The ticket for Git LFS is not valid, or is no longer valid: repeat the command.',
  )
}
