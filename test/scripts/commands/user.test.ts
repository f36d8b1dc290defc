/** `gatehouse user`: creates, lists, changes and deletes accounts. */

import t from 'tap'
import { checkPassword } from '../../../gateway/auth/password.js'
import { withDatabase } from '../../../scripts/commands/command.js'
import { requireUser, USER_COMMANDS } from '../../../scripts/commands/user.js'
import { findPassword } from '../../../sql/accounts/users.js'
import { runCommand, useDataFolder } from '../../helpers/command.js'
import { enrol } from '../../helpers/second-factor.js'

t.test('an account is created, listed, given another password, and deleted', async (t) => {
  await useDataFolder(t)
  const user = (...args: readonly string[]) => runCommand(t, USER_COMMANDS, 'user', ...args)
  t.strictSame(await user('create', 'Ada', '--password', 'first password'), ['created Ada'])
  await user(
    'create',
    'root',
    '--password',
    'first password',
    '--email',
    'r@example.com',
    '--admin',
  )
  t.strictSame(await user('list'), [
    'Ada\tada@noreply.127.0.0.1\tuser',
    'root\tr@example.com\tadmin',
  ])
  const isRight = (password: string) =>
    withDatabase(async (db) =>
      checkPassword((await findPassword(db, 'ada'))?.passwordHash, password),
    )
  t.equal(await isRight('first password'), true)
  const changed = await user('password', 'ADA', '--password', 'second password')
  t.strictSame(changed, ['set the password of Ada'])
  t.equal(await isRight('second password'), true)
  t.equal(await isRight('first password'), false)
  await withDatabase(async (db, settings) => enrol({ db, settings }, await requireUser(db, 'ada')))
  const removed = ['removed the second factor of Ada']
  t.strictSame(await user('remove-factor', 'ada'), removed)
  await t.rejects(user('remove-factor', 'ada'), { message: 'Ada has no second factor' })
  t.strictSame(await user('delete', 'ada'), ['deleted Ada'])
  t.strictSame(await user('list'), ['root\tr@example.com\tadmin'])
})

t.test('an account change that is not possible is refused with a message', async (t) => {
  await useDataFolder(t)
  const user = (...args: readonly string[]) => runCommand(t, USER_COMMANDS, 'user', ...args)
  await user('create', 'ada', '--password', 'a password')
  const create = (name: string, ...more: readonly string[]) =>
    user('create', name, '--password', 'a password', ...more)
  await t.rejects(create('ADA'), { message: /already taken/ })
  await t.rejects(create('api'), { message: /reserved/ })
  await t.rejects(create('bob', '--email', 'nowhere'), { message: /e-mail/ })
  await t.rejects(create('bob', '--email', 'ada@noreply.127.0.0.1'), { message: /already used/ })
  await t.rejects(user('create', 'bob', '--password', 'short'), { message: /8 to 256/ })
  await t.rejects(user('delete', 'absent'), { message: 'there is no user absent' })
  await t.rejects(
    withDatabase((db) => requireUser(db, 'absent')),
    { message: 'there is no user absent' },
  )
})
