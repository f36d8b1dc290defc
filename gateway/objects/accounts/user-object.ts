/** The User of this API, with the fields of an account that a viewer can see. */

import { type Static, Type } from 'typebox'
import { countRelations } from '../../../sql/accounts/follows.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { User } from '../../../sql/accounts/users.js'
import { isVisible } from '../../auth/visible-owner.js'
import type { Context } from '../../request/context.js'
import { apiTime, NEVER } from '../times.js'
import { ownerAvatarUrl, shownEmail } from './avatar-address.js'

export const USER_OBJECT = Type.Object(
  {
    id: Type.Integer(),
    login: Type.String(),
    username: Type.String(),
    login_name: Type.String(),
    source_id: Type.Integer(),
    full_name: Type.String(),
    email: Type.String({ format: 'email' }),
    avatar_url: Type.String(),
    html_url: Type.String(),
    language: Type.String(),
    is_admin: Type.Boolean(),
    last_login: Type.String({ format: 'date-time' }),
    created: Type.String({ format: 'date-time' }),
    restricted: Type.Boolean(),
    active: Type.Boolean(),
    prohibit_login: Type.Boolean(),
    location: Type.String(),
    website: Type.String(),
    description: Type.String(),
    visibility: Type.String(),
    followers_count: Type.Integer(),
    following_count: Type.Integer(),
    starred_repos_count: Type.Integer(),
  },
  { $id: 'User' },
)

export type UserObject = Static<typeof USER_OBJECT>

/** Returns the public view of an owner: without the e-mail address and the state of the account. */
export function ownerObject(context: Context, owner: Owner): UserObject {
  const { baseUrl } = context.settings.http
  return {
    id: owner.id,
    login: owner.name,
    username: owner.name,
    login_name: '',
    source_id: 0,
    full_name: owner.fullName,
    email: shownEmail(context, owner),
    avatar_url: ownerAvatarUrl(context, owner),
    html_url: `${baseUrl}/${owner.name}`,
    language: '',
    is_admin: false,
    last_login: NEVER,
    created: apiTime(owner.createdAtMs),
    restricted: false,
    active: false,
    prohibit_login: false,
    location: owner.location,
    website: owner.website,
    description: owner.description,
    visibility: owner.visibility,
    followers_count: 0,
    following_count: 0,
    starred_repos_count: 0,
  }
}

/**
 * Returns the actor of an event or content as `viewer` sees them. An account that is deleted or
 * hidden is shown as Ghost.
 */
export function personObject(
  context: Context,
  person: Owner | undefined,
  viewer: User | undefined,
): UserObject {
  const isSeen = person !== undefined && isVisible(person, viewer)
  return ownerObject(context, isSeen ? person : GHOST)
}

/** Gitea's placeholder for a deleted account, which its clients know. */
const GHOST: Owner = {
  id: -1,
  kind: 'user',
  name: 'Ghost',
  fullName: '',
  description: '',
  website: '',
  location: '',
  visibility: 'public',
  avatarHash: undefined,
  createdAtMs: 0,
}

/** Returns a user as `viewer` sees it. Only the user and site administrators see all fields. */
export function userObject(context: Context, user: User, viewer: User | undefined): UserObject {
  const publicView = ownerObject(context, user)
  if (viewer === undefined || (viewer.id !== user.id && !viewer.isAdmin)) return publicView
  return {
    ...publicView,
    email: user.email,
    avatar_url: ownerAvatarUrl(context, user, user.email),
    language: user.language,
    is_admin: user.isAdmin,
    last_login: user.lastLoginAtMs === undefined ? NEVER : apiTime(user.lastLoginAtMs),
    active: user.isActive,
    prohibit_login: user.isLoginProhibited,
  }
}

/** Returns users as `viewer` sees them, with the numbers of followers, followed users and stars. */
export async function countedUserObjects(
  context: Context,
  users: readonly User[],
  viewer: User | undefined,
): Promise<readonly UserObject[]> {
  const counts = await countRelations(
    context.db,
    users.map(({ id }) => id),
  )
  return users.map((user) => ({
    ...userObject(context, user, viewer),
    followers_count: counts.get(user.id)?.followers ?? 0,
    following_count: counts.get(user.id)?.following ?? 0,
    starred_repos_count: counts.get(user.id)?.stars ?? 0,
  }))
}
