/**
 * Tickets of Git LFS: the server gives them to clients, which send them with each object. A ticket
 * encloses the credentials of its holder, encrypted, and is valid for one repository only.
 */

import { LRUCache } from 'lru-cache'
import { Failure } from '../../conf/failures.js'
import { openInstanceSecret } from '../../conf/instance-secret.js'
import { type Awaitable, after } from '../../conf/lib/awaitable.js'
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
export function authenticateLfs(
  context: AuthenticationContext,
  request: Credentialed,
  options: AuthenticationOptions,
): Awaitable<Identity> {
  const credentials = readCredentials(request.headers.get('authorization'))
  if (credentials.kind !== 'token' || !credentials.token.startsWith(PREFIX)) {
    return authenticate(context, request, options)
  }
  return after(openTicket(context.settings.data.dir, credentials.token), (ticket) => {
    if (ticket === undefined || ticket.expiresAtMs <= Date.now()) throw refusal()
    const { enclosed, ...use } = ticket
    return after(holderOf(context, enclosed, { request, options }), (who) => {
      if (who?.kind !== 'user' && who?.kind !== 'deploy-key' && who?.kind !== 'job') throw refusal()
      return { ...who, ticket: use }
    })
  })
}

function holderOf(
  context: AuthenticationContext,
  enclosed: Enclosed,
  {
    request: { query, address },
    options,
  }: {
    readonly request: Credentialed
    readonly options: AuthenticationOptions
  },
): Awaitable<Identity | undefined> {
  if ('key' in enclosed) return authenticateKey(context.db, enclosed.key).then((key) => key?.who)
  const headers = new Map([['authorization', enclosed.header]])
  return authenticate(context, { query, address, headers }, options)
}

/** Opened tickets by data folder and text, because a client sends one with each of its objects. */
const OPENED = new LRUCache<string, LfsTicket>({ max: 1_000 })

/** Opens a ticket, also one that is out of date; undefined if it is forged or damaged. */
function openTicket(dataDir: string, text: string): Awaitable<LfsTicket | undefined> {
  const key = JSON.stringify([dataDir, text])
  return OPENED.get(key) ?? openNewTicket(key, { dataDir, text })
}

async function openNewTicket(
  key: string,
  { dataDir, text }: { readonly dataDir: string; readonly text: string },
): Promise<LfsTicket | undefined> {
  const secret = await openInstanceSecret(dataDir)
  try {
    const sealed = Buffer.from(text.slice(PREFIX.length), 'base64url').toString()
    const ticket: LfsTicket = JSON.parse(secret.unseal(sealed, WORDS))
    OPENED.set(key, ticket)
    return ticket
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
