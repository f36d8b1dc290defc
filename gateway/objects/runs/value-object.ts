/** The Secret and the ActionVariable of this API, and the bodies that set them. */

import { type Static, Type } from 'typebox'
import type { ScopedValue, ValueScope } from '../../../sql/runs/scoped-values.js'
import { TIME } from '../schema.js'
import { apiTime } from '../times.js'

/** Maximum length of texts in a body. The limits of values are in bytes, after validation. */
const TEXT_CHARACTERS_MAX = 131_072
const NAME_CHARACTERS_MAX = 1_000

const DESCRIPTION = Type.Optional(
  Type.String({ maxLength: TEXT_CHARACTERS_MAX, description: 'Description of the value' }),
)

export const CREATE_OR_UPDATE_SECRET_OPTION = Type.Object(
  {
    data: Type.String({
      maxLength: TEXT_CHARACTERS_MAX,
      description: 'Data of the secret to update',
    }),
    description: DESCRIPTION,
  },
  { $id: 'CreateOrUpdateSecretOption' },
)

export const CREATE_VARIABLE_OPTION = Type.Object(
  {
    value: Type.String({
      maxLength: TEXT_CHARACTERS_MAX,
      description: 'Value of the variable to create',
    }),
    description: DESCRIPTION,
  },
  { $id: 'CreateVariableOption' },
)

export const UPDATE_VARIABLE_OPTION = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        maxLength: NAME_CHARACTERS_MAX,
        description: 'New name of the variable; if it is empty, the name stays',
      }),
    ),
    value: Type.String({
      maxLength: TEXT_CHARACTERS_MAX,
      description: 'Value of the variable to update',
    }),
    description: DESCRIPTION,
  },
  { $id: 'UpdateVariableOption' },
)

export const SECRET = Type.Object(
  { name: Type.String(), description: Type.String(), created_at: TIME },
  { $id: 'Secret' },
)

/** Returns a secret as the API shows it, without its value. */
export function secretObject({
  name,
  description,
  createdAtMs,
}: ScopedValue): Static<typeof SECRET> {
  return { name, description, created_at: apiTime(createdAtMs) }
}

export const ACTION_VARIABLE = Type.Object(
  {
    owner_id: Type.Integer(),
    repo_id: Type.Integer(),
    name: Type.String(),
    data: Type.String(),
    description: Type.String(),
  },
  { $id: 'ActionVariable' },
)

/** Returns a variable as the API shows it; the ids that its scope does not have are 0. */
export function variableObject(
  { ownerId = 0, repositoryId = 0 }: ValueScope,
  { name, value, description }: ScopedValue,
): Static<typeof ACTION_VARIABLE> {
  return { owner_id: ownerId, repo_id: repositoryId, name, data: value, description }
}
