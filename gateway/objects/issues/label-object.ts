/** The Label of this API, and the bodies that create and edit one. */

import { type Static, Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import type { Owner } from '../../../sql/accounts/owners.js'
import type { Label, LabelPatch, NewLabel } from '../../../sql/issues/labels.js'
import { titleOf } from '../../actions/issues/issue-access.js'
import type { Context } from '../../request/context.js'
import { API_PREFIX } from '../api-prefix.js'

export const LABEL = Type.Object(
  {
    id: Type.Integer(),
    name: Type.String(),
    exclusive: Type.Boolean(),
    is_archived: Type.Boolean(),
    color: Type.String({ description: 'six hexadecimal digits' }),
    description: Type.String(),
    url: Type.String(),
  },
  { $id: 'Label' },
)

/** Repository or organization that a label belongs to. */
export interface LabelPlace {
  readonly owner: Owner
  /** Name of the repository; absent for a label of an organization. */
  readonly name?: string
}

/** Returns a label, which is the same for all viewers. */
export function labelObject(
  context: Context,
  label: Label,
  { owner, name }: LabelPlace,
): Static<typeof LABEL> {
  const isOfRepository = 'repositoryId' in label.owner && name !== undefined
  const place = isOfRepository ? `repos/${owner.name}/${name}` : `orgs/${owner.name}`
  return {
    id: label.id,
    name: label.name,
    exclusive: label.isExclusive,
    is_archived: label.isArchived,
    color: label.color,
    description: label.description,
    url: `${context.settings.http.baseUrl}${API_PREFIX}/${place}/labels/${label.id}`,
  }
}

const DESCRIPTION_CHARACTERS_MAX = 1_024

const FIELDS = {
  description: Type.Optional(Type.String({ maxLength: DESCRIPTION_CHARACTERS_MAX })),
  exclusive: Type.Optional(Type.Boolean()),
  is_archived: Type.Optional(Type.Boolean()),
}

export const CREATE_LABEL_OPTION = Type.Object(
  { name: Type.String({ minLength: 1 }), color: Type.String({ minLength: 1 }), ...FIELDS },
  { $id: 'CreateLabelOption' },
)

export const EDIT_LABEL_OPTION = Type.Object(
  { name: Type.Optional(Type.String()), color: Type.Optional(Type.String()), ...FIELDS },
  { $id: 'EditLabelOption' },
)

/** Reads a new label from the body. Throws `invalid`. */
export function readLabel(body: Static<typeof CREATE_LABEL_OPTION>): NewLabel {
  return {
    name: titleOf(body.name),
    color: readColor(body.color),
    description: body.description ?? '',
    isExclusive: body.exclusive ?? false,
    isArchived: body.is_archived ?? false,
  }
}

/** Reads the changes of a label from the body. Throws `invalid`. */
export function readLabelPatch(body: Static<typeof EDIT_LABEL_OPTION>): LabelPatch {
  return {
    name: body.name === undefined ? undefined : titleOf(body.name),
    color: body.color === undefined ? undefined : readColor(body.color),
    description: body.description,
    isExclusive: body.exclusive,
    isArchived: body.is_archived,
  }
}

/** Parses a color, `#rrggbb` or `#rgb`, where `#` is optional. Returns six hexadecimal digits. */
function readColor(text: string): string {
  const digits = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim())?.[1]?.toLowerCase()
  if (digits === undefined) throw new Failure('invalid', '[Color]: must be a color like #rrggbb')
  return digits.length === 6 ? digits : digits.replace(/./g, '$&$&')
}
