/** The TagProtection of this API, and the bodies that create and edit one. */

import { type Static, Type } from 'typebox'
import type { TagProtection } from '../../../sql/code/tag-protections.js'
import { TIME } from '../schema.js'
import { apiTime } from '../times.js'

const PATTERN = Type.String({ maxLength: 255 })
const NAMES = Type.Array(Type.String(), { maxItems: 200 })

const LISTS = {
  whitelist_usernames: Type.Optional(NAMES),
  whitelist_teams: Type.Optional(NAMES),
}

export const CREATE_TAG_PROTECTION_OPTION = Type.Object(
  { name_pattern: Type.Optional(PATTERN), ...LISTS },
  { $id: 'CreateTagProtectionOption' },
)

export const EDIT_TAG_PROTECTION_OPTION = Type.Object(
  { name_pattern: Type.Optional(PATTERN), ...LISTS },
  { $id: 'EditTagProtectionOption' },
)

export type TagProtectionOption = Static<typeof EDIT_TAG_PROTECTION_OPTION>

export const TAG_PROTECTION = Type.Object(
  {
    id: Type.Integer(),
    name_pattern: Type.String(),
    whitelist_usernames: Type.Array(Type.String()),
    whitelist_teams: Type.Array(Type.String()),
    created_at: TIME,
    updated_at: TIME,
  },
  { $id: 'TagProtection' },
)

/** Returns a rule as administrators of the repository see it. */
export function tagProtectionObject(protection: TagProtection): Static<typeof TAG_PROTECTION> {
  const { id, namePattern, allowed, createdAtMs, updatedAtMs } = protection
  return {
    id,
    name_pattern: namePattern,
    whitelist_usernames: allowed.users.map(({ name }) => name),
    whitelist_teams: allowed.teams.map(({ name }) => name),
    created_at: apiTime(createdAtMs),
    updated_at: apiTime(updatedAtMs),
  }
}
