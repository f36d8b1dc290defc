/** Access to repositories and packages follows from ownership, teams and collaboration. */

import { t } from 'tap'
import { findOwner, type Owner, type Visibility } from '../../../sql/accounts/owners.js'
import { findUser, type User } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import {
  type AccessMode,
  accessToPackages,
  accessToRepository,
  atLeast,
  teamMode,
  teamPermission,
} from '../../../sql/repositories/access.js'
import { findRepository, type Repository } from '../../../sql/repositories/repositories.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aCollaborator, anOrganization, aRepository, aTeam, aUser } from '../../helpers/rows.js'

t.test('each mode includes the modes below it', async (t) => {
  const modes: readonly AccessMode[] = ['none', 'read', 'write', 'admin', 'owner']
  for (const [has, mode] of modes.entries()) {
    for (const [needs, needed] of modes.entries()) {
      t.equal(atLeast(mode, needed), has >= needs, `${mode} for ${needed}`)
    }
  }
})

/** Returns the access that is the same for each unit. */
async function accessToAll(
  db: Database,
  user: User | undefined,
  repository: Repository,
): Promise<AccessMode | undefined> {
  const modes = await accessToRepository(db, user, repository)
  return new Set(Object.values(modes)).size === 1 ? modes.any : undefined
}

/** Changes the visibility of a repository's owner and reads the repository again. */
async function withOwner(
  db: Database,
  repository: Repository,
  visibility: Visibility,
): Promise<Repository> {
  await db('owners').where({ id: repository.owner.id }).update({ visibility })
  const found = await findRepository(db, repository.owner.name, repository.name)
  if (found === undefined) throw new Error('the repository is missing')
  return found
}

async function changed(db: Database, user: User, columns: object): Promise<User> {
  await db('users').where({ owner_id: user.id }).update(columns)
  const found = await findUser(db, user.name)
  if (found === undefined) throw new Error('the user is missing')
  return found
}

await forEachMigrated(
  t,
  'access of anonymous and unrelated users follows from visibility',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const bob = await aUser(db, 'bob')
    const open = await aRepository(db, ada.id, 'open')
    const hidden = await aRepository(db, ada.id, 'hidden', { isPrivate: true })
    const expected: readonly [Visibility, AccessMode, AccessMode][] = [
      ['public', 'read', 'read'],
      ['limited', 'none', 'read'],
      ['private', 'none', 'none'],
    ]
    for (const [visibility, anonymous, signedIn] of expected) {
      const repository = await withOwner(db, open, visibility)
      t.equal(await accessToAll(db, undefined, repository), anonymous, visibility)
      t.equal(await accessToAll(db, bob, repository), signedIn, visibility)
      const secret = await withOwner(db, hidden, visibility)
      t.equal(await accessToAll(db, undefined, secret), 'none', visibility)
      t.equal(await accessToAll(db, bob, secret), 'none', visibility)
    }
  },
)

await forEachMigrated(t, 'owners and administrators have all access', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const root = await changed(db, await aUser(db, 'root'), { is_admin: true })
  const repository = await aRepository(db, ada.id, 'engine', { isPrivate: true })
  t.equal(await accessToAll(db, ada, repository), 'owner')
  t.equal(await accessToAll(db, root, repository), 'owner')
})

await forEachMigrated(
  t,
  'a deactivated user and one barred from signing in have no access, even as owner',
  async (t, db) => {
    const ada = await changed(db, await aUser(db, 'ada'), { is_active: false })
    const root = await aUser(db, 'root')
    const barred = await changed(db, root, { is_admin: true, is_login_prohibited: true })
    const repository = await aRepository(db, ada.id, 'engine')
    t.equal(await accessToAll(db, ada, repository), 'none')
    t.equal(await accessToAll(db, barred, repository), 'none')
  },
)

await forEachMigrated(t, 'a collaborator has the access that was granted', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const bob = await aUser(db, 'bob')
  const repository = await aRepository(db, ada.id, 'engine', { isPrivate: true })
  const other = await aRepository(db, ada.id, 'other', { isPrivate: true })
  for (const mode of ['read', 'write', 'admin'] as const) {
    await aCollaborator(db, repository, bob, mode)
    t.equal(await accessToAll(db, bob, repository), mode)
    t.equal(await accessToAll(db, bob, other), 'none')
    await db('collaborators').delete()
  }
  t.equal(await accessToAll(db, bob, repository), 'none', 'removed')
})

