/** `gatehouse runner register`: its arguments, and the file that it writes. */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { RUNNER_COMMANDS } from '../../../scripts/commands/runner.js'
import { runCommand } from '../../helpers/command.js'
import { STUB_REGISTRATION_TOKEN, stubRunnerServer } from '../../helpers/stub-runner-server.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('a runner is registered with its name and labels', async (t) => {
  const stub = await stubRunnerServer(t)
  const file = join(await temporaryFolder(t), 'runner.json')
  const register = (...args: readonly string[]) =>
    runCommand(
      t,
      RUNNER_COMMANDS,
      'runner',
      'register',
      `--instance=${stub.address}/`,
      `--token=${STUB_REGISTRATION_TOKEN}`,
      `--file=${file}`,
      ...args,
    )
  t.strictSame(await register('--name', 'first', '--labels', 'linux, big,'), [
    `The runner first is registered; its credentials are in ${file}.`,
  ])
  t.match(JSON.parse(await readFile(file, 'utf8')), {
    instance: stub.address,
    labels: ['linux', 'big'],
  })
  await t.rejects(register(), /the runner is not registered: EEXIST/)
  await t.rejects(register('--labels', ','), { message: '--labels needs at least one label' })
})

t.test('an address that is none, and a file that is none, are refused', async (t) => {
  const run = (...args: readonly string[]) => runCommand(t, RUNNER_COMMANDS, 'runner', ...args)
  for (const address of ['git.example.org', 'ftp://example.org', 'https://a@b', 'https://a/?x']) {
    await t.rejects(run('register', '--instance', address, '--token', 'x'), {
      message: `--instance '${address}' is not an address such as https://git.example.org`,
    })
  }
  const file = join(await temporaryFolder(t), 'runner.json')
  await t.rejects(run('run', '--file', file), /is not the file of a runner: ENOENT/)
  await writeFile(file, '{}')
  await t.rejects(run('run', '--file', file), /is not the file of a runner: uuid, token/)
})

t.test('an isolation that the runner does not have is refused', async (t) => {
  const file = join(await temporaryFolder(t), 'runner.json')
  const texts = { uuid: 'u', token: 't', instance: 'http://127.0.0.1:9', name: 'n' }
  await writeFile(file, JSON.stringify({ ...texts, labels: [] }))
  const args = ['runner', 'run', '--file', file, '--isolation', 'podman']
  await t.rejects(runCommand(t, RUNNER_COMMANDS, ...args), {
    message: "--isolation 'podman' is neither bubblewrap nor none",
  })
})
