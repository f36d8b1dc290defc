/** Modes of a repository's collaborators. */

import t from 'tap'
import {
  collaboratorModes,
  removeCollaborator,
  setCollaborator,
} from '../../../sql/repositories/collaborators.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

await forEachMigrated(t, 'modes of several collaborators are read in one query', async (t, db) => {
  const [ada, bob, cleo] = [await aUser(db, 'ada'), await aUser(db, 'bob'), await aUser(db, 'cleo')]
  const { id: repositoryId } = await aRepository(db, ada.id, 'r')
  const { id: other } = await aRepository(db, ada.id, 'other')
  const ids = [ada.id, bob.id, cleo.id]
  t.equal((await collaboratorModes(db, repositoryId, [])).size, 0)
  await setCollaborator(db, { repositoryId, userId: bob.id, mode: 'read' })
  await setCollaborator(db, { repositoryId: other, userId: cleo.id, mode: 'admin' })
  t.strictSame([...(await collaboratorModes(db, repositoryId, ids))], [[bob.id, 'read']])
  await setCollaborator(db, { repositoryId, userId: bob.id, mode: 'admin' })
  t.strictSame([...(await collaboratorModes(db, repositoryId, ids))], [[bob.id, 'admin']])
  t.equal((await collaboratorModes(db, repositoryId, [cleo.id])).size, 0)
  await removeCollaborator(db, repositoryId, bob.id)
  t.equal((await collaboratorModes(db, repositoryId, ids)).size, 0)
})
