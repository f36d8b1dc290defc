/** Authentication over SSH, by the fingerprint of a key. Authorization is in authorize.ts. */

import type { Log } from '../../conf/log.js'
import { findKeyByFingerprint, touchKey } from '../../sql/accounts/keys.js'
import type { Database } from '../../sql/database/database.js'
import { canSignIn, type Identity, wasRecordedRecently } from './authenticate.js'

/** Owner of a registered key. */
export interface KeyHolder {
  readonly who: Extract<Identity, { by: 'ssh-key' } | { kind: 'deploy-key' }>
  /** Fingerprint of the query. */
  readonly fingerprint: string
  readonly keyId: number
  /** Name of the user, or `deploy key`, which is not a valid user name. */
  readonly name: string
  readonly lastUsedAtMs: number | undefined
}

/**
 * Returns the owner of the key with that fingerprint (`SHA256:…`), or undefined if the key is not
 * registered or its user may not sign in. The result does not prove that the client has the private
 * key: clients also offer keys of others, and sshd queries before it has verified a signature.
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

/** Records the use of a key, after sshd has verified the client's signature. */
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
