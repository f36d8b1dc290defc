/** Length limits of the descriptions of users and organizations, for the API and the pages. */

import { Failure } from '../../../conf/failures.js'
import type { Owner, Visibility } from '../../../sql/accounts/owners.js'
import { refuseLonger } from './refuse-longer.js'

export type OwnerDetails = Pick<
  Owner,
  'fullName' | 'description' | 'website' | 'location' | 'visibility'
>

/** Maximum number of characters of each field. */
export const DETAIL_CHARACTERS_MAX = {
  fullName: 100,
  description: 255,
  website: 255,
  location: 50,
} as const

const VISIBILITIES: readonly Visibility[] = ['public', 'limited', 'private']

/** Reads the fields of a form. Throws `invalid` for a text too long or an unknown visibility. */
export function readDetails(text: (name: string) => string): OwnerDetails {
  const visibility = VISIBILITIES.find((known) => known === text('visibility'))
  if (visibility === undefined)
    throw new Failure('invalid', 'Choose a visibility: public, limited or private.')
  const details = {
    fullName: text('full_name'),
    description: text('description'),
    website: text('website'),
    location: text('location'),
  }
  refuseLonger('full name', details.fullName, DETAIL_CHARACTERS_MAX.fullName)
  refuseLonger('description', details.description, DETAIL_CHARACTERS_MAX.description)
  refuseLonger('website', details.website, DETAIL_CHARACTERS_MAX.website)
  refuseLonger('location', details.location, DETAIL_CHARACTERS_MAX.location)
  return { ...details, visibility }
}
