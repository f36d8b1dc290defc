/** `gatehouse token`: created and printed once, listed without the secret, revoked. */

import t, { type Test } from 'tap'
import { hashToken } from '../../../gateway/auth/token.js'
import { withDatabase } from '../../../scripts/commands/command.js'
import { TOKEN_COMMANDS } from '../../../scripts/commands/token.js'
import { USER_COMMANDS } from '../../../scripts/commands/user.js'
import { findTokenWithUser } from '../../../sql/accounts/tokens.js'
import { runCommand, useDataFolder } from '../../helpers/command.js'

async function withAda(t: Test) {
  await useDataFolder(t)
  await runCommand(t, USER_COMMANDS, 'user', 'create', 'ada', '--password', 'a password')
  return (...args: readonly string[]) => runCommand(t, TOKEN_COMMANDS, 'token', ...args)
}

t.test('a token is printed alone on its line, authenticates, and can be revoked', async (t) => {
  const token = await withAda(t)
  const [plain = '', ...more] = await token(
    'create',
    'ada',
    '--name',
    'ci',
    '--scopes',
    'write:repository,package',
  )
  t.match(plain, /^[0-9a-f]{40}$/)
  t.strictSame(more, [])
  const find = () => withDatabase(async (db) => await findTokenWithUser(db, hashToken(plain)))
  t.match(await find(), { user: { name: 'ada' }, token: { name: 'ci' } })
  const listed = [`ci\t…${plain.slice(-8)}\twrite:package,write:repository`]
  t.strictSame(await token('list', 'ADA'), listed)
  t.strictSame(await token('revoke', 'ada', '--name', 'ci'), ['revoked ci'])
  t.equal(await find(), undefined)
  t.strictSame(await token('list', 'ada'), [])
})

t.test('a token that cannot be created or revoked is refused with a message', async (t) => {
  const token = await withAda(t)
  const create = (user: string, scopes: string) =>
    token('create', user, '--name', 'ci', '--scopes', scopes)
  await create('ada', 'all')
  await t.rejects(create('ada', 'all'), { message: 'access token name has been used already' })
  await t.rejects(create('ada', 'everything'), { message: /scope provided: everything$/ })
  await t.rejects(create('ada', ','), { message: 'access token must have a scope' })
  await t.rejects(create('absent', 'all'), { message: 'there is no user absent' })
  await t.rejects(token('create', 'ada', '--scopes', 'all'), { message: '--name is needed' })
  await t.rejects(token('revoke', 'ada', '--name', 'x'), { message: 'ada has no token x' })
})
