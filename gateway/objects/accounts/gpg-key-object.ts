/** The GPGKey of this API, and the bodies that add and verify one. */

import { type Static, Type } from 'typebox'
import type { OpenpgpKeyPart } from '../../../conf/openpgp-key.js'
import type { GpgKey } from '../../../sql/accounts/gpg-keys.js'
import { nullable } from '../schema.js'
import { apiTime, ZERO_TIME } from '../times.js'

const ARMORED = { maxLength: 131_072 }

export const CREATE_GPG_KEY_OPTION = Type.Object(
  {
    armored_public_key: Type.String({
      ...ARMORED,
      minLength: 1,
      description: 'An armored GPG key to add',
    }),
    armored_signature: Type.Optional(
      Type.String({ ...ARMORED, description: 'An optional armored signature for the GPG key' }),
    ),
  },
  { $id: 'CreateGPGKeyOption' },
)

export const VERIFY_GPG_KEY_OPTION = Type.Object(
  {
    key_id: Type.String({
      minLength: 1,
      maxLength: 16,
      description: 'An Signature for a GPG key token',
    }),
    armored_signature: Type.String({
      ...ARMORED,
      description: 'The armored signature to verify the GPG key',
    }),
  },
  { $id: 'VerifyGPGKeyOption' },
)

const GPG_KEY_EMAIL = Type.Object(
  { email: Type.String(), verified: Type.Boolean() },
  { $id: 'GPGKeyEmail' },
)

const PART = {
  id: Type.Integer(),
  primary_key_id: Type.String(),
  key_id: Type.String(),
  public_key: Type.String(),
  emails: nullable(Type.Array(GPG_KEY_EMAIL)),
  can_sign: Type.Boolean(),
  can_encrypt_comms: Type.Boolean(),
  can_encrypt_storage: Type.Boolean(),
  can_certify: Type.Boolean(),
  verified: Type.Boolean(),
  created_at: Type.String({ format: 'date-time' }),
  expires_at: Type.String({ format: 'date-time' }),
}

export const GPG_KEY = Type.Object(
  { ...PART, subkeys: Type.Array(Type.Object({ ...PART, subkeys: Type.Null() })) },
  { $id: 'GPGKey' },
)

/** Returns a key. `ownAddresses` are the verified addresses of its user, in lower case. */
export function gpgKeyObject(
  key: GpgKey,
  ownAddresses: ReadonlySet<string>,
): Static<typeof GPG_KEY> {
  const { details } = key
  const own = details.emails.filter((email) => ownAddresses.has(email))
  return {
    ...partObject(key, details),
    primary_key_id: '',
    emails: own.map((email) => ({ email, verified: true })),
    subkeys: details.subkeys.map((part) => ({
      ...partObject(key, part),
      primary_key_id: details.keyId,
      emails: null,
      subkeys: null,
    })),
  }
}

function partObject({ id, isVerified }: GpgKey, part: OpenpgpKeyPart) {
  return {
    id,
    key_id: part.keyId,
    public_key: part.packet,
    can_sign: part.canSign,
    can_encrypt_comms: part.canEncrypt,
    can_encrypt_storage: part.canEncrypt,
    can_certify: part.canSign,
    verified: isVerified,
    created_at: apiTime(part.createdAtMs),
    expires_at: part.expiresAtMs === undefined ? ZERO_TIME : apiTime(part.expiresAtMs),
  }
}
