/** Assignable users, as each caller sees them. */

import t from 'tap'
import { findRepository } from '../../../../sql/repositories/repositories.js'
import { startGatewayWithUsers } from '../../../helpers/gateway-with-users.js'
import { aCollaborator } from '../../../helpers/rows.js'

t.test('users with write permission are listed as far as the caller may see them', async (t) => {
  const { as, db, bob, addUser } = await startGatewayWithUsers(t)
  const eve = await addUser('eve')
  await as('ada', 'POST', '/user/repos', { name: 'r' })
  const repository = await findRepository(db, 'ada', 'r')
  if (repository === undefined) throw new Error('it was made')
  await aCollaborator(db, repository, bob, 'write')
  await aCollaborator(db, repository, eve, 'read')
  const logins = async (name: 'ada' | 'bob' | 'anyone') => {
    const { json } = await as(name, 'GET', '/repos/ada/r/assignees')
    return (json as { login: string }[]).map(({ login }) => login).join()
  }
  t.equal(await logins('anyone'), 'ada,bob')
  await db('owners').where({ id: bob.id }).update({ visibility: 'private' })
  t.equal(await logins('anyone'), 'ada')
  t.equal(await logins('bob'), 'ada,bob')
  const { json } = await as('bob', 'GET', '/repos/ada/r/reviewers')
  t.strictSame(
    (json as { login: string }[]).map(({ login }) => login),
    ['ada', 'bob', 'eve'],
    'users with read permission can be requested to review',
  )
})
