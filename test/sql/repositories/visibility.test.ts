/** Lists contain exactly what authorization permits, for every viewer. */

import { t } from 'tap'
import type { Visibility } from '../../../sql/accounts/owners.js'
import { searchUsers } from '../../../sql/accounts/user-search.js'
import { findUser, type User } from '../../../sql/accounts/users.js'
import type { Database } from '../../../sql/database/database.js'
import { selectRows } from '../../../sql/database/dialect.js'
import { listOrganizations } from '../../../sql/organizations/organizations.js'
import { addTeamMember, addTeamRepository, createTeam } from '../../../sql/organizations/teams.js'
import { accessToRepositories, accessToRepository } from '../../../sql/repositories/access.js'
import { findRepositoriesById, type Repository } from '../../../sql/repositories/repositories.js'
import { searchRepositories } from '../../../sql/repositories/repository-lists.js'
import { REPOSITORY_UNITS, type RepositoryUnit } from '../../../sql/repositories/team-units.js'
import { repositoriesVisibleTo, type Viewer } from '../../../sql/repositories/visibility.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aCollaborator, anOrganization, aRepository, aTeam, aUser } from '../../helpers/rows.js'

const ALL = { page: 1, limit: 1_000 }
const VISIBILITIES: readonly Visibility[] = ['public', 'limited', 'private']

async function settle(db: Database) {
  const ada = await aUser(db, 'ada')
  const root = await aUser(db, 'root')
  await db('users').where({ owner_id: root.id }).update({ is_admin: true })
  const repositories: Repository[] = []
  const people: User[] = [ada]
  for (const visibility of VISIBILITIES) {
    const user = await aUser(db, `user-${visibility}`)
    const organization = await anOrganization(db, `org-${visibility}`, ada.id)
    people.push(user)
    for (const owner of [user, organization]) {
      await db('owners').where({ id: owner.id }).update({ visibility })
      for (const isPrivate of [true, false]) {
        for (const name of ['one', 'two']) {
          repositories.push(await aRepository(db, owner.id, `${name}-${isPrivate}`, { isPrivate }))
        }
      }
    }
    for (const permission of ['none', 'read', 'write', 'admin'] as const) {
      for (const includesAll of [true, false]) {
        const member = await aUser(db, `m-${visibility}-${permission}-${includesAll}`)
        people.push(member)
        const team = await createTeam(db, {
          organizationId: organization.id,
          name: member.name,
          description: '',
          permission,
          includesAll,
          mayCreateRepositories: false,
          units: {},
        })
        await addTeamMember(db, team.id, member.id)
        const given = repositories.filter(({ owner }) => owner.id === organization.id)
        for (const { id, name } of given) {
          if (name.startsWith('one')) await addTeamRepository(db, team.id, id)
        }
      }
    }
  }
  const helper = await aUser(db, 'helper')
  people.push(helper)
  for (const repository of repositories.filter(({ name }) => name === 'two-true')) {
    await aCollaborator(db, repository, helper, 'read')
  }
  people.push(...(await settleUnits(db, repositories)))
  return { ada, root, people, ids: repositories.map(({ id }) => id) }
}

/** Adds members of teams whose units differ. */
async function settleUnits(db: Database, repositories: readonly Repository[]): Promise<User[]> {
  const [club] = repositories.filter(({ owner }) => owner.name === 'org-private')
  if (club === undefined) throw new Error('no repository')
  const organizationId = club.owner.id
  const sets: readonly Record<string, string>[] = [
    ...REPOSITORY_UNITS.map((unit) => ({ [`repo.${unit}`]: 'read', 'repo.projects': 'write' })),
    { 'repo.packages': 'write', 'repo.projects': 'write' },
    { 'repo.code': 'none', 'repo.issues': 'admin', 'repo.pulls': 'write' },
    { 'repo.code': 'read', 'repo.issues': 'none', 'repo.pulls': 'write' },
  ]
  const members: User[] = []
  for (const [number, units] of sets.entries()) {
    const user = await aUser(db, `unit-${number}`)
    members.push(user)
    const inputs = { organizationId, permission: 'none', includesAll: true }
    await aTeam(db, { ...inputs, units, memberIds: [user.id] })
  }
  // Code is shown by one team, and pull requests by the other.
  const both = await aUser(db, 'unit-both')
  for (const unit of ['repo.code', 'repo.pulls']) {
    const inputs = { organizationId, permission: 'none', includesAll: true }
    await aTeam(db, { ...inputs, units: { [unit]: 'read' }, memberIds: [both.id] })
  }
  return [...members, both]
}

