/** Facts of an OpenPGP key, which are read from it once and stored. */

/** A primary key or subkey of OpenPGP. */
export interface OpenpgpKeyPart {
  /** The id (RFC 9580 §5.5.4.1), 8 bytes of the fingerprint, as upper-case hex. */
  readonly keyId: string
  /** The packet in base64. */
  readonly packet: string
  readonly createdAtMs: number
  /** Undefined if the key does not expire. */
  readonly expiresAtMs?: number | undefined
  /** True if the algorithm can sign. */
  readonly canSign: boolean
  /** True if the algorithm can encrypt. */
  readonly canEncrypt: boolean
}

export interface OpenpgpKeyFacts extends OpenpgpKeyPart {
  /** Addresses of the user ids that the key has certified and not revoked, in lower case. */
  readonly emails: readonly string[]
  readonly subkeys: readonly OpenpgpKeyPart[]
}
