/** Addition and verification of the OpenPGP keys of a user. */

import { createHash } from 'node:crypto'
import { Failure, notFound } from '../../../conf/failures.js'
import { listEmails } from '../../../sql/accounts/emails.js'
import {
  addGpgKey,
  type GpgKey,
  listGpgKeysOf,
  setGpgKeyVerified,
} from '../../../sql/accounts/gpg-keys.js'
import type { User } from '../../../sql/accounts/users.js'
import type { Context } from '../../request/context.js'

export interface SentGpgKey {
  readonly armoredKey: string
  /** Signature of the token, which proves that the user has the private key; may be empty. */
  readonly armoredSignature: string
}

/**
 * Adds a key to a user. Throws `invalid` for a malformed or taken key and for a signature that does
 * not match, and `not_found` without a signature if the key has none of the user's addresses.
 */
export async function addSentGpgKey(
  context: Context,
  user: User,
  { armoredKey, armoredSignature }: SentGpgKey,
): Promise<GpgKey> {
  const key = await context.openpgp.readKey(armoredKey, user.id)
  const { fingerprint, content, ...details } = key
  const isVerified = armoredSignature !== ''
  if (isVerified) await checkToken(context, user, { content, armoredSignature })
  else {
    const own = await verifiedAddresses(context, user)
    if (!details.emails.some((email) => own.has(email))) {
      throw new Failure(
        'not_found',
        'None of the emails attached to the GPG key could be found. It may still be added if you ' +
          `provide a valid signature for the token: ${gpgToken(user)}`,
      )
    }
  }
  return await addGpgKey(context.db, { userId: user.id, fingerprint, content, details, isVerified })
}

/** Returns the verified addresses of a user in lower case. */
export async function verifiedAddresses(
  { db }: Pick<Context, 'db'>,
  user: User,
): Promise<ReadonlySet<string>> {
  const emails = await listEmails(db, user.id)
  return new Set(
    emails.filter(({ isVerified }) => isVerified).map(({ address }) => address.toLowerCase()),
  )
}

/**
 * Records that the user has the private key. Throws `not_found` if the user has no key with this
 * id, and `invalid` if the signature of the token does not match.
 */
export async function proveGpgKey(
  context: Context,
  user: User,
  sent: { readonly keyId: string; readonly armoredSignature: string },
): Promise<GpgKey> {
  const keyId = sent.keyId.toUpperCase().padStart(16, '0')
  const keys = await listGpgKeysOf(context.db, [user.id])
  const key = keys.find(({ details }) => details.keyId === keyId)
  if (key === undefined) throw notFound()
  const { armoredSignature } = sent
  await checkToken(context, user, { content: key.content, armoredSignature })
  await setGpgKeyVerified(context.db, key.id)
  return { ...key, isVerified: true }
}

const MINUTE_MS = 60_000

/** Returns the text that a user signs to prove a key: it is valid for this and the next minute. */
export function gpgToken(user: User, nowMs = Date.now()): string {
  const minute = Math.floor(nowMs / MINUTE_MS)
  const facts = [minute, user.id, user.name, user.createdAtMs]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex')
}

/** Ends of the token as shells write it. */
const LINE_ENDS = ['', '\n', '\r\n']

async function checkToken(
  context: Context,
  user: User,
  { content, armoredSignature }: { readonly content: string; readonly armoredSignature: string },
): Promise<void> {
  const tokens = [gpgToken(user), gpgToken(user, Date.now() - MINUTE_MS)]
  const texts = tokens.flatMap((token) => LINE_ENDS.map((end) => token + end))
  const signatures = texts.map((text) => ({
    armored: armoredSignature,
    payload: Buffer.from(text),
  }))
  const verdicts = await context.openpgp.verifyText({ keys: [content], signatures }, user.id)
  if (verdicts.some(({ kind }) => kind === 'good')) return
  throw new Failure(
    'invalid',
    'The provided GPG key, signature and token do not match or token is out of date. Provide a ' +
      `valid signature for the token: ${tokens[0]}`,
  )
}
