/** The command line: before the first start, with a running server, and with wrong arguments. */

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { COMMAND_LINE, runCommand, startCommand } from '../helpers/command-line.js'
import { forEachDatabase, freshLocation } from '../helpers/databases.js'
import { freePort } from '../helpers/free-port.js'
import { askApi, type Gatehouse, startGatehouse } from '../helpers/gatehouse.js'
import { basic } from '../helpers/literal-http.js'
import { PLAIN_NODE } from '../helpers/plain-node.js'
import { until, workersOf } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

/** Splits output into its lines, without empty ones. */
function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line !== '')
}

/** Returns the lines that are not log lines. */
function plainLinesOf(text: string): readonly string[] {
  return linesOf(text).filter((line) => !line.startsWith('{'))
}

const ENDS_WITHIN_MS = 20_000

/** Listens on a port; returns it with the settings of a server that has to listen on the same. */
async function takePort(t: Test) {
  const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const address = other.address()
  const port = typeof address === 'object' ? address?.port : 0
  const environment = { GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${port}`, GATEHOUSE_HTTP_WORKERS: '2' }
  return { port, environment }
}

t.test('the version is printed, and a wrong call is refused with one line', async (t) => {
  const version = await runCommand(t, ['--version'])
  t.equal(version.exitCode, 0)
  t.match(version.output, /^gatehouse \d+\.\d+\.\d+(?: \([0-9a-f]{12}\))?\n$/)
  t.strictSame(await runCommand(t, ['nonsense']), {
    exitCode: 2,
    output: '',
    errorText: "gatehouse: unknown command 'nonsense'. See 'gatehouse --help'.\n",
  })
})

// test/scripts/commands has the other calls, and test/sql their queries on both databases.
if (isFullSize) await forEachDatabase(t, 'commands work with a running server', besideServer)
else {
  await t.test('commands work with a running server', async (t) => {
    await besideServer(t, await freshLocation(t, 'sqlite'))
  })
}

async function besideServer(t: Test, location: DatabaseLocation): Promise<void> {
  const gatehouse = await startGatehouse(t, { location, workers: 1 })
  await users(t, gatehouse)
  await tokens(t, gatehouse)
  await states(t, gatehouse)
}

async function succeed(t: Test, gatehouse: Gatehouse, ...args: string[]): Promise<string> {
  const { exitCode, output, errorText } = await gatehouse.run(...args)
  t.equal(exitCode, 0, args.join(' '))
  t.equal(errorText, '')
  return output
}

async function fail(t: Test, gatehouse: Gatehouse, args: string[], says: RegExp): Promise<void> {
  const { exitCode, output, errorText } = await gatehouse.run(...args)
  t.equal(exitCode, 1, args.join(' '))
  t.equal(output, '')
  t.match(errorText, says)
  t.equal(linesOf(errorText).length, 1, 'the error is one line')
}

async function statusOf({ port }: Gatehouse, password: string): Promise<number> {
  const { authorization } = basic('Ada', password)
  return (await askApi(port, { path: '/user', authorization })).status
}

async function users(t: Test, gatehouse: Gatehouse): Promise<void> {
  await t.test('a created user can sign in immediately', async (t) => {
    const words = ['--password', 'a long password', '--email', 'ada@example.org', '--admin']
    await succeed(t, gatehouse, 'user', 'create', 'Ada', ...words)
    t.equal(await statusOf(gatehouse, 'a long password'), 200)
    const { authorization } = basic('ada', 'a long password')
    const { body } = await askApi(gatehouse.port, { path: '/user', authorization })
    t.match(body, { login: 'Ada', email: 'ada@example.org', is_admin: true })
    const list = await succeed(t, gatehouse, 'user', 'list')
    t.match(list, /^Ada\tada@example\.org\tadmin\n$/)
  })

  await t.test('an invalid new user is refused with one line', async (t) => {
    const password = ['--password', 'a long password']
    await fail(t, gatehouse, ['user', 'create', 'ADA', ...password], /already|taken|exists/)
  })

  await t.test('a new password replaces the old one', async (t) => {
    await succeed(t, gatehouse, 'user', 'password', 'ada', '--password', 'a newer password')
    t.equal(await statusOf(gatehouse, 'a newer password'), 200)
    t.equal(await statusOf(gatehouse, 'a long password'), 401)
  })
}

async function tokens(t: Test, gatehouse: Gatehouse): Promise<void> {
  await t.test('a new token is printed once and is accepted by the API', async (t) => {
    const create = ['token', 'create', 'ada', '--name', 'ci', '--scopes', 'read:user']
    const output = await succeed(t, gatehouse, ...create)
    t.match(output, /^[0-9a-f]{40}\n$/)
    const authorization = `token ${output.trim()}`
    t.equal((await askApi(gatehouse.port, { path: '/user', authorization })).status, 200)
  })
}

async function states(t: Test, gatehouse: Gatehouse): Promise<void> {
  await t.test('doctor reports no fault', async (t) => {
    const lines = linesOf(await succeed(t, gatehouse, 'doctor'))
    for (const line of lines) t.match(line, /^ok {6}/)
    for (const name of ['configuration', 'database', 'git', 'disk', 'limits']) {
      t.ok(
        lines.some((line) => line.includes(`${name}:`)),
        name,
      )
    }
  })

  await t.test('doctor ends quietly if the reader of its output ends', async (t) => {
    const program = ['env', ...PLAIN_NODE, COMMAND_LINE, 'doctor'].join(' ')
    const environment = { GATEHOUSE_DATA_DIR: gatehouse.dataDir }
    const piped = await execa('sh', ['-c', `${program} | head -n 1`], { env: environment })
    t.match(piped, { stdout: 'ok      configuration: read', stderr: '' })
  })

  await t.test('a server with another data folder is not started on the same port', async (t) => {
    const cwd = await temporaryFolder(t)
    const environment = { GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${gatehouse.port}` }
    const { exitCode, errorText } = await runCommand(t, ['serve'], { cwd, environment })
    t.equal(exitCode, 1)
    t.match(errorText, `a Gatehouse with another data folder listens on port ${gatehouse.port}`)
    t.equal(plainLinesOf(errorText).length, 1, errorText)
  })

  await t.test(
    'the audit log has the commands that changed something, and no password',
    async (t) => {
      const root = await gatehouse.addUser('auditor', { isAdmin: true })
      const { body } = await root.api('GET', '/admin/audit?action=user&limit=50')
      const entries = body as readonly { action: string; credential: string; subject: string }[]
      const created = entries.find(({ action }) => action === 'user.create')
      t.match(created, {
        actor: userInfo().username,
        credential: 'command line',
        is_complete: true,
      })
      t.ok(entries.some(({ action }) => action === 'user.password'))
      t.notOk(entries.some(({ action }) => action === 'user.list'))
      t.notMatch(JSON.stringify(entries), /a long password|a newer password/)
    },
  )

  await t.test('repo maintain fails for a missing repository', async (t) => {
    await fail(t, gatehouse, ['repo', 'maintain', 'ada/absent'], /no repository ada\/absent$/m)
  })

  await t.test('the log contains no password', async (t) => {
    t.notMatch(gatehouse.log(), /a long password|a newer password/)
  })
}

