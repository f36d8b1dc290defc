/** Repositories are found in any case, renamed with a redirect, and listed by access. */

import { t } from 'tap'
import { newStorageKey } from '../../../cgi/repository/paths.js'
import { knownStorages, listAllRepositories } from '../../../sql/repositories/all-repositories.js'
import {
  createRepository,
  deleteRepository,
  findRedirect,
  findRepositoriesById,
  findRepository,
  recordPush,
  updateRepository,
} from '../../../sql/repositories/repositories.js'
import { listRepositoriesOf } from '../../../sql/repositories/repository-lists.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aCollaborator, anOrganization, aRepository, aTeam, aUser } from '../../helpers/rows.js'

const NAME_TAKEN = {
  failure: 'conflict',
  message: 'The repository with the same name already exists.',
}

await forEachMigrated(
  t,
  'a repository is created, found in any case, and has all fields',
  async (t, db) => {
    const ada = await aUser(db, 'Ada')
    const storage = newStorageKey()
    const made = await createRepository(db, {
      ownerId: ada.id,
      name: 'Engine',
      storage,
      description: "Wheels and \u{1f6de} and \\ and ' and %",
      website: 'https://example.test',
      isPrivate: true,
      isTemplate: true,
      isEmpty: true,
      defaultBranch: 'trunk',
      objectFormat: 'sha256',
      preferences: { has_issues: false, default_merge_style: 'rebase' },
    })
    t.match(made, {
      owner: { id: ada.id, kind: 'user', name: 'Ada' },
      name: 'Engine',
      storage,
      description: "Wheels and \u{1f6de} and \\ and ' and %",
      website: 'https://example.test',
      isPrivate: true,
      isArchived: false,
      archivedAtMs: undefined,
      isTemplate: true,
      isEmpty: true,
      defaultBranch: 'trunk',
      objectFormat: 'sha256',
      sizeKib: 0,
      preferences: { has_issues: false, default_merge_style: 'rebase' },
      pushedAtMs: undefined,
    })
    t.strictSame(await findRepository(db, 'aDA', 'eNGINE'), made)
    for (const [owner, name] of [
      ['ada', 'engine '],
      ['ada ', 'engine'],
      ['ada', 'éngine'],
      ['ada', '%'],
      ['bob', 'engine'],
    ] as const) {
      t.equal(await findRepository(db, owner, name), undefined, `${owner}/${name}`)
    }
    t.throws(() => findRepository(db, 'ada', { name: 1 } as never), TypeError)
    t.throws(() => findRepository(db, 0 as never, 'engine'), TypeError)
  },
)

await forEachMigrated(t, 'repository names are unique per owner', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const bob = await aUser(db, 'bob')
  await aRepository(db, ada.id, 'engine')
  await t.rejects(aRepository(db, ada.id, 'ENGINE'), NAME_TAKEN)
  await aRepository(db, bob.id, 'engine')
  t.equal((await listRepositoriesOf(db, ada.id, { page: 1, limit: 10 })).total, 1)
})

await forEachMigrated(
  t,
  'of twenty concurrent creations of one repository one succeeds',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const inputs = Array.from({ length: 20 }, () => aRepository(db, ada.id, 'engine'))
    const results = await Promise.allSettled(inputs)
    t.equal(results.filter((result) => result.status === 'fulfilled').length, 1)
    for (const result of results) {
      if (result.status === 'rejected') t.match(result.reason, { failure: 'conflict' })
    }
  },
)

await forEachMigrated(t, 'updating the size does not change the time of update', async (t, db) => {
  const made = await aRepository(db, (await aUser(db, 'ada')).id, 'engine')
  await db('repositories').update({ updated_at: 1_790_000_000_123 })
  await updateRepository(db, made.id, { sizeKib: 7 })
  const after = await findRepository(db, 'ada', 'engine')
  t.match(after, { sizeKib: 7, updatedAtMs: 1_790_000_000_123 })
  await updateRepository(db, made.id, { sizeKib: 8, pushedAtMs: 1_790_000_000_456 })
  const pushed = await findRepository(db, 'ada', 'engine')
  t.not(pushed?.updatedAtMs, 1_790_000_000_123)
})

