/** User objects per viewer. */

import t from 'tap'
import {
  ownerObject,
  personObject,
  userObject,
} from '../../../../gateway/objects/accounts/user-object.js'
import { BASE_URL, openContext } from '../../../helpers/gateway.js'

t.test(
  'the address and state of an account are shown to itself and to administrators',
  async (t) => {
    const { context, fixture } = await openContext(t)
    const [ada, bob] = [await fixture.addUser('Ada'), await fixture.addUser('bob')]
    const root = await fixture.addUser('root', { isAdmin: true })
    const seen = ownerObject(context, ada)
    t.equal(seen.email, 'ada@noreply.code.example.com')
    t.equal(seen.html_url, `${BASE_URL}/Ada`)
    t.strictSame([seen.login, seen.username], ['Ada', 'Ada'], 'clients read either field')
    for (const viewer of [undefined, bob]) t.strictSame(userObject(context, ada, viewer), seen)
    for (const viewer of [ada, root]) {
      const own = userObject(context, ada, viewer)
      t.match(own, { email: 'ada@example.com', active: true, is_admin: false })
      t.strictSame(Object.keys(own), Object.keys(seen), 'with the same fields')
    }
    t.equal(
      userObject(context, root, ada).is_admin,
      false,
      'other users do not see that it is an administrator',
    )
    t.equal(userObject(context, root, root).is_admin, true)
  },
)

t.test('a deleted or hidden user is shown as Ghost', async (t) => {
  const { context, fixture } = await openContext(t)
  const [ada, bob] = [await fixture.addUser('ada'), await fixture.addUser('bob')]
  const shy = { ...bob, visibility: 'private' } as const
  t.match(personObject(context, ada, undefined), { login: 'ada' })
  for (const [person, viewer] of [
    [undefined, ada],
    [shy, ada],
    [shy, undefined],
  ] as const) {
    t.match(personObject(context, person, viewer), { id: -1, login: 'Ghost' })
  }
  t.match(personObject(context, shy, bob), { login: 'bob' })
})
