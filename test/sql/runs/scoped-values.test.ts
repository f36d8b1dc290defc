/** Secrets and variables in their scopes, on both databases. */

import t from 'tap'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import {
  createValue,
  findValue,
  listValues,
  mergeValues,
  type NewValue,
  putValue,
  removeValue,
  scopesOfRepository,
  updateValue,
} from '../../../sql/runs/scoped-values.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const PAGE = { page: 1, limit: 50 }

function aValue(name: string, fields: Partial<NewValue> = {}): NewValue {
  return { name, value: `value of ${name}`, bytes: 10, description: '', ...fields }
}

await forEachMigrated(t, 'a name is used once in each scope, also of the site', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ownerId, 'r')
  for (const kind of ['secrets', 'variables'] as const) {
    for (const scope of [{}, { ownerId }, { repositoryId }]) {
      await createValue(db, kind, { scope, ...aValue('A') })
      await t.rejects(
        createValue(db, kind, { scope, ...aValue('A') }),
        /The name 'A' is used already/,
      )
      await createValue(db, kind, { scope, ...aValue('B') })
      const rename = updateValue(db, kind, { scope, name: 'B', to: aValue('A') })
      await t.rejects(rename, /The name 'A' is used already/)
      t.ok(await updateValue(db, kind, { scope, name: 'B', to: aValue('C', { value: 'c' }) }))
      t.notOk(await updateValue(db, kind, { scope, name: 'B', to: aValue('D') }))
      t.match(await listValues(db, kind, { scope, page: PAGE }), {
        entries: [{ name: 'A' }, { name: 'C', value: 'c' }],
        total: 2,
      })
      t.equal(await findValue(db, kind, { scope, name: 'B' }), undefined)
      t.ok(await removeValue(db, kind, { scope, name: 'C' }))
      t.notOk(await removeValue(db, kind, { scope, name: 'C' }))
    }
    const table = `workflow_${kind}`
    const twice = { ...aValue('A'), scope: 'site', created_at: 0 }
    await t.rejects(db(table).insert(twice), 'the database refuses it too')
  }
})

await forEachMigrated(t, 'concurrent requests put one secret', async (t, db) => {
  const put = (value: string) => putValue(db, 'secrets', { scope: {}, ...aValue('A', { value }) })
  const results = await Promise.all(['x', 'y', 'z'].map(put))
  t.equal(results.filter((isNew) => isNew).length, 1)
  t.equal(await put('x'), false)
  t.equal(await put('x'), false, 'also with the same value')
  t.match(await listValues(db, 'secrets', { scope: {}, page: PAGE }), { total: 1 })
})

await forEachMigrated(t, 'the last scope that has a name wins', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ownerId, 'r')
  const { id: otherId } = await aRepository(db, ownerId, 'other')
  const scopes = scopesOfRepository({ id: repositoryId, owner: { id: ownerId } })
  const add = (scope: object, name: string, value: string) =>
    createValue(db, 'variables', { scope, ...aValue(name, { value }) })
  for (const name of ['A', 'B', 'C']) await add({}, name, 'site')
  for (const name of ['B', 'C']) await add({ ownerId }, name, 'owner')
  await add({ repositoryId }, 'C', 'repository')
  await add({ repositoryId: otherId }, 'D', 'other')
  const merged = await mergeValues(db, 'variables', scopes)
  t.strictSame(
    [...merged].map(([name, { value, scope }]) => [name, value, scope]),
    [
      ['A', 'site', {}],
      ['B', 'owner', { ownerId }],
      ['C', 'repository', { repositoryId }],
    ],
  )
})

await forEachMigrated(t, 'values are deleted with their repository', async (t, db) => {
  const { id: ownerId } = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ownerId, 'r')
  const scope = { repositoryId }
  await createValue(db, 'secrets', { scope, ...aValue('A') })
  await deleteRepository(db, repositoryId)
  t.match(await listValues(db, 'secrets', { scope, page: PAGE }), { total: 0 })
})

await forEachMigrated(t, 'a scope has at most 100 values, of 1 MiB together', async (t, db) => {
  const big = 524_288
  await createValue(db, 'secrets', { scope: {}, ...aValue('BIG', { bytes: big }) })
  const second = { scope: {}, ...aValue('BIG2', { bytes: big + 1 }) }
  await t.rejects(createValue(db, 'secrets', second), /together have more than 1048576 bytes/)
  const grow = { scope: {}, name: 'BIG', to: aValue('BIG', { bytes: 2 * big }) }
  t.ok(await updateValue(db, 'secrets', grow), 'its former size does not count')
  const names = Array.from({ length: 99 }, (_, at) => `N${at}`)
  for (const name of names)
    await putValue(db, 'secrets', { scope: {}, ...aValue(name, { bytes: 0 }) })
  const more = { scope: {}, ...aValue('MORE', { bytes: 0 }) }
  await t.rejects(putValue(db, 'secrets', more), /There are 100 secrets already/)
  const known = { scope: {}, ...aValue('N1', { bytes: 0 }) }
  t.equal(await putValue(db, 'secrets', known), false, 'one of the 100 can be replaced')
  t.equal(await putValue(db, 'variables', more), true, 'the kinds are counted apart')
})