await forEachMigrated(t, 'a list of repositories agrees with the access to each', async (t, db) => {
  const { root, people, ids } = await settle(db)
  const repositories = await findRepositoriesById(db, ids)
  const admin = await findUser(db, root.name)
  const viewers: readonly (readonly [User | undefined, Viewer])[] = [
    [undefined, { kind: 'anyone' }],
    [admin, { kind: 'admin', id: root.id }],
    ...people.map((user) => [user, { kind: 'user', id: user.id }] as const),
  ]
  const lengths = new Set<number>()
  const names = new Map(repositories.map(({ id, owner, name }) => [id, `${owner.name}/${name}`]))
  for (const [user, viewer] of viewers) {
    const modes = await accessToRepositories(db, user, repositories)
    const readable = new Map<string, ReadonlySet<number>>()
    for (const unit of REPOSITORY_UNITS) readable.set(unit, await readableIds(db, viewer, unit))
    const { entries, total } = await searchRepositories(db, { viewer }, ALL)
    const listed = new Set(entries.map(({ id }) => id))
    const rows: unknown[] = []
    const wanted: unknown[] = []
    for (const repository of repositories) {
      const { id } = repository
      const access = await accessToRepository(db, user, repository)
      const units = REPOSITORY_UNITS.map((unit) => readable.get(unit)?.has(id))
      rows.push([names.get(id), modes.get(id), listed.has(id), units])
      const seen = REPOSITORY_UNITS.map((unit) => access[unit] !== 'none')
      wanted.push([names.get(id), access, access.any !== 'none', seen])
    }
    t.strictSame(rows, wanted, user?.name ?? 'anyone')
    const ids = [...listed].sort((a, b) => a - b)
    t.strictSame([entries.map(({ id }) => id), total], [ids, ids.length], 'each once, in order')
    lengths.add(total)
  }
  t.ok(lengths.size > 5, 'the viewers see different numbers of repositories')
})

async function readableIds(
  db: Database,
  viewer: Viewer,
  unit: RepositoryUnit,
): Promise<ReadonlySet<number>> {
  const seen = repositoriesVisibleTo(viewer, unit)
  const rows = await selectRows<{ id: number }>(
    db,
    `select r.id from repositories r join owners o on o.id = r.owner_id where ${seen.where}`,
    seen.bindings,
  )
  return new Set(rows.map(({ id }) => id))
}

await forEachMigrated(
  t,
  'users and organizations are listed only for viewers who may see them',
  async (t, db) => {
    const { ada, root } = await settle(db)
    const bob = await aUser(db, 'bob')
    const hidden = await findUser(db, 'user-private')
    const organizations = async (viewer: Viewer) =>
      (await listOrganizations(db, { viewer }, ALL)).entries.map(({ name }) => name)
    const users = async (viewer: Viewer) =>
      (await searchUsers(db, { viewer, text: 'USER-' }, ALL)).entries.map(({ name }) => name)
    const [open, limited, closed] = ['org-public', 'org-limited', 'org-private']
    t.strictSame(await organizations({ kind: 'anyone' }), [open])
    t.strictSame(await organizations({ kind: 'user', id: bob.id }), [open, limited])
    t.strictSame(await organizations({ kind: 'user', id: ada.id }), [open, limited, closed])
    t.strictSame(await organizations({ kind: 'admin', id: root.id }), [open, limited, closed])
    t.strictSame(await users({ kind: 'anyone' }), ['user-public'])
    t.strictSame(await users({ kind: 'user', id: bob.id }), ['user-limited', 'user-public'])
    const own = ['user-limited', 'user-private', 'user-public']
    t.strictSame(await users({ kind: 'user', id: hidden?.id ?? 0 }), own)
  },
)
