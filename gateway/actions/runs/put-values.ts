/** Validation of secrets and variables of workflows. Secrets are sealed before they are stored. */

import { Failure } from '../../../conf/failures.js'
import { openInstanceSecret } from '../../../conf/instance-secret.js'
import { SEAL_CONTEXTS } from '../../../conf/seal-contexts.js'
import {
  type NewValue,
  putValue,
  scopeKey,
  type ValueName,
  type ValueScope,
} from '../../../sql/runs/scoped-values.js'
import type { Context } from '../../request/context.js'

const VALUE_BYTES_MAX = 65_536
const DESCRIPTION_CHARACTERS_MAX = 4_096

/** A secret or variable as a client sends it. */
export interface SentValue {
  readonly name: string
  readonly value: string
  readonly description: string | undefined
}

/**
 * Returns a name in upper case. Throws `bad_request` if it has other characters than letters,
 * digits and underscores, or if it is reserved.
 */
export function readValueName(text: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,254}$/.test(text)) {
    throw new Failure('bad_request', INVALID_NAME)
  }
  const name = text.toUpperCase()
  if (name === 'CI' || /^(?:GITEA|GITHUB|FORGEJO)_/.test(name)) {
    throw new Failure('bad_request', `The name '${name}' is reserved. ${RESERVED_NAMES}`)
  }
  return name
}

const INVALID_NAME =
  'The name must have 1 to 255 letters, digits and underscores, and not begin with a digit.'
const RESERVED_NAMES =
  'CI and names that begin with GITEA_, GITHUB_ or FORGEJO_ are set by runners themselves.'

/** Validates a variable. Line ends become LF. Throws `bad_request`. */
export function readValue({ name, value, description = '' }: SentValue): NewValue {
  const text = value.replaceAll('\r\n', '\n')
  const bytes = Buffer.byteLength(text)
  if (bytes > VALUE_BYTES_MAX) {
    throw new Failure('bad_request', `The value is longer than ${VALUE_BYTES_MAX} bytes.`)
  }
  if (description.length > DESCRIPTION_CHARACTERS_MAX) {
    const limit = `The description is longer than ${DESCRIPTION_CHARACTERS_MAX} characters.`
    throw new Failure('bad_request', limit)
  }
  return { name: readValueName(name), value: text, bytes, description }
}

/** Creates or replaces a secret. Returns true if it is new. Throws `bad_request`. */
export async function putSecret(
  { db, settings }: Pick<Context, 'db' | 'settings'>,
  scope: ValueScope,
  sent: SentValue,
): Promise<boolean> {
  const secret = readValue(sent)
  if (secret.value === '') throw new Failure('bad_request', 'The value of the secret is empty.')
  const sealing = await openInstanceSecret(settings.data.dir)
  const value = sealing.seal(secret.value, secretSealContext({ scope, name: secret.name }))
  return await putValue(db, 'secrets', { ...secret, scope, value })
}

/** Returns the context of a seal: a sealed text that is moved to another row does not open. */
export function secretSealContext({ scope, name }: ValueName): string {
  return SEAL_CONTEXTS.workflowSecret(scopeKey(scope), name)
}
