/** The PublicKey and the DeployKey of this API, and the body that adds a key. */

import { type Static, Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import { formatSshKey } from '../../../conf/ssh-key.js'
import type { UserKey } from '../../../sql/accounts/keys.js'
import type { User } from '../../../sql/accounts/users.js'
import type { DeployKey } from '../../../sql/repositories/deploy-keys.js'
import { KEY_TITLE_CHARACTERS_MAX } from '../../actions/accounts/read-key.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { API_PREFIX } from '../api-prefix.js'
import { REPOSITORY_OBJECT, repositoryObject } from '../repositories/repository-object.js'
import { apiTime, NEVER } from '../times.js'
import { USER_OBJECT, userObject } from './user-object.js'

export const CREATE_KEY_OPTION = Type.Object(
  {
    key: Type.String({ minLength: 1, description: 'An armored SSH key to add' }),
    read_only: Type.Optional(
      Type.Boolean({ description: 'Whether the key has only read access or read/write' }),
    ),
    title: Type.String({
      minLength: 1,
      maxLength: KEY_TITLE_CHARACTERS_MAX,
      description: 'Title of the key to add',
    }),
  },
  { $id: 'CreateKeyOption' },
)

export const FINGERPRINT_QUERY = {
  fingerprint: Type.Optional(Type.String({ description: 'fingerprint of the key' })),
}

/** Returns the requested fingerprint. Clients that do not encode its plus signs send blanks. */
export function fingerprintOf(query: { readonly fingerprint?: string }): string | undefined {
  return query.fingerprint?.replaceAll(' ', '+') || undefined
}

/** Returns the id in a path. Throws `not_found` if it is not an id. */
export function idOf(params: Readonly<Record<string, string>>): number {
  const text = params['id'] ?? ''
  if (!/^\d{1,15}$/.test(text)) throw notFound()
  return Number(text)
}

export const PUBLIC_KEY = Type.Object(
  {
    id: Type.Integer(),
    key: Type.String(),
    url: Type.String(),
    title: Type.String(),
    fingerprint: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
    last_used_at: Type.String({ format: 'date-time' }),
    user: Type.Optional(USER_OBJECT),
    key_type: Type.Optional(Type.String()),
  },
  { $id: 'PublicKey' },
)

export interface KeyView {
  /** User to whom the key belongs. */
  readonly owner: User
  readonly viewer: User
}

/**
 * Returns a user's key as `viewer` sees it. The key's comment, which often contains an e-mail
 * address, is shown only to its owner and to site administrators.
 */
export function publicKeyObject(
  context: Context,
  key: UserKey,
  { owner, viewer }: KeyView,
): Static<typeof PUBLIC_KEY> {
  const publicView = {
    id: key.id,
    key: formatSshKey({ ...key.key, comment: '' }),
    url: `${context.settings.http.baseUrl}${API_PREFIX}/user/keys/${key.id}`,
    title: key.title,
    fingerprint: key.key.fingerprint,
    created_at: apiTime(key.createdAtMs),
    last_used_at: NEVER,
  }
  if (viewer.id !== owner.id && !viewer.isAdmin) return publicView
  return {
    ...publicView,
    key: formatSshKey(key.key),
    last_used_at: key.lastUsedAtMs === undefined ? NEVER : apiTime(key.lastUsedAtMs),
    user: userObject(context, owner, viewer),
    key_type: 'user',
  }
}

export const DEPLOY_KEY = Type.Object(
  {
    id: Type.Integer(),
    key_id: Type.Integer(),
    key: Type.String(),
    url: Type.String(),
    title: Type.String(),
    fingerprint: Type.String(),
    created_at: Type.String({ format: 'date-time' }),
    read_only: Type.Boolean(),
    repository: REPOSITORY_OBJECT,
  },
  { $id: 'DeployKey' },
)

/** Returns a deploy key, for callers who can see the repository's deploy keys. */
export async function deployKeyObject(
  context: Context,
  key: DeployKey,
  { repository, mode }: Pick<Grants['repository'], 'repository' | 'mode'>,
): Promise<Static<typeof DEPLOY_KEY>> {
  const object = await repositoryObject(context, repository, mode)
  return {
    id: key.id,
    key_id: key.keyId,
    key: formatSshKey(key.key),
    url: `${object.url}/keys/${key.id}`,
    title: key.title,
    fingerprint: key.key.fingerprint,
    created_at: apiTime(key.createdAtMs),
    read_only: key.mode === 'read',
    repository: object,
  }
}
