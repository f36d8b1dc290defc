/** Branch protection rules: changed in part, ordered, and deleted with their repository. */

import t from 'tap'
import { DEFAULT_SETTINGS } from '../../../gateway/objects/code/branch-protection-object.js'
import {
  createProtection,
  deleteProtection,
  hasPushRules,
  listProtections,
  orderProtections,
  updateProtection,
} from '../../../sql/code/branch-protections.js'
import type { Database } from '../../../sql/database/database.js'
import { deleteRepository } from '../../../sql/repositories/repositories.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

async function aRule(db: Database, repositoryId: number, ruleName: string, users: number[] = []) {
  await createProtection(db, {
    repositoryId,
    ruleName,
    priority: 0,
    settings: DEFAULT_SETTINGS,
    lists: { push: { users, teams: undefined } },
  })
}

await forEachMigrated(t, 'rules are created, changed and ordered', async (t, db) => {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const { id } = await aRepository(db, ada.id, 'r')
  const other = await aRepository(db, ada.id, 'other')
  t.equal(await hasPushRules(db, id), false)
  t.same(await listProtections(db, id), [])
  await aRule(db, id, 'main', [ada.id, bob.id])
  await aRule(db, id, 'Main')
  await aRule(db, other.id, 'main')
  t.equal(await hasPushRules(db, id), true)
  await t.rejects(aRule(db, id, 'main'), /Branch protection already exist/)
  const [main, second] = await listProtections(db, id)
  t.match(main, {
    ruleName: 'main',
    priority: 1,
    settings: DEFAULT_SETTINGS,
    lists: { push: { users: [{ name: 'ada' }, { name: 'bob' }], teams: [] } },
  })
  await updateProtection(db, main?.id ?? 0, {
    settings: { enable_push: true },
    lists: { merge: { users: [bob.id], teams: [] } },
  })
  await orderProtections(db, other.id, [second?.id ?? 0, main?.id ?? 0])
  await orderProtections(db, id, [second?.id ?? 0, main?.id ?? 0])
  t.match(await listProtections(db, id), [
    { ruleName: 'Main', priority: 1 },
    {
      ruleName: 'main',
      priority: 2,
      settings: { enable_push: true },
      lists: {
        push: { users: [{ id: ada.id }, { id: bob.id }] },
        merge: { users: [{ id: bob.id }] },
      },
    },
  ])
  t.equal(await deleteProtection(db, id, 'MAIN'), false)
  t.equal(await deleteProtection(db, id, 'Main'), true)
  await db('owners').where({ id: bob.id }).delete()
  const [left, ...rest] = await listProtections(db, id)
  t.same(rest, [])
  t.match(left, { lists: { push: { users: [{ id: ada.id }] }, merge: { users: [] } } })
  await deleteRepository(db, id)
  t.equal(await hasPushRules(db, id), false)
  t.equal(await hasPushRules(db, other.id), true)
})

await forEachMigrated(t, 'a repository has at most 100 rules', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const { id } = await aRepository(db, ada.id, 'r')
  for (let index = 0; index < 100; index += 1) await aRule(db, id, `rule-${index}`)
  await t.rejects(aRule(db, id, 'one-more'), /at most 100/)
})
