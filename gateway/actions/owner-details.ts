/** What users and organizations say of themselves: as long as every door lets it be. */

import { Failure } from '../../conf/failures.js'
import type { OwnerPatch, Visibility } from '../../sql/users.js'
import { refuseLonger } from './refuse-longer.js'

/** How long each may be. */
export const DETAIL_CHARACTERS_MAX = {
  fullName: 100,
  description: 255,
  website: 255,
  location: 50,
} as const

const VISIBILITIES: readonly Visibility[] = ['public', 'limited', 'private']

/** What a form says of an owner. Throws `invalid` for a text too long, or no visibility. */
export function readDetails(text: (name: string) => string): Required<OwnerPatch> {
  const { fullName, description, website, location } = DETAIL_CHARACTERS_MAX
  const visibility = VISIBILITIES.find((known) => known === text('visibility'))
  if (visibility === undefined) throw new Failure('invalid', 'Choose who may see it.')
  return {
    fullName: bounded('full name', text('full_name'), fullName),
    description: bounded('description', text('description'), description),
    website: bounded('website', text('website'), website),
    location: bounded('location', text('location'), location),
    visibility,
  }
}

function bounded(what: string, text: string, charactersMax: number): string {
  refuseLonger(what, text, charactersMax)
  return text
}
