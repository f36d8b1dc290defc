/** Imports reserve a name while they run, and end completely or not at all. */

import t from 'tap'
import { newStorageKey } from '../../../cgi/repository/paths.js'
import { findRepository } from '../../../sql/repositories/repositories.js'
import {
  beginImport,
  completeImport,
  endImport,
  giveUpImport,
  listImports,
  renewImport,
} from '../../../sql/repositories/repository-imports.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

const input = (ownerId: number, name: string, storage = newStorageKey()) => ({
  ownerId,
  name,
  storage,
  machine: 'm',
  process: '{}',
  leaseMs: 30_000,
})

const arrivalOf = (ownerId: number, name: string, storage: string) => ({
  repository: {
    ownerId,
    name,
    storage,
    description: '',
    website: '',
    isPrivate: false,
    isTemplate: false,
    isEmpty: false,
    defaultBranch: 'main',
    preferences: {},
    objectFormat: 'sha1' as const,
  },
  source: { url: 'https://code.example.com/x.git', mirror: undefined },
})

await forEachMigrated(t, 'a name has one import at a time', async (t, db) => {
  const [ada, bob] = [await aUser(db, 'ada'), await aUser(db, 'bob')]
  const id = await beginImport(db, input(ada.id, 'r'))
  await t.rejects(beginImport(db, input(ada.id, 'R')), {
    failure: 'conflict',
    message: /same name/,
  })
  const other = await beginImport(db, input(bob.id, 'r'))
  t.strictSame(
    (await listImports(db)).map((each) => each.id),
    [id, other],
  )
  await endImport(db, id)
  await beginImport(db, input(ada.id, 'r'))
})

await forEachMigrated(t, 'the repository exists when its import ends', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const storage = newStorageKey()
  const id = await beginImport(db, input(ada.id, 'r', storage))
  t.equal(await findRepository(db, 'ada', 'r'), undefined)
  const made = await completeImport(db, id, arrivalOf(ada.id, 'r', storage))
  t.match(made, { name: 'r', source: { url: 'https://code.example.com/x.git' } })
  t.strictSame(await listImports(db), [])
  const late = await beginImport(db, input(ada.id, 'taken', newStorageKey()))
  await aRepository(db, ada.id, 'taken')
  const taken = completeImport(db, late, arrivalOf(ada.id, 'taken', newStorageKey()))
  await t.rejects(taken, { failure: 'conflict', message: /same name/ })
  t.equal((await listImports(db)).length, 1, 'the failed import is listed for cleanup')
})

await forEachMigrated(t, 'an import that was given up cannot be completed', async (t, db) => {
  const ada = await aUser(db, 'ada')
  const storage = newStorageKey()
  const id = await beginImport(db, input(ada.id, 'r', storage))
  const [seen] = await listImports(db)
  if (seen === undefined) throw new Error('no import is there')
  await renewImport(db, id, 90_000)
  t.notOk(await giveUpImport(db, seen), 'an import that was renewed is not given up')
  const [again] = await listImports(db)
  t.ok(await giveUpImport(db, again ?? seen))
  await renewImport(db, id, 90_000)
  const [given] = await listImports(db)
  t.equal(given?.leasedUntilMs, 0, 'it cannot be renewed')
  t.ok(await giveUpImport(db, given ?? seen), 'giving up again after a crash succeeds')
  const completing = completeImport(db, id, arrivalOf(ada.id, 'r', storage))
  await t.rejects(completing, { failure: 'unavailable', message: /was interrupted/ })
  t.equal(await findRepository(db, 'ada', 'r'), undefined)
})
