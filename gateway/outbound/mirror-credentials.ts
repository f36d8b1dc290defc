/** The credentials of mirrors, sealed: a database alone gives none of them away. */

import { openInstanceSecret } from '../../conf/instance-secret.js'

/** Whose they are: a mirror's storage key, and the folder with the secret of this instance. */
export interface CredentialsPlace {
  readonly dataDir: string
  readonly storage: string
}

/** What can be opened for the same repository alone; nothing of nothing. */
export async function sealCredentials(
  place: CredentialsPlace,
  authorization: string | undefined,
): Promise<string | undefined> {
  if (authorization === undefined) return undefined
  return (await openInstanceSecret(place.dataDir)).seal(authorization, wordsOf(place))
}

/** Throws an Error when it was sealed for another repository, or elsewhere. */
export async function unsealCredentials(
  place: CredentialsPlace,
  sealed: string | undefined,
): Promise<string | undefined> {
  if (sealed === undefined) return undefined
  return (await openInstanceSecret(place.dataDir)).unseal(sealed, wordsOf(place))
}

function wordsOf({ storage }: CredentialsPlace): string {
  return `credentials of the mirror ${storage}`
}
