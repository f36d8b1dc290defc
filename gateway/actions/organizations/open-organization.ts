/** Creation of organizations. */

import { parseEmail, parseOwnerName } from '../../../conf/names.js'
import type { Database } from '../../../sql/database/database.js'
import {
  createOrganization,
  type NewOrganization,
  type Organization,
} from '../../../sql/organizations/organizations.js'
import { conflictAsInvalid } from '../accounts/conflict-as-invalid.js'

/** Creates an organization. Throws `invalid` if its name is not permitted or taken. */
export async function openOrganization(
  db: Database,
  input: NewOrganization,
): Promise<Organization> {
  const name = parseOwnerName(input.name)
  const email = input.email === '' ? '' : parseEmail(input.email)
  return await conflictAsInvalid(() => createOrganization(db, { ...input, name, email }))
}
