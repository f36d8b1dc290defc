/** The command `gatehouse runner` with a stub: registration, jobs, signals, a removed runner. */

import { readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { listProcesses } from '../../cgi/process/process-table.js'
import { Result } from '../../gateway/runner-protocol/messages.js'
import { runCommand, startCommand } from '../helpers/command-line.js'
import { jobOf } from '../helpers/ran-task.js'
import { until } from '../helpers/server-processes.js'
import { aTask, STUB_REGISTRATION_TOKEN, stubRunnerServer } from '../helpers/stub-runner-server.js'
import { temporaryFolder } from '../helpers/temporary.js'

const WITHIN_MS = 60_000

/** Server of the tests, with a runner that is registered once in the folder. */
const stub = await stubRunnerServer(t)
const cwd = await temporaryFolder(t)
const work = await temporaryFolder(t)
const args = ['--instance', stub.address, '--token', STUB_REGISTRATION_TOKEN]
const registered = await runCommand(t, ['runner', 'register', ...args], { cwd })
t.equal(registered.exitCode, 0, registered.errorText)

t.test('steps read the credentials of the runner only without isolation', async (t) => {
  // The work folder is relative, and the file is in the home of the user.
  const options = { cwd, environment: { HOME: cwd } }
  for (const [isolation, status] of [
    ['bubblewrap', 1],
    ['none', 0],
  ] as const) {
    stub.tasks.push(aTask(jobOf(`run: cat ${cwd}/runner.json`)))
    const args = ['runner', 'run', '--once', '--work', '.', '--isolation', isolation]
    const { exitCode, errorText } = await runCommand(t, args, options)
    t.equal(exitCode, status, errorText)
    t.equal(/user of this runner, without isolation/.test(errorText), isolation === 'none')
  }
})

t.test('a runner that cannot isolate steps refuses to start', async (t) => {
  const calls = stub.calls.length
  const path = await temporaryFolder(t)
  await symlink('/usr/bin/env', join(path, 'env'))
  const environment = { PATH: path }
  const { exitCode, errorText } = await runCommand(t, ['runner', 'run'], { cwd, environment })
  t.equal(exitCode, 1)
  t.match(errorText, 'gatehouse: steps cannot be isolated: the program bwrap is missing: install')
  t.equal(stub.calls.length, calls)
})

t.test('a runner cancels its job on SIGTERM and ends', async (t) => {
  stub.tasks.push(aTask(jobOf('run: |\n  echo waiting\n  sleep 1000')))
  const runner = await startCommand(t, ['runner', 'run', '--work', work], { cwd })
  await new Promise<void>((resolve) => {
    stub.onRows = () => resolve()
  })
  const { exitCode, errorText } = await runner.end('SIGTERM')
  t.equal(exitCode, 0, errorText)
  t.equal(stub.updates.at(-1)?.state?.result, Result.CANCELLED)
  t.strictSame(await readdir(work), [])
})

t.test('the steps of a runner that is killed end with it', async (t) => {
  const program = `sleep 4321.${process.pid}`
  const isRunning = async () =>
    (await listProcesses()).some(({ command }) => command.includes(program))
  stub.tasks.push(aTask(jobOf(`run: |\n  echo waiting\n  setsid ${program} & sleep 1000`)))
  const runner = await startCommand(t, ['runner', 'run', '--work', work], { cwd })
  await until(isRunning, Boolean, WITHIN_MS)
  await runner.end('SIGKILL')
  t.notOk(await until(isRunning, (is) => !is, WITHIN_MS))
})

t.test('a runner that the server does not know ends with a sentence', async (t) => {
  stub.refusals['Declare'] = ['unauthenticated']
  const { exitCode, errorText } = await runCommand(t, ['runner', 'run'], { cwd })
  t.equal(exitCode, 1)
  t.match(errorText, `${stub.address} does not accept this runner: Declare was refused`)
})
