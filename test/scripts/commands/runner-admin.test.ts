/** `gatehouse runner token|list|set|remove`: management of runners on the server. */

import t from 'tap'
import { withDatabase } from '../../../scripts/commands/command.js'
import { RUNNER_ADMIN_COMMANDS } from '../../../scripts/commands/runner-admin.js'
import { listRunners } from '../../../sql/runners/runners.js'
import { runCommand, useDataFolder } from '../../helpers/command.js'
import { aRunner } from '../../helpers/run-rows.js'

t.test('a runner is listed, changed and removed', async (t) => {
  await useDataFolder(t)
  const run = (...args: readonly string[]) =>
    runCommand(t, RUNNER_ADMIN_COMMANDS, 'runner', ...args)
  const uuid = await withDatabase(async (db) => {
    await aRunner(db, ['linux', 'arm'])
    return (await listRunners(db))[0]?.uuid ?? ''
  })
  const line = (settings: string) => [`${uuid}\trunner\tlinux,arm\t1\tnever\t${settings}`]
  t.strictSame(await run('list'), line('enabled'))
  t.strictSame(await run('set', uuid, '--forks', 'yes'), [`${uuid} is enabled,forks`])
  t.strictSame(await run('set', uuid, '--disabled', 'yes'), [`${uuid} is disabled,forks`])
  t.strictSame(await run('list'), line('disabled,forks'))
  await run('set', uuid, '--disabled', 'no', '--forks', 'no')
  t.strictSame(await run('list'), line('enabled'))
  await t.rejects(run('set', uuid), { message: '--disabled or --forks is needed' })
  await t.rejects(run('set', uuid, '--forks', 'on'), { message: '--forks is yes or no' })
  await t.rejects(run('set', 'x', '--forks', 'no'), { message: 'there is no runner x' })
  t.strictSame(await run('remove', uuid), [`removed ${uuid}`])
  t.strictSame(await run('list'), [])
})
