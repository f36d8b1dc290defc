/** Package objects: creator, and addresses for any name. */

import t from 'tap'
import { packageObjects } from '../../../../gateway/objects/packages/package-object.js'
import { findUser } from '../../../../sql/accounts/users.js'
import type { ListedVersion } from '../../../../sql/packages/package-lists.js'
import { BASE_URL, openContext } from '../../../helpers/gateway.js'

const VERSION: ListedVersion = {
  id: 7,
  version: '1.0/ß 1',
  format: 'composer',
  packageName: 'acme/lib?#',
  createdAtMs: 1_790_000_000_999,
  repositoryId: undefined,
  creator: undefined,
}

t.test('the address of a version encodes every character of its name', async (t) => {
  const { context, fixture } = await openContext(t)
  const owner = await fixture.addUser('Ada')
  const grant = { who: { kind: 'anonymous' }, user: undefined, owner } as const
  const [object] = await packageObjects(context, [VERSION], { grant })
  t.match(object, {
    id: 7,
    name: 'acme/lib?#',
    version: '1.0/ß 1',
    type: 'composer',
    repository: null,
    html_url: `${BASE_URL}/Ada/-/packages/composer/acme%2Flib%3F%23/1.0%2F%C3%9F%201`,
    created_at: '2026-09-21T14:13:20Z',
  })
})

t.test('a deleted or hidden creator is Ghost', async (t) => {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  await fixture.addUser('bob')
  await fixture.db('owners').where({ name: 'bob' }).update({ visibility: 'private' })
  const bob = await findUser(fixture.db, 'bob')
  const root = await fixture.addUser('root', { isAdmin: true })
  const creatorFor = async (user: typeof bob, creator: typeof bob) => {
    const grant = { who: { kind: 'anonymous' }, user, owner: ada } as const
    const [object] = await packageObjects(context, [{ ...VERSION, creator }], { grant })
    return object?.creator
  }
  t.match(await creatorFor(ada, undefined), { id: -1, login: 'Ghost' })
  t.match(await creatorFor(ada, bob), { id: -1, login: 'Ghost' })
  t.match(await creatorFor(bob, bob), { login: 'bob' })
  t.match(await creatorFor(root, bob), { login: 'bob' })
  t.match(await creatorFor(bob, ada), { login: 'ada' })
})