t.test('commands work before the first start', async (t) => {
  const cwd = await temporaryFolder(t)

  await t.test(
    'the first start prints the URL and the command that creates a user; later starts do not',
    async (t) => {
      const port = await freePort()
      const environment = {
        GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${port}`,
        GATEHOUSE_HTTP_WORKERS: '1',
      }
      const first = await startCommand(t, ['serve'], { environment, cwd })
      t.ok(await first.says(/"msg":"serving"/))
      t.ok(await first.says(/gatehouse user create NAME --admin/))
      t.match(first.output(), `http://127.0.0.1:${port}`)
      const call = /\.\/scripts\/gatehouse (user create .*)/.exec(first.output())?.[1] ?? ''
      const words = [...call.replace('NAME', 'ada').split(' '), '--password-stdin']
      const made = await runCommand(t, words, { cwd, input: 'a long one' })
      t.equal(made.exitCode, 0, 'the printed command creates the user')
      t.equal((await first.end('SIGINT')).exitCode, 0)
      const second = await startCommand(t, ['serve'], { environment, cwd })
      t.ok(await second.says(/"msg":"serving"/))
      t.equal((await second.end('SIGTERM')).exitCode, 0)
      t.equal(second.output(), '')
    },
  )
})

t.test('a start that fails prints the cause', async (t) => {
  await t.test('all errors of the configuration are reported together by setting', async (t) => {
    const cwd = await temporaryFolder(t)
    const lines = ['[http]', 'listen = "nowhere"', 'colour = "red"', '[nonsense]', 'a = 1']
    await writeFile(join(cwd, 'gatehouse.toml'), lines.join('\n'))
    const environment = {
      GATEHOUSE_HTTP_WORKERS: 'zero-and-secret',
      GATEHOUSE_DATABASE_URL: 'mysql://user:secret@',
      GATEHOUSE_NONSENSE: 'secret',
    }
    const { exitCode, errorText } = await runCommand(t, ['serve'], { cwd, environment })
    t.equal(exitCode, 1)
    for (const name of [
      'http.listen',
      'http.colour',
      'nonsense',
      'GATEHOUSE_HTTP_WORKERS',
      'GATEHOUSE_DATABASE_URL',
      'GATEHOUSE_NONSENSE',
    ]) {
      t.match(errorText, name)
    }
    t.notMatch(errorText, /secret|nowhere|red\b/, 'no value is shown')
  })

  await t.test('a configuration file that is not TOML is reported', async (t) => {
    const cwd = await temporaryFolder(t)
    await writeFile(join(cwd, 'gatehouse.toml'), 'password = "secret\n')
    const { exitCode, errorText } = await runCommand(t, ['serve'], { cwd })
    t.equal(exitCode, 1)
    t.match(errorText, /gatehouse\.toml cannot be read/)
    t.notMatch(errorText, /secret/)
  })

  await t.test('an unreachable MariaDB is reported in one line', async (t) => {
    const port = await freePort()
    const environment = { GATEHOUSE_DATABASE_URL: `mysql://user:secret@127.0.0.1:${port}/name` }
    const { exitCode, errorText } = await runCommand(t, ['serve'], { environment })
    t.equal(exitCode, 1)
    t.equal(linesOf(errorText).length, 1, errorText)
    t.match(errorText, `127.0.0.1:${port}`)
    t.notMatch(errorText, /secret/)
  })

  await t.test('a port in use is reported in one line', async (t) => {
    const { port, environment } = await takePort(t)
    const { exitCode, errorText } = await runCommand(t, ['serve'], { environment })
    t.equal(exitCode, 1)
    t.match(errorText, `cannot listen on 127.0.0.1:${port}: another program uses the port`)
    t.equal(plainLinesOf(errorText).length, 1, errorText)
  })

  await t.test('a port in use is reported in one line if both workers end first', async (t) => {
    const { environment } = await takePort(t)
    const command = await startCommand(t, ['serve'], { environment })
    const workers = () => workersOf(command.pid).catch(() => [])
    await until(workers, (pids) => pids.length === 2, ENDS_WITHIN_MS)
    process.kill(command.pid, 'SIGSTOP')
    t.same(await until(workers, (pids) => pids.length === 0, ENDS_WITHIN_MS), [])
    process.kill(command.pid, 'SIGCONT')
    const { exitCode, errorText } = await command.end()
    t.equal(exitCode, 1)
    t.equal(plainLinesOf(errorText).length, 1, errorText)
  })

  await t.test('a data folder that is a file is reported without a stack trace', async (t) => {
    const cwd = await temporaryFolder(t)
    await writeFile(join(cwd, 'data'), 'a file, not a folder')
    const { exitCode, errorText } = await runCommand(t, ['serve'], { cwd })
    t.equal(exitCode, 1)
    t.match(errorText, join(cwd, 'data'))
    t.notMatch(errorText, /\n {4}at /, 'the output has no stack trace')
  })
})