await forEachMigrated(
  t,
  'a team grants its permission on the repositories it includes',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const organization = await anOrganization(db, 'engines', ada.id)
    const hidden = await aRepository(db, organization.id, 'hidden', { isPrivate: true })
    const open = await aRepository(db, organization.id, 'open')
    const elsewhere = await aRepository(db, ada.id, 'elsewhere', { isPrivate: true })
    const closed = await withOwner(db, open, 'private')
    t.equal(await accessToAll(db, ada, hidden), 'owner', 'the team of owners')
    for (const permission of ['none', 'read', 'write', 'admin', 'owner'] as const) {
      const member = await aUser(db, `all-${permission}`)
      const inputs = { organizationId: organization.id, permission, memberIds: [member.id] }
      await aTeam(db, { ...inputs, includesAll: true })
      t.equal(await accessToAll(db, member, hidden), permission)
      t.equal(await accessToAll(db, member, elsewhere), 'none')
      const public_ = permission === 'none' ? 'read' : permission
      t.equal(await accessToAll(db, member, closed), public_, 'a member reads public repositories')
    }
    const apart = await aUser(db, 'apart')
    await aTeam(db, {
      organizationId: organization.id,
      permission: 'admin',
      memberIds: [apart.id],
    })
    t.equal(
      await accessToAll(db, apart, hidden),
      'none',
      'a team that does not include this repository',
    )
    t.equal(await accessToAll(db, apart, closed), 'read')
  },
)

await forEachMigrated(t, 'of several grants the widest counts', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const bob = await aUser(db, 'bob')
  const organization = await anOrganization(db, 'engines', ada.id)
  const repository = await aRepository(db, organization.id, 'engine')
  await aCollaborator(db, repository, bob, 'write')
  const inputs = { organizationId: organization.id, includesAll: true, memberIds: [bob.id] }
  await aTeam(db, { ...inputs, permission: 'read' })
  t.equal(await accessToAll(db, bob, repository), 'write')
  await aTeam(db, { ...inputs, permission: 'admin' })
  t.equal(await accessToAll(db, bob, repository), 'admin')
})

/** Changes the visibility of an owner and returns it. */
async function seenBy(db: Database, owner: Owner, visibility: Visibility): Promise<Owner> {
  await db('owners').where({ id: owner.id }).update({ visibility })
  const found = await findOwner(db, owner.name)
  if (found === undefined) throw new Error('the owner is missing')
  return found
}

await forEachMigrated(
  t,
  "package access of unrelated users follows from the owner's visibility",
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    const root = await changed(db, await aUser(db, 'root'), { is_admin: true })
    const club = await anOrganization(db, 'club', ada.id)
    const expected: readonly [Visibility, AccessMode, AccessMode][] = [
      ['public', 'read', 'read'],
      ['limited', 'none', 'read'],
      ['private', 'none', 'none'],
    ]
    for (const [visibility, anonymous, signedIn] of expected) {
      for (const account of [ada, club]) {
        const owner = await seenBy(db, account, visibility)
        const place = `${visibility} ${owner.kind}`
        t.equal(await accessToPackages(db, undefined, owner), anonymous, place)
        t.equal(await accessToPackages(db, bob, owner), signedIn, place)
        t.equal(await accessToPackages(db, ada, owner), 'owner', `${place}: the owner`)
        t.equal(await accessToPackages(db, root, owner), 'owner', `${place}: a site administrator`)
      }
    }
  },
)

await forEachMigrated(
  t,
  'members read packages, and teams grant their permission',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    const club = await anOrganization(db, 'club', ada.id)
    const other = await anOrganization(db, 'other', ada.id)
    const inputs = { organizationId: club.id, memberIds: [bob.id] }
    for (const permission of ['none', 'read', 'write', 'admin', 'owner'] as const) {
      await aTeam(db, { ...inputs, permission })
      for (const visibility of ['public', 'limited', 'private'] as const) {
        const owner = await seenBy(db, club, visibility)
        const mode = permission === 'none' ? 'read' : permission
        t.equal(await accessToPackages(db, bob, owner), mode, `${permission} ${visibility}`)
      }
    }
    const elsewhere = await seenBy(db, other, 'private')
    t.equal(await accessToPackages(db, bob, elsewhere), 'none', 'of another organization')
    await aTeam(db, { ...inputs, permission: 'read' })
    t.equal(
      await accessToPackages(db, bob, club),
      'owner',
      'of several teams the widest permission counts',
    )
  },
)

