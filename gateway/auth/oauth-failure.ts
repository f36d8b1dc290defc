/** Errors for OAuth clients, with the codes of RFC 6749 §4.1.2.1 and §5.2. */

import { Failure } from '../../conf/failures.js'

export type OauthError =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'invalid_scope'
  | 'access_denied'

/** Failure with the error code that clients read. */
export class OauthFailure extends Failure {
  readonly error: OauthError

  constructor(error: OauthError, message: string) {
    super(error === 'invalid_client' ? 'bad_credentials' : 'bad_request', message)
    this.error = error
  }
}
