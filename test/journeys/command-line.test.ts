/** The command line: before the first start, with a running server, and with wrong arguments. */

import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../conf/database-location.js'
import {
  COMMAND_LINE,
  type CommandEnd,
  type RunningCommand,
  runCommand,
  startCommand,
} from '../helpers/command-line.js'
import { freshLocation } from '../helpers/databases.js'
import { freePort } from '../helpers/free-port.js'
import { askApi } from '../helpers/gatehouse.js'
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

/** Listens on a port; returns it with the settings of a server with two workers on the same. */
async function takePort(t: Test) {
  const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const address = other.address()
  const port = typeof address === 'object' ? address?.port : 0
  const environment = {
    GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${port}`,
    GATEHOUSE_HTTP_WORKERS: '2',
  }
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

// test/scripts/commands has the other calls, readme.test.ts and docs.test.ts run further ones in a
// shell, and test/sql has their queries on both databases.
t.test('commands work with a server that has started first', async (t) => {
  await besideServer(t, await firstStart(t))
})

if (isFullSize) {
  await t.test('commands work with MariaDB', async (t) => {
    const location = await freshLocation(t, 'mysql')
    await besideServer(t, await firstStart(t, location))
  })
}

async function besideServer(t: Test, server: Server): Promise<void> {
  await users(t, server)
  await states(t, server)
  t.equal((await server.end('SIGINT')).exitCode, 0)
  t.notMatch(server.errorText(), /a long password|a newer password/, 'the log has no password')
}

interface Server extends RunningCommand {
  readonly port: number
  /** Settings by their variables. */
  readonly environment: Readonly<Record<string, string>>
  run(args: readonly string[], input?: string): Promise<CommandEnd>
}

/** Starts a server with an empty data folder; its database is empty, if none is given. */
async function firstStart(t: Test, location?: DatabaseLocation): Promise<Server> {
  const [cwd, port] = [await temporaryFolder(t), await freePort()]
  const database = location?.kind === 'mysql' ? location.url.href : undefined
  const environment = {
    GATEHOUSE_DATA_DIR: join(cwd, 'data'),
    ...(database === undefined ? {} : { GATEHOUSE_DATABASE_URL: database }),
    GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${port}`,
    GATEHOUSE_HTTP_WORKERS: '1',
    GATEHOUSE_LOG_LEVEL: 'debug',
    GATEHOUSE_CACHE_DISK_FREE: '16MiB',
    GATEHOUSE_DATA_DISK_FREE_MIN: '0',
  }
  const server = await startCommand(t, ['serve'], { environment, cwd })
  const run = (args: readonly string[], input?: string) =>
    runCommand(t, args, { environment, cwd, ...(input === undefined ? {} : { input }) })

  await t.test('without a terminal the log is JSON and the greeting mentions none', async (t) => {
    t.ok(await server.says(/"msg":"serving"/))
    t.ok(await server.says(/--admin\n/))
    t.match(server.output(), `Gatehouse serves at http://127.0.0.1:${port}`)
    t.match(server.output(), /\nCreate the first account at the address that the /)
    t.notMatch(server.output(), /terminal|Ctrl|code=/)
    if (location === undefined) hasMigrationsInLog(t, server)
  })

  await t.test('the printed command creates a user, who can sign in immediately', async (t) => {
    const call = /\.\/scripts\/gatehouse (user create .*)/.exec(server.output())?.[1] ?? ''
    const words = call.replace('NAME', 'Ada').split(' ')
    const made = await run(
      [...words, '--email', 'ada@example.org', '--password-stdin'],
      'a long password',
    )
    t.equal(made.exitCode, 0, made.errorText)
    const { authorization } = basic('ada', 'a long password')
    const { body } = await askApi(port, { path: '/user', authorization })
    t.match(body, { login: 'Ada', email: 'ada@example.org', is_admin: true })
  })
  return { ...server, port, environment, run }
}

function hasMigrationsInLog(t: Test, server: RunningCommand): void {
  const lines: ReadonlyArray<Record<string, unknown>> = linesOf(server.errorText()).map((line) =>
    JSON.parse(line),
  )
  const each = lines.filter(({ msg }) => msg === 'a migration was applied')
  const together = lines.filter(({ msg }) => msg === 'the database was migrated')
  t.match(together, [
    {
      level: 'info',
      pid: server.pid,
      migrations: each.length,
      durationMs: Number,
      first: '0001-accounts',
      last: each.at(-1)?.['migration'],
    },
  ])
  t.equal(together.length, 1)
  t.match(each[0], { level: 'debug', migration: '0001-accounts' })
  t.match(
    lines.find(({ msg }) => msg === 'the first account can be created at this address'),
    { url: /\/setup\?code=[0-9a-f]{40}$/ },
  )
}

async function succeed(t: Test, server: Server, ...args: string[]): Promise<string> {
  const { exitCode, output, errorText } = await server.run(args)
  t.equal(exitCode, 0, args.join(' '))
  t.equal(errorText, '')
  return output
}

