/** Issue filters, parsed from the query. */

import t from 'tap'
import { filterOf, userFilterOf } from '../../../../gateway/api/issues/issue-filter.js'
import { openContext } from '../../../helpers/gateway.js'

t.test('lists are split, and empty values are left out', async (t) => {
  t.match(filterOf({}), { state: 'open', labels: [], milestones: [], text: undefined })
  t.match(filterOf({ state: 'all', labels: ' a , ,b,', milestones: ',', q: ' x ' }), {
    state: undefined,
    labels: ['a', 'b'],
    milestones: [],
    text: 'x',
  })
  t.match(filterOf({ state: 'closed', q: ' ' }), { state: 'closed', text: undefined })
  t.equal(filterOf({ state: 'nonsense' }).state, 'open')
  t.throws(() => filterOf({ before: 'x' }), { message: /RFC 3339/ })
})

t.test('users in a filter are resolved only if the caller may see them', async (t) => {
  const { context, fixture } = await openContext(t)
  const [ada, bob] = [await fixture.addUser('ada'), await fixture.addUser('bob')]
  const query = { created_by: 'ADA', assigned_by: 'bob', mentioned_by: '' }
  const found = { authorId: ada.id, assigneeId: bob.id, mentionedId: undefined }
  t.strictSame(await userFilterOf(context, query, undefined), found)
  await fixture.db('owners').where({ id: bob.id }).update({ visibility: 'private' })
  t.strictSame(await userFilterOf(context, query, bob), found)
  const gone = { failure: 'not_found', message: 'not found' }
  await t.rejects(userFilterOf(context, query, ada), gone)
  await t.rejects(userFilterOf(context, { created_by: 'nobody' }, ada), gone)
})
