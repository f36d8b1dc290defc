/** Organizations share the namespace of users and begin with a team of owners. */

import { t } from 'tap'
import { findOwner } from '../../../sql/accounts/owners.js'
import { findUser } from '../../../sql/accounts/users.js'
import {
  createOrganization,
  findOrganization,
  mayCreateRepositories,
  organizationRole,
} from '../../../sql/organizations/organizations.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { anOrganization, aTeam, aUser } from '../../helpers/rows.js'

await forEachMigrated(
  t,
  'an organization is created, found in any case, and has all fields',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const made = await createOrganization(db, {
      name: 'Engines',
      fullName: 'Analytical Engines',
      email: 'office@example.test',
      description: 'Wheels',
      website: 'https://example.test',
      location: 'London',
      visibility: 'limited',
      repoAdminChangeTeamAccess: true,
      creatorId: ada.id,
    })
    t.match(made, {
      kind: 'organization',
      name: 'Engines',
      fullName: 'Analytical Engines',
      email: 'office@example.test',
      description: 'Wheels',
      website: 'https://example.test',
      location: 'London',
      visibility: 'limited',
      repoAdminChangeTeamAccess: true,
    })
    t.strictSame(await findOrganization(db, 'eNGINES'), made)
    t.match(await findOwner(db, 'engines'), { id: made.id, kind: 'organization' })
    t.equal(await findUser(db, 'engines'), undefined)
    t.equal(await findOrganization(db, 'ada'), undefined)
  },
)

await forEachMigrated(
  t,
  'the creator is an owner of the organization and others are not',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const bob = await aUser(db, 'bob')
    const { id } = await anOrganization(db, 'engines', ada.id)
    t.equal(await organizationRole(db, id, ada.id), 'owner')
    t.equal(await mayCreateRepositories(db, id, ada.id), true)
    t.equal(await organizationRole(db, id, bob.id), 'none')
    t.equal(await mayCreateRepositories(db, id, bob.id), false)
    const other = await anOrganization(db, 'other', bob.id)
    t.equal(await organizationRole(db, other.id, ada.id), 'none')
  },
)

await forEachMigrated(
  t,
  'a team makes its users members, and some teams may create repositories',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const bob = await aUser(db, 'bob')
    const cid = await aUser(db, 'cid')
    const { id } = await anOrganization(db, 'engines', ada.id)
    await aTeam(db, { organizationId: id, permission: 'read', memberIds: [bob.id, cid.id] })
    await aTeam(db, {
      organizationId: id,
      permission: 'read',
      mayCreate: true,
      memberIds: [cid.id],
    })
    t.equal(await organizationRole(db, id, bob.id), 'member')
    t.equal(await mayCreateRepositories(db, id, bob.id), false)
    t.equal(await organizationRole(db, id, cid.id), 'member')
    t.equal(await mayCreateRepositories(db, id, cid.id), true)
  },
)

await forEachMigrated(t, 'an organization of a missing creator is not created', async (t, db) => {
  await t.rejects(anOrganization(db, 'ghosts', 999))
  t.equal(await findOwner(db, 'ghosts'), undefined)
})
