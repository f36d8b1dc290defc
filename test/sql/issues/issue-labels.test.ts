/** Labels of an issue: added, replaced, and removed by exclusive ones. */

import { t } from 'tap'
import type { Database } from '../../../sql/database/database.js'
import {
  addIssueLabels,
  removeIssueLabel,
  replaceIssueLabels,
} from '../../../sql/issues/issue-labels.js'
import { createIssue } from '../../../sql/issues/issues.js'
import { createLabel, deleteLabel, labelsOfIssues } from '../../../sql/issues/labels.js'
import { forEachMigrated } from '../../helpers/databases.js'
import { aRepository, aUser } from '../../helpers/rows.js'

async function anIssue(db: Database) {
  const ada = await aUser(db, 'ada')
  const { id: repositoryId } = await aRepository(db, ada.id, 'engine')
  const fields = { title: 't', content: '', authorId: ada.id }
  const issue = await createIssue(db, { ...fields, repositoryId, isPull: false })
  const add = (name: string, owner = repositoryId, isExclusive = false) => {
    const label = { name, color: '00aabb', description: '', isExclusive, isArchived: false }
    return createLabel(db, { repositoryId: owner }, label)
  }
  const names = async () =>
    ((await labelsOfIssues(db, [issue.id])).get(issue.id) ?? []).map(({ name }) => name).join()
  return { ada, issue, add, names, repositoryId }
}

await forEachMigrated(t, 'labels are added and replaced by id and name', async (t, db) => {
  const { issue, add, names, repositoryId } = await anIssue(db)
  const [a, b, c] = [await add('a'), await add('b'), await add('c')]
  await addIssueLabels(db, issue, [b.id, 'a'])
  t.equal(await names(), 'a,b')
  await addIssueLabels(db, issue, ['a', a.id, c.id, 'c'])
  t.equal(await names(), 'a,b,c', 'each once')
  await replaceIssueLabels(db, issue, ['c'])
  t.equal(await names(), 'c')
  t.equal(await removeIssueLabel(db, issue, c.id), true)
  t.equal(await removeIssueLabel(db, issue, c.id), false)
  await replaceIssueLabels(db, issue, ['a', 'b'])
  await deleteLabel(db, { repositoryId }, a.id)
  t.equal(await names(), 'b')
  await replaceIssueLabels(db, issue, [])
  t.equal(await names(), '')
})

await forEachMigrated(
  t,
  'a label of another repository refuses the whole change',
  async (t, db) => {
    const { ada, issue, add, names } = await anIssue(db)
    const notes = await aRepository(db, ada.id, 'notes')
    await add('a')
    const foreign = await add('b', notes.id)
    await addIssueLabels(db, issue, ['a'])
    for (const named of [[foreign.id], ['b'], ['a', foreign.id], [0], [-1], [''], ["' or 1=1"]]) {
      const refusal = { failure: 'invalid', message: /^The label .* does not exist\.$/ }
      await t.rejects(addIssueLabels(db, issue, named), refusal)
      await t.rejects(replaceIssueLabels(db, issue, named), refusal)
    }
    t.equal(await names(), 'a')
  },
)

await forEachMigrated(t, 'an exclusive label replaces another one of its scope', async (t, db) => {
  const { issue, add, names, repositoryId } = await anIssue(db)
  for (const name of ['size/a', 'size/b', 'kind/a', 'size/', '/size']) {
    await add(name, repositoryId, true)
  }
  await add('size/c')
  await addIssueLabels(db, issue, ['size/a', 'kind/a', 'size/c'])
  t.equal(await names(), 'kind/a,size/a,size/c')
  await addIssueLabels(db, issue, ['size/b', 'size/', '/size'])
  t.equal(await names(), '/size,kind/a,size/,size/b,size/c')
  await replaceIssueLabels(db, issue, ['size/a', 'size/b'])
  t.equal(await names(), 'size/b', 'the later one of two exclusive labels')
})

await forEachMigrated(t, 'concurrent labelling of one issue loses no label', async (t, db) => {
  const { issue, add, names } = await anIssue(db)
  const labels = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const name of labels) await add(name)
  await Promise.all([...labels, ...labels].map((name) => addIssueLabels(db, issue, [name])))
  t.equal(await names(), labels.join())
})
