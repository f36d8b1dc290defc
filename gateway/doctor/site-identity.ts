/**
 * Identity of a site: the fingerprint of its secret.key, which is also in its database. A start
 * with the folder or the port of another site is refused.
 */

import { addressOf, type HostPort } from '../../conf/field.js'
import { parseHostSet } from '../../conf/host-set.js'
import { findInstanceSecret, openInstanceSecret, secretPath } from '../../conf/instance-secret.js'
import { addSecretFingerprint, findSecretFingerprint } from '../../sql/admin/site.js'
import type { Database } from '../../sql/database/database.js'
import { countListeners } from '../http/port-listeners.js'
import { callOutbound } from '../outbound/client.js'

/** Header of `/livez` with the fingerprint. */
export const SITE_HEADER = 'Gatehouse-Site'

const ANSWER_MS = 2_000

/**
 * Returns the fingerprint of the data folder's secret, which is created for a new site. Throws an
 * Error for the user if the values in the database are sealed with another secret.
 */
export async function claimSecret(db: Database, dataDir: string): Promise<string> {
  if ((await findSecretFingerprint(db)) === undefined) {
    await addSecretFingerprint(db, (await openInstanceSecret(dataDir)).fingerprint)
  }
  await refuseOtherSecret(db, dataDir)
  return (await openInstanceSecret(dataDir)).fingerprint
}

/** Throws an Error for the user if the data folder lacks the secret of the database's values. */
export async function refuseOtherSecret(db: Database, dataDir: string): Promise<void> {
  const known = await findSecretFingerprint(db)
  const secret = await findInstanceSecret(dataDir)
  if (known === undefined || secret?.fingerprint === known) return
  const problem = secret === undefined ? 'is missing' : 'is of another site'
  throw new Error(
    `${secretPath(dataDir)} ${problem}, and the database has values that can be read with its own secret.key only (keys, credentials, second factors): restore the file from a backup, or correct data.dir or database.url`,
  )
}

/**
 * Throws an Error for the user if a Gatehouse of another site listens on a port of `http.listen`:
 * the kernel would divide the connections between both. A gateway of the same site is permitted;
 * both serve until the earlier one is stopped. Other programs do not share a port, so that
 * listening fails.
 */
export async function refuseOtherSite(addresses: readonly HostPort[], fingerprint: string) {
  for (const address of addresses) {
    const { port } = address
    if ((await countListeners(port)) === 0) continue
    const other = (await askForSite('http', address)) ?? (await askForSite('https', address))
    if (other === undefined || other === fingerprint) continue
    throw new Error(
      `a Gatehouse with another data folder listens on port ${port}: stop it, or choose another port with http.listen`,
    )
  }
}

/** Returns the fingerprint of the gateway that listens; undefined if no gateway answers. */
async function askForSite(scheme: string, address: HostPort): Promise<string | undefined> {
  try {
    const { headers } = await callOutbound({
      url: new URL(`${scheme}://${addressOf(address)}/livez`),
      acceptsAnyCertificate: true,
      // The address is that of this program's own listener.
      allowPrivate: parseHostSet([address.host]),
      timeoutMs: ANSWER_MS,
      answerBytesMax: 0,
    })
    return headers[SITE_HEADER.toLowerCase()]
  } catch {
    return undefined
  }
}
