/** `gatehouse db`: applied and pending migrations. */

import t from 'tap'
import { DB_COMMANDS } from '../../../scripts/commands/db.js'
import { MIGRATIONS } from '../../../sql/migrations/list.js'
import { runCommand, useDataFolder } from '../../helpers/command.js'

t.test('status lists the pending migrations and migrate applies them once', async (t) => {
  await useDataFolder(t, { isMigrated: false })
  const names = MIGRATIONS.map(({ name }) => name)
  const status = () => runCommand(t, DB_COMMANDS, 'db', 'status')
  t.strictSame(
    await status(),
    names.map((name) => `${name}\twaiting`),
  )
  const applied = await runCommand(t, DB_COMMANDS, 'db', 'migrate')
  t.strictSame(
    applied,
    names.map((name) => `applied ${name}`),
  )
  t.strictSame(await runCommand(t, DB_COMMANDS, 'db', 'migrate'), ['nothing to do'])
  for (const line of await status()) t.match(line, /^\d{4}-\S+\t\d{4}-\d\d-\d\dT[\d:.]+Z$/)
})
