/** Profile settings of the authenticated user over the API. */

import { Type } from 'typebox'
import {
  findUserSettings,
  saveUserSettings,
  type UserSettings,
  updateUser,
} from '../../../sql/accounts/user-changes.js'
import { findUser, type User } from '../../../sql/accounts/users.js'
import { DETAIL_CHARACTERS_MAX } from '../../actions/accounts/owner-details.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'

/** Settings that are stored for clients; only `hide_activity` has an effect on this server. */
const KEPT = {
  theme: Type.String({ maxLength: 255 }),
  diff_view_style: Type.String({ maxLength: 255 }),
  hide_email: Type.Boolean(),
  hide_activity: Type.Boolean(),
}

const FIELDS = {
  full_name: Type.String({ maxLength: DETAIL_CHARACTERS_MAX.fullName }),
  website: Type.String({ maxLength: DETAIL_CHARACTERS_MAX.website }),
  description: Type.String({ maxLength: DETAIL_CHARACTERS_MAX.description }),
  location: Type.String({ maxLength: DETAIL_CHARACTERS_MAX.location }),
  language: Type.String({ maxLength: 20 }),
  ...KEPT,
}

const USER_SETTINGS = Type.Object(FIELDS, { $id: 'UserSettings' })

const USER_SETTINGS_OPTIONS = Type.Object(Type.Partial(Type.Object(FIELDS)).properties, {
  $id: 'UserSettingsOptions',
})

/**
 * Default settings, those of Gitea. E-mail addresses are hidden from other users, whatever
 * `hide_email` is.
 */
const DEFAULTS: UserSettings = {
  theme: 'gitea-auto',
  diff_view_style: '',
  hide_email: false,
  hide_activity: false,
}

const get = defineOperation({
  id: 'getUserSettings',
  method: 'GET',
  path: '/user/settings',
  summary: 'Get user settings',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['read:user'],
  params: {},
  query: NO_QUERY,
  success: { status: 200, schema: USER_SETTINGS },
  failures: [],
  handle: async ({ db }, { grant }) =>
    jsonReply(200, settingsObject(grant.user, await findUserSettings(db, grant.user.id))),
})

const update = defineOperation({
  id: 'updateUserSettings',
  method: 'PATCH',
  path: '/user/settings',
  summary: 'Update user settings',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: {},
  query: NO_QUERY,
  body: USER_SETTINGS_OPTIONS,
  success: { status: 200, schema: USER_SETTINGS },
  failures: [422],
  async handle({ db }, { grant, body }) {
    const { user } = grant
    const chosen = Object.entries(body).filter(([name]) => Object.hasOwn(KEPT, name))
    const settings = { ...(await findUserSettings(db, user.id)), ...Object.fromEntries(chosen) }
    await updateUser(db, user.id, {
      fullName: body.full_name,
      website: body.website,
      description: body.description,
      location: body.location,
      language: body.language,
    })
    if (chosen.length > 0) await saveUserSettings(db, user.id, settings)
    return jsonReply(200, settingsObject((await findUser(db, user.name)) ?? user, settings))
  },
})

function settingsObject(user: User, settings: UserSettings) {
  return {
    full_name: user.fullName,
    website: user.website,
    description: user.description,
    location: user.location,
    language: user.language,
    ...DEFAULTS,
    ...settings,
  }
}

export const USER_SETTING_OPERATIONS: readonly AnyOperation[] = [get, update]
