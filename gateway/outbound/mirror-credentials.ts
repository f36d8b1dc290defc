/** Credentials of mirrors, which are sealed: a copy of the database does not reveal them. */

import { openInstanceSecret } from '../../conf/instance-secret.js'
import { SEAL_CONTEXTS } from '../../conf/seal-contexts.js'

/** Context of a mirror's credentials: its storage key, and the folder of the instance's secret. */
export interface CredentialsPlace {
  readonly dataDir: string
  readonly storage: string
}

/** Seals credentials so that only the same repository can unseal them; keeps undefined. */
export async function sealCredentials(
  place: CredentialsPlace,
  authorization: string | undefined,
): Promise<string | undefined> {
  if (authorization === undefined) return undefined
  return (await openInstanceSecret(place.dataDir)).seal(
    authorization,
    SEAL_CONTEXTS.mirrorCredentials(place.storage),
  )
}

/** Unseals credentials. Throws an Error if they were sealed for another repository or instance. */
export async function unsealCredentials(
  place: CredentialsPlace,
  sealed: string | undefined,
): Promise<string | undefined> {
  if (sealed === undefined) return undefined
  return (await openInstanceSecret(place.dataDir)).unseal(
    sealed,
    SEAL_CONTEXTS.mirrorCredentials(place.storage),
  )
}
