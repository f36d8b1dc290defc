/** Form fields for the profile of a user or an organization. */

import type { JSX } from 'preact/jsx-runtime'
import type { Visibility } from '../../../sql/accounts/owners.js'
import {
  DETAIL_CHARACTERS_MAX,
  type OwnerDetails,
  readDetails,
} from '../../actions/accounts/owner-details.js'
import { fieldOf } from './page.js'
import { TextField } from './text-field.js'

/** Label of each visibility. */
export type VisibilityLabels = Readonly<Record<Visibility, string>>

export interface DetailFieldsProps {
  readonly details: OwnerDetails
  readonly words: VisibilityLabels
}

export function DetailFields({ details, words }: DetailFieldsProps): JSX.Element {
  const { fullName, description, website, location, visibility } = details
  const max = DETAIL_CHARACTERS_MAX
  return (
    <>
      <TextField label="Full name" name="full_name" {...given(fullName, max.fullName)} />
      <TextField label="Description" name="description" {...given(description, max.description)} />
      <TextField label="Website" name="website" {...given(website, max.website)} />
      <TextField label="Location" name="location" {...given(location, max.location)} />
      <fieldset>
        <legend>Visibility</legend>
        {Object.entries(words).map(([value, sentence]) => (
          <label class="choice">
            <input type="radio" name="visibility" value={value} checked={value === visibility} />{' '}
            {sentence}
          </label>
        ))}
      </fieldset>
    </>
  )
}

function given(value: string, charactersMax: number) {
  return { value, charactersMax }
}

/** Reads and validates the profile from a form. Throws `invalid`. */
export function detailsOf(form: URLSearchParams): OwnerDetails {
  return readDetails((name) => fieldOf(form, name))
}

/** Reads the profile from a form without validation, to show the form again. */
export function detailsAsSent(form: URLSearchParams): OwnerDetails {
  const visibility = fieldOf(form, 'visibility')
  return {
    fullName: fieldOf(form, 'full_name'),
    description: fieldOf(form, 'description'),
    website: fieldOf(form, 'website'),
    location: fieldOf(form, 'location'),
    visibility: visibility === 'limited' || visibility === 'private' ? visibility : 'public',
  }
}