await forEachMigrated(
  t,
  'a push sets the size, its time and the time of update of one repository',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const made = await aRepository(db, ada.id, 'engine')
    const other = await aRepository(db, ada.id, 'notes')
    const pushedAtMs = 1_790_000_000_456
    await recordPush(db, made.id, { sizeKib: 8, pushedAtMs })
    const after = await findRepository(db, 'ada', 'engine')
    t.strictSame(after, { ...made, sizeKib: 8, pushedAtMs, updatedAtMs: pushedAtMs })
    t.strictSame(await findRepository(db, 'ada', 'notes'), other)
    await recordPush(db, other.id + 1, { sizeKib: 8, pushedAtMs })
  },
)

await forEachMigrated(t, 'a change keeps the fields that it does not name', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const made = await aRepository(db, ada.id, 'engine')
  await updateRepository(db, made.id, {
    description: 'Wheels',
    isPrivate: true,
    isEmpty: false,
    sizeKib: 9_007_199_254_740,
    pushedAtMs: 1_790_000_000_123,
    preferences: { has_wiki: true },
    website: undefined,
  })
  const after = await findRepository(db, 'ada', 'engine')
  t.strictSame(after, {
    ...made,
    description: 'Wheels',
    isPrivate: true,
    isEmpty: false,
    sizeKib: 9_007_199_254_740,
    pushedAtMs: 1_790_000_000_123,
    preferences: { has_wiki: true },
    updatedAtMs: after?.updatedAtMs,
  })
})

await forEachMigrated(
  t,
  'the time of archiving is kept until the repository is unarchived',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const { id } = await aRepository(db, ada.id, 'engine')
    await updateRepository(db, id, { isArchived: true })
    const archived = await findRepository(db, 'ada', 'engine')
    t.equal(archived?.isArchived, true)
    t.type(archived?.archivedAtMs, 'number')
    await updateRepository(db, id, { isArchived: true, description: 'x' })
    t.equal((await findRepository(db, 'ada', 'engine'))?.archivedAtMs, archived?.archivedAtMs)
    await updateRepository(db, id, { isArchived: false })
    t.match(await findRepository(db, 'ada', 'engine'), {
      isArchived: false,
      archivedAtMs: undefined,
    })
  },
)

await forEachMigrated(
  t,
  'an old name redirects to the repository until the name is used again',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const { id } = await aRepository(db, ada.id, 'One')
    await updateRepository(db, id, { name: 'Two' })
    await updateRepository(db, id, { name: 'Three' })
    t.equal(await findRepository(db, 'ada', 'one'), undefined)
    t.equal((await findRedirect(db, 'ADA', 'ONE'))?.name, 'Three')
    t.equal((await findRedirect(db, 'ada', 'two'))?.name, 'Three')
    t.equal(await findRedirect(db, 'ada', 'three'), undefined)

    await updateRepository(db, id, { name: 'two' })
    t.equal(await findRedirect(db, 'ada', 'two'), undefined, 'a name in use does not redirect')
    t.equal((await findRedirect(db, 'ada', 'three'))?.name, 'two')
    await aRepository(db, ada.id, 'one')
    t.equal(await findRedirect(db, 'ada', 'one'), undefined)

    await updateRepository(db, id, { name: 'TWO' })
    t.equal(await findRedirect(db, 'ada', 'two'), undefined, 'a change of case makes no redirect')
    await deleteRepository(db, id)
    t.equal(await findRedirect(db, 'ada', 'three'), undefined)
  },
)

await forEachMigrated(t, 'a rename to an existing name changes nothing', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const one = await aRepository(db, ada.id, 'one')
  await aRepository(db, ada.id, 'two')
  await t.rejects(updateRepository(db, one.id, { name: 'TWO', description: 'x' }), NAME_TAKEN)
  t.strictSame(await findRepository(db, 'ada', 'one'), one)
  t.equal(await findRedirect(db, 'ada', 'one'), undefined)
})

