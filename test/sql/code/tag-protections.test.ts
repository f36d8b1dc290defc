/** Tag protection rules: changed in part, and deleted with their repository. */

import t from 'tap'
import { hasPushRules } from '../../../sql/code/branch-protections.js'
import {
  createTagProtection,
  deleteTagProtection,
  listTagProtections,
  updateTagProtection,
} from '../../../sql/code/tag-protections.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

await forEachMigrated(t, 'rules of tags are created, changed and deleted', async (t, db) => {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const { id } = await aRepository(db, ada.id, 'r')
  const other = await aRepository(db, ada.id, 'other')
  const add = (repositoryId: number, namePattern: string, users: readonly number[]) =>
    createTagProtection(db, { repositoryId, namePattern, allowed: { users, teams: undefined } })
  t.equal(await hasPushRules(db, id), false)
  const first = await add(id, 'v*', [ada.id, bob.id])
  const second = await add(id, 'V*', [ada.id])
  await add(other.id, 'v*', [bob.id])
  t.equal(await hasPushRules(db, id), true)
  await t.rejects(add(id, 'v*', []), /Tag protection already exist/)
  const onlyBob = { users: [bob.id], teams: undefined }
  await updateTagProtection(db, second, { namePattern: undefined, allowed: onlyBob })
  const unchanged = { users: undefined, teams: undefined }
  const taken = updateTagProtection(db, second, { namePattern: 'v*', allowed: unchanged })
  await t.rejects(taken, /Tag protection already exist/)
  t.equal(await updateTagProtection(db, 999, { namePattern: 'x', allowed: unchanged }), false)
  t.match(await listTagProtections(db, id), [
    { namePattern: 'v*', allowed: { users: [{ name: 'ada' }, { name: 'bob' }], teams: [] } },
    { namePattern: 'V*', allowed: { users: [{ name: 'bob' }], teams: [] } },
  ])
  t.equal(await deleteTagProtection(db, other.id, first), false, 'a rule of another repository')
  t.equal(await deleteTagProtection(db, id, first), true)
  await db('owners').where({ id: bob.id }).delete()
  t.match(await listTagProtections(db, id), [{ id: second, allowed: { users: [] } }])
  await deleteRepository(db, id)
  t.equal(await hasPushRules(db, id), false)
  t.equal(await hasPushRules(db, other.id), true)
})

await forEachMigrated(t, 'a repository has at most 100 rules of tags', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const { id } = await aRepository(db, ada.id, 'r')
  const allowed = { users: [], teams: [] }
  for (let index = 0; index < 100; index += 1) {
    await createTagProtection(db, { repositoryId: id, namePattern: `t${index}`, allowed })
  }
  const oneMore = createTagProtection(db, { repositoryId: id, namePattern: 'x', allowed })
  await t.rejects(oneMore, /at most 100/)
})