await forEachMigrated(
  t,
  'a deactivated user and one barred from signing in have no access to packages',
  async (t, db) => {
    const ada = await changed(db, await aUser(db, 'ada'), { is_active: false })
    const root = await aUser(db, 'root')
    const barred = await changed(db, root, { is_admin: true, is_login_prohibited: true })
    for (const user of [ada, barred]) t.equal(await accessToPackages(db, user, ada), 'none')
  },
)

const WRITES_ISSUES = { 'repo.code': 'read', 'repo.issues': 'write' }

await forEachMigrated(t, 'each unit of a team has its own level', async (t, db) => {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const club = await anOrganization(db, 'club', ada.id)
  const hidden = await aRepository(db, club.id, 'hidden', { isPrivate: true })
  const open = await aRepository(db, club.id, 'open')
  const inputs = { organizationId: club.id, includesAll: true, memberIds: [bob.id] }
  await aTeam(db, { ...inputs, permission: 'read', units: WRITES_ISSUES })
  const none = { pulls: 'none', releases: 'none', wiki: 'none', actions: 'none' } as const
  const held = { any: 'write', code: 'read', issues: 'write' } as const
  t.strictSame(await accessToRepository(db, bob, hidden), { ...held, ...none })
  const read = { pulls: 'read', releases: 'read', wiki: 'read', actions: 'read' } as const
  const shown = { ...held, ...read }
  t.strictSame(await accessToRepository(db, bob, open), shown, 'members read what is not private')
  t.equal(await accessToPackages(db, bob, club), 'read')
  await aTeam(db, { ...inputs, permission: 'none', units: { 'repo.packages': 'write' } })
  t.equal(await accessToPackages(db, bob, club), 'write')
  t.strictSame(await accessToRepository(db, bob, hidden), { ...held, ...none }, 'nothing else')
  await aCollaborator(db, hidden, bob, 'read')
  t.strictSame(await accessToRepository(db, bob, hidden), { ...held, ...read }, 'the widest counts')
})

await forEachMigrated(
  t,
  'pull requests are readable only together with code, which another team may give',
  async (t, db) => {
    const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
    const club = await anOrganization(db, 'club', ada.id)
    const hidden = await aRepository(db, club.id, 'hidden', { isPrivate: true })
    const inputs = { organizationId: club.id, includesAll: true, memberIds: [bob.id] }
    await aTeam(db, { ...inputs, permission: 'none', units: { 'repo.pulls': 'write' } })
    t.match(await accessToRepository(db, bob, hidden), { any: 'none', pulls: 'none' })
    await aTeam(db, { ...inputs, permission: 'none', units: { 'repo.code': 'read' } })
    t.match(await accessToRepository(db, bob, hidden), { code: 'read', pulls: 'write' })
  },
)

t.test('only a team that administers every unit has more than write access', (t) => {
  const mixed = { permission: 'none', units: { 'repo.code': 'admin', 'repo.issues': 'x' } } as const
  t.equal(teamMode(mixed, 'code'), 'write')
  t.equal(teamMode(mixed, 'issues'), 'none', 'an unknown level')
  t.equal(teamMode(mixed, 'packages'), 'none')
  const whole = { permission: 'admin', units: { 'repo.code': 'admin' } } as const
  t.equal(teamMode(whole, 'packages'), 'admin')
  t.end()
})

t.test('the permission of a team in the API is the least of its units that is not none', (t) => {
  const of = (permission: AccessMode, units: Record<string, string>) =>
    teamPermission({ permission, units })
  t.equal(of('write', {}), 'write')
  t.equal(of('none', { 'repo.packages': 'write', 'repo.code': 'none' }), 'write')
  t.equal(of('read', { 'repo.packages': 'write', 'repo.code': 'read' }), 'read')
  t.equal(of('none', { 'repo.packages': 'write', 'repo.ext_wiki': 'read' }), 'write')
  t.equal(of('none', { 'repo.packages': 'none' }), 'none')
  t.equal(of('owner', {}), 'owner')
  t.end()
})
