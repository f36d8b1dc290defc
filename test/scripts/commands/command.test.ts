/** Helpers of all commands: required options, and a database that is migrated. */

import t from 'tap'
import {
  CommandError,
  requiredOption,
  UsageError,
  withAnyDatabase,
  withDatabase,
} from '../../../scripts/commands/command.js'
import { listUsers } from '../../../sql/accounts/users.js'
import { useDataFolder } from '../../helpers/command.js'

const countUsers = () =>
  withDatabase(async (db) => (await listUsers(db, { page: 1, limit: 1 })).total)

t.test('a required option that is missing is an error', async (t) => {
  const call = { positionals: [], values: { name: 'x', empty: '', flag: true } }
  t.equal(requiredOption(call, 'name'), 'x')
  for (const name of ['empty', 'flag', 'absent']) {
    t.throws(() => requiredOption(call, name), new UsageError(`--${name} is needed`))
  }
})

t.test('commands run on a migrated database only', async (t) => {
  await useDataFolder(t)
  t.equal(await countUsers(), 0)
  await useDataFolder(t, { isMigrated: false })
  const advice = "the database is not migrated: run 'gatehouse db migrate'"
  await t.rejects(countUsers(), new CommandError(advice))
  t.equal(
    await withAnyDatabase(async () => 'done'),
    'done',
    'a migration command runs on any database',
  )
})

t.test('an unreachable database is a one-line error without the password', async (t) => {
  await useDataFolder(t, { isMigrated: false })
  process.env['GATEHOUSE_DATABASE_URL'] = 'mysql://ada:my-secret@127.0.0.1:1/house'
  t.teardown(() => delete process.env['GATEHOUSE_DATABASE_URL'])
  const thrown = await countUsers().catch((error: unknown) => error)
  t.ok(thrown instanceof CommandError)
  t.match(thrown, { message: /^The database .*127\.0\.0\.1:1.* cannot be used: [^\n]*$/ })
  t.notMatch(String(thrown), 'my-secret')
})