async function fail(t: Test, server: Server, args: string[], says: RegExp): Promise<void> {
  const { exitCode, output, errorText } = await server.run(args)
  t.equal(exitCode, 1, args.join(' '))
  t.equal(output, '')
  t.match(errorText, says)
  t.equal(linesOf(errorText).length, 1, 'the error is one line')
}

async function statusOf({ port }: Server, password: string): Promise<number> {
  const { authorization } = basic('Ada', password)
  return (await askApi(port, { path: '/user', authorization })).status
}

async function users(t: Test, server: Server): Promise<void> {
  await t.test('a new password replaces the old one', async (t) => {
    await succeed(t, server, 'user', 'password', 'ada', '--password', 'a newer password')
    t.equal(await statusOf(server, 'a newer password'), 200)
    t.equal(await statusOf(server, 'a long password'), 401)
  })
}

async function states(t: Test, server: Server): Promise<void> {
  await t.test('doctor ends quietly if the reader of its output ends', async (t) => {
    const program = ['env', ...PLAIN_NODE, COMMAND_LINE, 'doctor'].join(' ')
    const piped = await execa('sh', ['-c', `${program} | head -n 1`], { env: server.environment })
    t.match(piped, { stdout: 'ok      configuration: read', stderr: '' })
  })

  await t.test('a server with another data folder is not started on the same port', async (t) => {
    const cwd = await temporaryFolder(t)
    const environment = { GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${server.port}` }
    const { exitCode, errorText } = await runCommand(t, ['serve'], { cwd, environment })
    t.equal(exitCode, 1)
    t.match(errorText, `a Gatehouse with another data folder listens on port ${server.port}`)
    t.equal(plainLinesOf(errorText).length, 1, errorText)
  })

  await t.test(
    'the audit log has the commands that changed something, and no password',
    async (t) => {
      const { authorization } = basic('Ada', 'a newer password')
      const path = '/admin/audit?action=user&limit=50'
      const { body } = await askApi(server.port, { path, authorization })
      const entries = body as readonly { action: string; credential: string; subject: string }[]
      const created = entries.find(({ action }) => action === 'user.create')
      t.match(created, {
        actor: userInfo().username,
        credential: 'command line',
        is_complete: true,
      })
      t.ok(entries.some(({ action }) => action === 'user.password'))
      t.notMatch(JSON.stringify(entries), /a long password|a newer password/)
    },
  )

  await t.test('repo maintain fails for a missing repository', async (t) => {
    await fail(t, server, ['repo', 'maintain', 'ada/absent'], /no repository ada\/absent$/m)
  })
}

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

  await t.test('an unreachable MariaDB is reported in one line', async (t) => {
    const port = await freePort()
    const environment = { GATEHOUSE_DATABASE_URL: `mysql://user:secret@127.0.0.1:${port}/name` }
    const { exitCode, errorText } = await runCommand(t, ['serve'], { environment })
    t.equal(exitCode, 1)
    t.equal(linesOf(errorText).length, 1, errorText)
    t.match(errorText, `127.0.0.1:${port}`)
    t.notMatch(errorText, /secret/)
  })

  await t.test('a port in use is reported in one line if both workers end first', async (t) => {
    const { port, environment } = await takePort(t)
    const command = await startCommand(t, ['serve'], { environment })
    const workers = () => workersOf(command.pid).catch(() => [])
    await until(workers, (pids) => pids.length === 2, ENDS_WITHIN_MS)
    process.kill(command.pid, 'SIGSTOP')
    t.same(await until(workers, (pids) => pids.length === 0, ENDS_WITHIN_MS), [])
    process.kill(command.pid, 'SIGCONT')
    const { exitCode, errorText } = await command.end()
    t.equal(exitCode, 1)
    t.match(errorText, `cannot listen on 127.0.0.1:${port}: another program uses the port`)
    t.equal(plainLinesOf(errorText).length, 1, errorText)
  })

  await t.test('a data folder that is a file is reported without a stack trace', async (t) => {
    const cwd = await temporaryFolder(t)
    await writeFile(join(cwd, 'data'), 'a file, not a folder')
    const { exitCode, errorText } = await runCommand(t, ['serve'], { cwd })
    t.equal(exitCode, 1)
    t.match(errorText, `the folder ${join(cwd, 'data')} cannot be created (it is a file)`)
    t.match(errorText, /set data\.dir to a folder that this user may write/)
    t.notMatch(errorText, /\n {4}at /, 'the output has no stack trace')
  })

  await t.test('a folder of blobs that cannot be created is reported in one line', async (t) => {
    const { environment } = await takePort(t)
    const GATEHOUSE_BLOBS_URL = 'file:/proc/gatehouse/blobs'
    const blobs = { ...environment, GATEHOUSE_BLOBS_URL }
    const { exitCode, errorText } = await runCommand(t, ['serve'], { environment: blobs })
    t.equal(exitCode, 1)
    t.match(
      errorText,
      /the folder \/proc\/gatehouse\/blobs cannot be created \(ENOENT: .*\): set blobs/,
    )
    t.equal(plainLinesOf(errorText).length, 1, errorText)
  })
})