await forEachMigrated(t, 'concurrent renames end with one name', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const { id } = await aRepository(db, ada.id, 'start')
  const names = Array.from({ length: 8 }, (_, index) => `name-${index}`)
  await Promise.all(names.map((name) => updateRepository(db, id, { name })))
  const { entries } = await listRepositoriesOf(db, ada.id, { page: 1, limit: 10 })
  const last = entries[0]?.name ?? ''
  t.ok(names.includes(last))
  for (const name of ['start', ...names]) {
    const redirect = await findRedirect(db, 'ada', name)
    t.equal(redirect?.name, name === last ? undefined : last, name)
  }
})

await forEachMigrated(t, 'a deleted repository is not changed', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const { id } = await aRepository(db, ada.id, 'engine')
  t.equal(await deleteRepository(db, id), true)
  t.equal(await deleteRepository(db, id), false)
  t.equal(await findRepository(db, 'ada', 'engine'), undefined)
  await t.rejects(updateRepository(db, id, { name: 'x' }), {
    failure: 'not_found',
    message: 'The repository does not exist.',
  })
})

await forEachMigrated(
  t,
  'the list of a user has every repository they have access to once',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const bob = await aUser(db, 'bob')
    const organization = await anOrganization(db, 'engines', ada.id)
    const own = await aRepository(db, bob.id, 'own', { isPrivate: true })
    const shared = await aRepository(db, ada.id, 'shared', { isPrivate: true })
    await aRepository(db, ada.id, 'foreign')
    const ofTeam = await aRepository(db, organization.id, 'of-team', { isPrivate: true })
    await aCollaborator(db, shared, bob, 'read')
    await aCollaborator(db, ofTeam, bob, 'write')
    const list = async (page: number, limit: number) =>
      await listRepositoriesOf(db, bob.id, { page, limit })
    t.strictSame(await list(1, 10), { entries: [own, shared, ofTeam], total: 3 })
    const inputs = { organizationId: organization.id, memberIds: [bob.id] }
    await aTeam(db, { ...inputs, permission: 'admin' })
    await aTeam(db, { ...inputs, permission: 'none', includesAll: true })
    await db('collaborators').where({ repository_id: ofTeam.id }).delete()
    t.strictSame(await list(1, 10), { entries: [own, shared], total: 2 })
    await aTeam(db, { ...inputs, permission: 'read', includesAll: true })
    t.strictSame(await list(1, 2), { entries: [own, shared], total: 3 })
    t.strictSame(await list(2, 2), { entries: [ofTeam], total: 3 })
  },
)

await forEachMigrated(
  t,
  'all repositories are listed in pages, and their storage keys are known',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const { id, ...first } = (await db('repositories')
      .where({ id: (await aRepository(db, ada.id, 'r')).id })
      .first()) as Record<string, string>
    const rows = Array.from({ length: 700 }, (_, index) => ({
      ...first,
      name: `r${index}`,
      name_lower: `r${index}`,
      storage: newStorageKey(),
    }))
    await db.transaction(async (trx) => {
      for (let start = 0; start < rows.length; start += 300) {
        await trx('repositories').insert(rows.slice(start, start + 300))
      }
    })
    const expected = [first['storage'], ...rows.map((row) => row.storage)].sort()
    const page = await listAllRepositories(db, { afterId: 0, limit: 500 })
    const rest = await listAllRepositories(db, { afterId: page.at(-1)?.id ?? 0, limit: 500 })
    t.strictSame([page.length, rest.length], [500, 201])
    t.strictSame([...page, ...rest].map(({ storage }) => storage).sort(), expected)
    const known = await knownStorages(db, [...expected.map(String), newStorageKey()])
    t.strictSame([...known].sort(), expected, 'unknown keys are left out')
    t.equal((await knownStorages(db, [])).size, 0)
  },
)

await forEachMigrated(
  t,
  'repositories are found by their ids, and missing ones are left out',
  async (t, db) => {
    const ada = await aUser(db, 'ada')
    const one = await aRepository(db, ada.id, 'one')
    await aRepository(db, ada.id, 'two')
    const three = await aRepository(db, ada.id, 'three', { isPrivate: true })
    const found = await findRepositoriesById(db, [three.id, 999, one.id])
    t.strictSame(
      [...found].sort((a, b) => a.id - b.id),
      [one, three],
    )
    t.strictSame(await findRepositoriesById(db, []), [])
  },
)
