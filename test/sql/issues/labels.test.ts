/** Labels: each belongs to one repository or organization and is changed and deleted only there. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import {
  createLabel,
  deleteLabel,
  findLabel,
  findUsableLabels,
  type LabelOwner,
  labelsOfIssues,
  listLabels,
  updateLabel,
} from '../../../sql/issues/labels.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { anOrganization, aRepository, aUser } from '../../helpers/rows.js'

const PAGE = { page: 1, limit: 50 }

async function twoOwners(db: Database) {
  const ada = await aUser(db, 'ada')
  const club = await anOrganization(db, 'club', ada.id)
  const { id } = await aRepository(db, club.id, 'engine')
  const notes = await aRepository(db, ada.id, 'notes')
  const add = (owner: LabelOwner, name: string) =>
    createLabel(db, owner, {
      name,
      color: '00aabb',
      description: `of ${name}`,
      isExclusive: true,
      isArchived: false,
    })
  const [engine, whole] = [{ repositoryId: id }, { organizationId: club.id }]
  return { engine, whole, notes: { repositoryId: notes.id }, add }
}

await forEachMigrated(
  t,
  'a label is found, changed and deleted only by its owner',
  async (t, db) => {
    const { engine, whole, notes, add } = await twoOwners(db)
    const [bug, all] = [await add(engine, 'bug'), await add(whole, 'all')]
    t.match(bug, { name: 'bug', color: '00aabb', description: 'of bug', isExclusive: true })
    t.strictSame(await findLabel(db, engine, bug.id), bug)
    t.strictSame(await findLabel(db, whole, all.id), all)
    for (const [owner, { id }] of [
      [whole, bug] as const,
      [notes, bug] as const,
      [engine, all] as const,
      [{ organizationId: engine.repositoryId }, bug] as const,
    ]) {
      t.equal(await findLabel(db, owner, id), undefined)
      t.equal(await updateLabel(db, owner, { id, name: 'mine' }), undefined)
      t.equal(await deleteLabel(db, owner, id), false)
    }
    t.strictSame(await findLabel(db, engine, bug.id), bug, 'another owner has not changed it')
    const changed = { ...bug, name: 'fault', isArchived: true }
    const patch = { id: bug.id, name: 'fault', isArchived: true }
    t.strictSame(await updateLabel(db, engine, patch), changed)
    t.strictSame(await updateLabel(db, engine, { id: bug.id }), changed, 'an empty change')
    t.equal(await deleteLabel(db, engine, bug.id), true)
    t.equal(await deleteLabel(db, engine, bug.id), false)
    const gone = { failure: 'not_found', message: 'The owner of the label does not exist.' }
    await t.rejects(add({ repositoryId: 99 }, 'x'), gone)
  },
)

await forEachMigrated(t, 'labels are listed by name, also two with one name', async (t, db) => {
  const { engine, whole, add } = await twoOwners(db)
  for (const name of ['b', 'a', 'b', 'ä']) await add(engine, name)
  await add(whole, 'c')
  const names = async (page = PAGE) => {
    const { entries, total } = await listLabels(db, engine, page)
    return [entries.map(({ name }) => name).join(), total]
  }
  t.strictSame(await names(), ['a,b,b,ä', 4])
  t.strictSame(await names({ page: 2, limit: 3 }), ['ä', 4])
  t.strictSame((await listLabels(db, whole, PAGE)).total, 1)
})

await forEachMigrated(
  t,
  'usable labels are those of the repository and its organization',
  async (t, db) => {
    const { engine, whole, notes, add } = await twoOwners(db)
    const [own, all, other] = [await add(engine, 'x'), await add(whole, 'y'), await add(notes, 'z')]
    const usable = async (repositoryId: number, ...named: (number | string)[]) =>
      (await findUsableLabels(db, repositoryId, named)).map(({ name }) => name).join()
    const named = [own.id, all.id, other.id]
    t.equal(await usable(engine.repositoryId, ...named), 'x,y')
    t.equal(await usable(notes.repositoryId, ...named), 'z')
    t.equal(await usable(engine.repositoryId, 'x', 'y', 'z'), 'x,y')
    t.equal(await usable(engine.repositoryId, 'X', 'x '), '', 'exact names only')
    t.equal(await usable(engine.repositoryId, own.id, 'y'), 'x,y')
    t.equal(await usable(engine.repositoryId), '')
    t.equal((await labelsOfIssues(db, [])).size, 0)
  },
)
