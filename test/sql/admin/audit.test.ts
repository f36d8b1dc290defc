/** Entries of the audit log are added before a change and completed once. */

import t from 'tap'
import {
  beginAuditEntry,
  cancelAuditEntry,
  completeAuditEntry,
  listAuditEntries,
  removeOldAuditEntries,
} from '../../../sql/admin/audit.js'
import { forEachMigrated } from '../../helpers/databases.js'

const PAGE = { page: 1, limit: 2 }
const FACTS = { actorId: 1, actorName: 'Ada', credential: 'token', subject: 'ada/r' }

await forEachMigrated(t, 'entries are listed, completed once and removed', async (t, db) => {
  const add = (action: string, ownerId?: number) =>
    beginAuditEntry(db, { ...FACTS, action, ownerId })
  const first = await add('ssh_key.create', 7)
  const second = await add('ssh_key.delete', 7)
  await add('ssh_keyring.create')
  await completeAuditEntry(db, first, 'title=k')
  await completeAuditEntry(db, first, 'title=other')
  await cancelAuditEntry(db, first)
  const { entries, total } = await listAuditEntries(db, { ownerId: 7, actor: 'ada' }, PAGE)
  t.equal(total, 2)
  t.match(entries, [
    { id: second, completedAtMs: undefined, details: '' },
    { id: first, completedAtMs: Number, details: 'title=k', ownerId: 7, tokenId: undefined },
  ])
  const totalOf = async (action: string) => (await listAuditEntries(db, { action }, PAGE)).total
  t.equal(await totalOf('ssh_key'), 2)
  t.equal(await totalOf('ssh_key.delete'), 1)
  await cancelAuditEntry(db, second)
  t.equal(await totalOf('ssh_key.delete'), 0)
  t.equal(await removeOldAuditEntries(db, Date.now() - 60_000), 0)
  t.equal(await removeOldAuditEntries(db, Date.now() + 1), 2)
})
