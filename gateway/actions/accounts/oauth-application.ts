/** Registration of OAuth applications, and changes of them. */

import { randomUUID } from 'node:crypto'
import { parseTitle } from '../../../conf/names.js'
import {
  createApplication,
  findApplication,
  type OauthApplication,
  updateApplication,
} from '../../../sql/accounts/oauth-applications.js'
import type { Database } from '../../../sql/database/database.js'
import { newOauthSecret } from '../../auth/oauth-secret.js'
import { checkRedirectAddresses } from '../../auth/redirect-address.js'
import { hashToken } from '../../auth/token.js'

export interface ApplicationInput
  extends Pick<OauthApplication, 'name' | 'isConfidential' | 'skipsSecondConsent'> {
  readonly redirectUris: readonly string[]
}

export interface TrustedApplication {
  readonly application: OauthApplication
  /** Plain secret, which is shown once; empty for a public application, which has none. */
  readonly secret: string
}

/** Creates an application. Throws `invalid` for its name, `bad_request` for its addresses. */
export async function makeApplication(
  db: Database,
  ownerId: number,
  input: ApplicationInput,
): Promise<TrustedApplication> {
  const { secret, fields } = fieldsOf(input)
  const clientId = randomUUID()
  return { application: await createApplication(db, { ownerId, clientId, ...fields }), secret }
}

/**
 * Changes an application and replaces its secret. Undefined if the owner has no application with
 * that id. Throws as `makeApplication` does.
 */
export async function changeApplication(
  db: Database,
  place: { readonly ownerId: number; readonly id: number },
  input: ApplicationInput,
): Promise<TrustedApplication | undefined> {
  const { secret, fields } = fieldsOf(input)
  await updateApplication(db, place, fields)
  const application = await findApplication(db, place.ownerId, place.id)
  return application && { application, secret }
}

function fieldsOf({ redirectUris, ...input }: ApplicationInput) {
  parseTitle(input.name)
  const secret = input.isConfidential ? newOauthSecret('client') : ''
  const secretHash = secret === '' ? undefined : hashToken(secret)
  return {
    secret,
    fields: { ...input, redirectUris: checkRedirectAddresses(redirectUris), secretHash },
  }
}
