/** Successful requests, one for each operation on OpenPGP keys. */

import { makeOpenpgpKey, openSigner } from '../../../registry/sign/openpgp.js'
import type { GatewayWithUsers } from '../gateway-with-users.js'

/** Sends the requests. Leaves no keys. */
export async function successesOfGpgKeys({ as, ask, authorizationOf }: GatewayWithUsers) {
  const key = await makeOpenpgpKey('Ada <ada@example.com>', 'ed25519')
  // Without the generated client, which does not return text.
  const authorization = authorizationOf('ada')
  const token = await ask({ path: '/api/v1/user/gpg_key_token', authorization })
  const signer = await openSigner([key], { atMs: Date.now() })
  const armored_signature = await signer.signDetached(token.text)
  const body = { armored_public_key: key.publicKey, armored_signature }
  const made = await as('ada', 'POST', '/user/gpg_keys', body)
  const { id, key_id } = made.json as { id: number; key_id: string }
  return {
    getVerificationToken: await as('ada', 'GET', '/user/gpg_key_token'),
    userCurrentPostGPGKey: made,
    userVerifyGPGKey: await as('ada', 'POST', '/user/gpg_key_verify', {
      key_id,
      armored_signature,
    }),
    userCurrentListGPGKeys: await as('ada', 'GET', '/user/gpg_keys'),
    userListGPGKeys: await as('ada', 'GET', '/users/ada/gpg_keys'),
    userCurrentGetGPGKey: await as('ada', 'GET', `/user/gpg_keys/${id}`),
    userCurrentDeleteGPGKey: await as('ada', 'DELETE', `/user/gpg_keys/${id}`),
  }
}
