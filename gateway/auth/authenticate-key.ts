/** Says who signs in over SSH, from the fingerprint of a key; whether they may is the gate's. */

import type { Log } from '../../conf/log.js'
import { findKeyByFingerprint, touchKey } from '../../sql/accounts/keys.js'
import type { Database } from '../../sql/database/database.js'
import { canSignIn, type Identity, wasRecordedRecently } from './authenticate.js'

/** Whoever holds the private half of a key that the house knows. */
export interface KeyHolder {
  readonly who: Extract<Identity, { by: 'ssh-key' } | { kind: 'deploy-key' }>
  /** As it was asked for. */
  readonly fingerprint: string
  readonly keyId: number
  /** The user's own, or `deploy key`, which no user can be called. */
  readonly name: string
  readonly lastUsedAtMs: number | undefined
}

/**
 * Who holds the key of that fingerprint (`SHA256:…`); undefined when the house does not know it or
 * its user may not sign in. That a key was asked for proves nothing: clients offer those of others
 * too, and sshd asks before it has checked a signature.
 */
export async function authenticateKey(
  db: Database,
  fingerprint: string,
): Promise<KeyHolder | undefined> {
  const key = await findKeyByFingerprint(db, fingerprint)
  if (key === undefined) return undefined
  const { id: keyId, user, lastUsedAtMs } = key
  const common = { fingerprint, keyId, lastUsedAtMs }
  if (user === undefined) {
    return { who: { kind: 'deploy-key', keyId }, name: 'deploy key', ...common }
  }
  if (!canSignIn(user)) return undefined
  const who = { kind: 'user', user, by: 'ssh-key', scopes: undefined } as const
  return { who, name: user.name, ...common }
}

/** Notes that the key has been used, once sshd has let its holder in. */
export function recordKeyUse(
  { db, log }: { readonly db: Database; readonly log: Log },
  { keyId, lastUsedAtMs }: KeyHolder,
): void {
  const now = Date.now()
  if (wasRecordedRecently(lastUsedAtMs, now)) return
  touchKey(db, keyId, now).catch((error: unknown) => {
    log.warn({ error, keyId }, 'the last use of an SSH key was not recorded')
  })
}
