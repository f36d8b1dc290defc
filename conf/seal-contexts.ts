/**
 * Contexts of sealed values: a value that is copied to another row or column does not open there.
 * Changing a text makes all values that were sealed with it unreadable.
 */

export const SEAL_CONTEXTS = {
  /** Private key that signs the ID tokens of OAuth. */
  idTokenKey: () => 'oauth id tokens',
  indexKey: (ownerId: number, format: string) => `signing-key ${ownerId} ${format}`,
  /** `storage` is the storage key of the repository. */
  mirrorCredentials: (storage: string) => `credentials of the mirror ${storage}`,
  secondFactor: (userId: number) => `second factor of the user ${userId}`,
  webhookAuthorization: () => 'webhook authorization',
  webhookSecret: () => 'webhook secret',
  /** `scope` is the text of `scopeKey`. */
  workflowSecret: (scope: string, name: string) => `workflow secret ${name} of ${scope}`,
} as const
