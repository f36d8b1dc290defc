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
import { makeRepository } from '../helpers/repositories.js'
import { until, workersOf } from '../helpers/server-processes.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

const NOUNS = ['serve', 'user', 'token', 'repo', 'package', 'db', 'doctor']

/** Calls that are refused as in test/scripts/commands, with their error messages. */
const MORE_REFUSALS = [
  ['user create', "'user create' needs NAME. See 'gatehouse user create --help'."],
  [
    'usr create ada',
    "unknown command 'usr create'. Did you mean 'user create'? See 'gatehouse --help'.",
  ],
  ['usr', "unknown command 'usr'. Did you mean 'user'? See 'gatehouse --help'."],
  ['repo remove ada/library', "unknown command 'repo remove'. See 'gatehouse repo --help'."],
  ['--versio', "unknown option '--versio'. Did you mean '--version'? See 'gatehouse --help'."],
  ['user list extra', "'user list' takes no argument 'extra'. See 'gatehouse user list --help'."],
  ['serve now', "'serve' takes no argument 'now'. See 'gatehouse serve --help'."],
  ['db status --all', "unknown option '--all'. See 'gatehouse db status --help'."],
  [
    'user create ada --passwor x',
    "unknown option '--passwor'; did you mean '--password'? See 'gatehouse user create --help'.",
  ],
] as const

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

t.test('help is printed, and unknown commands exit with 2', async (t) => {
  await t.test('the usage lists every command, and of a noun its verbs', async (t) => {
    const calls = [['--help'], [], ['user', '--help'], ['token', 'create', '--help']]
    const [all, none, user, token] = await Promise.all(calls.map((call) => runCommand(t, call)))
    t.equal(all?.exitCode, 0)
    for (const noun of NOUNS) t.match(all?.output, `gatehouse ${noun}`)
    t.equal(none?.exitCode, 2)
    t.equal(user?.exitCode, 0)
    for (const verb of ['create', 'list', 'delete', 'password']) {
      t.match(user?.output, `gatehouse user ${verb}`)
    }
    t.notMatch(user?.output, /gatehouse token/)
    t.equal(token?.exitCode, 0)
    t.match(token?.output, /^Usage: gatehouse token create .*\n\n.*\n\nOptions:\n {2}--name NAME /)
    t.notMatch(token?.output, /gatehouse token (?:list|revoke)/)
  })

  await t.test('a wrong call is refused with one line that refers to the help', async (t) => {
    const refusals = [
      ['nonsense', "unknown command 'nonsense'. See 'gatehouse --help'."],
      [
        'user creat ada --help',
        "unknown command 'user creat'. Did you mean 'user create'? See 'gatehouse user --help'.",
      ],
      ['token create ada --name x', "--scopes is needed. See 'gatehouse token create --help'."],
      [
        'repo maintain ada',
        "a repository is named as OWNER/REPO. See 'gatehouse repo maintain --help'.",
      ],
      ...(isFullSize ? MORE_REFUSALS : []),
    ] as const
    const ends = await Promise.all(refusals.map(([call]) => runCommand(t, call.split(' '))))
    for (const [at, [call, line]] of refusals.entries()) {
      const { exitCode, output, errorText } = ends[at] ?? {}
      t.equal(exitCode, 2, call)
      t.equal(output, '', call)
      t.equal(errorText, `gatehouse: ${line}\n`, call)
    }
  })

  await t.test('a noun without a verb lists its commands on standard error', async (t) => {
    const { exitCode, output, errorText } = await runCommand(t, ['user'])
    t.equal(exitCode, 2)
    t.equal(output, '')
    t.match(errorText, /^Usage:\n {2}gatehouse user create /)
    t.notMatch(errorText, /gatehouse token/)
  })

  await t.test('the version is printed', async (t) => {
    const { exitCode, output } = await runCommand(t, ['--version'])
    t.equal(exitCode, 0)
    t.match(output, /^gatehouse \d+\.\d+\.\d+(?: \([0-9a-f]{12}\))?\n$/)
  })
})

if (isFullSize) await forEachDatabase(t, 'commands work with a running server', besideServer)
else {
  await t.test('commands work with a running server', async (t) => {
    await besideServer(t, await freshLocation(t, 'sqlite'))
  })

  // The other queries run on both databases in test/sql.
  await t.test('commands work with MariaDB', async (t) => {
    const location = await freshLocation(t, 'mysql')
    const url = location.kind === 'mysql' ? location.url.href : ''
    const cwd = await temporaryFolder(t)
    const run = (...args: string[]) =>
      runCommand(t, args, { cwd, environment: { GATEHOUSE_DATABASE_URL: url } })
    const made = await run('user', 'create', 'ada', '--password', 'a long password')
    t.equal(made.exitCode, 0, made.errorText)
    t.match((await run('user', 'list')).output, /^ada\t\S+\tuser\n$/)
    t.match((await run('doctor')).output, /^ok {6}database: /m)
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
    await gatehouse.addUser('bob')
    const list = await succeed(t, gatehouse, 'user', 'list')
    t.match(list, /^Ada\tada@example\.org\tadmin\nbob\t\S+\tuser\n$/)
  })

  await t.test('an invalid new user is refused with one line', async (t) => {
    const password = ['--password', 'a long password']
    await fail(t, gatehouse, ['user', 'create', 'ADA', ...password], /already|taken|exists/)
    // test/scripts/commands tests other reasons.
    if (!isFullSize) return
    await fail(t, gatehouse, ['user', 'create', 'api', ...password], /reserved/)
    await fail(t, gatehouse, ['user', 'create', 'eve', '--password', 'short'], /password/)
  })

  await t.test('a new password replaces the old one', async (t) => {
    await succeed(t, gatehouse, 'user', 'password', 'ada', '--password', 'a newer password')
    t.equal(await statusOf(gatehouse, 'a newer password'), 200)
    t.equal(await statusOf(gatehouse, 'a long password'), 401)
    if (!isFullSize) return
    const unknown = ['user', 'password', 'nobody', '--password', 'x'.repeat(20)]
    await fail(t, gatehouse, unknown, /no user/)
  })

  await t.test('a user is deleted unless they own repositories', async (t) => {
    await succeed(t, gatehouse, 'user', 'delete', 'bob')
    t.equal((await askApi(gatehouse.port, { path: '/users/bob' })).status, 404)
    if (isFullSize) await fail(t, gatehouse, ['user', 'delete', 'bob'], /no user bob/)
    const owner = await gatehouse.addUser('owner')
    await makeRepository(owner, 'work')
    await fail(t, gatehouse, ['user', 'delete', 'owner'], /repositor/)
  })
}

async function tokens(t: Test, gatehouse: Gatehouse): Promise<void> {
  const create = ['token', 'create', 'ada', '--name', 'ci', '--scopes']

  await t.test('a new token is printed once and is accepted by the API', async (t) => {
    const scopes = 'write:repository,package,read:user'
    const output = await succeed(t, gatehouse, ...create, scopes)
    t.match(output, /^[0-9a-f]{40}\n$/)
    const authorization = `token ${output.trim()}`
    t.equal((await askApi(gatehouse.port, { path: '/user', authorization })).status, 200)
    const list = await succeed(t, gatehouse, 'token', 'list', 'ada')
    const kept = 'write:package,read:user,write:repository'.split(',').sort()
    const [name, ending, held = ''] = list.trim().split('\t')
    t.same([name, ending], ['ci', `…${output.trim().slice(-8)}`])
    t.same(held.split(',').sort(), kept)
    t.notMatch(list, output.trim(), 'the list does not show the token')
  })

  await t.test('an invalid new token is refused with one line', async (t) => {
    await fail(t, gatehouse, [...create, 'all'], /already|taken|exists/)
    if (isFullSize) await fail(t, gatehouse, [...create, 'write:everything'], /scope/)
  })

  await t.test('a token is revoked by its name', async (t) => {
    await succeed(t, gatehouse, 'token', 'revoke', 'ada', '--name', 'ci')
    t.equal(await succeed(t, gatehouse, 'token', 'list', 'ada'), '')
    if (!isFullSize) return
    await fail(t, gatehouse, ['token', 'revoke', 'ada', '--name', 'ci'], /no token ci/)
  })
}

async function states(t: Test, gatehouse: Gatehouse): Promise<void> {
  await t.test('db status lists each migration with its time', async (t) => {
    t.equal(await succeed(t, gatehouse, 'db', 'migrate'), 'nothing to do\n')
    const lines = linesOf(await succeed(t, gatehouse, 'db', 'status'))
    t.ok(lines.length >= 2)
    for (const line of lines) t.match(line, /^\d{4}-[a-z-]+\t\d{4}-\d\d-\d\dT/)
  })

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

  await t.test('a server with the same data folder may serve on the same port', async (t) => {
    const environment = {
      GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${gatehouse.port}`,
      GATEHOUSE_DATA_DIR: gatehouse.dataDir,
      GATEHOUSE_HTTP_WORKERS: '1',
    }
    const second = await startCommand(t, ['serve'], { environment })
    t.ok(
      await until(
        async () => second.errorText().includes('"msg":"serving"'),
        Boolean,
        ENDS_WITHIN_MS,
      ),
    )
    t.equal((await second.end('SIGTERM')).exitCode, 0)
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
  const run = (...args: string[]) => runCommand(t, args, { cwd })

  await t.test('commands and doctor ask for db migrate if the schema is missing', async (t) => {
    const list = await run('user', 'list')
    t.equal(list.exitCode, 1)
    t.match(list.errorText, /run 'gatehouse db migrate'/)
    const doctor = await run('doctor')
    t.equal(doctor.exitCode, 1)
    t.match(doctor.output, /^FAULT {3}database: .*run 'gatehouse db migrate'/m)
    if (isFullSize) t.match((await run('db', 'status')).output, /waiting/)
    t.match((await run('db', 'migrate')).output, /^applied 0001-/)
    if (isFullSize) t.equal((await run('doctor')).exitCode, 0)
  })

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
    for (const args of isFullSize ? [['serve'], ['doctor']] : [['serve']]) {
      const { exitCode, errorText } = await runCommand(t, args, { cwd, environment })
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
    }
  })

  await t.test('a configuration file that is missing or not TOML is reported', async (t) => {
    const cwd = await temporaryFolder(t)
    const missing = { GATEHOUSE_CONFIG: join(cwd, 'missing.toml') }
    const first = await runCommand(t, ['serve'], { cwd, environment: missing })
    t.equal(first.exitCode, 1)
    t.match(first.errorText, /missing\.toml cannot be read/)
    await writeFile(join(cwd, 'gatehouse.toml'), 'password = "secret\n')
    const second = await runCommand(t, ['serve'], { cwd })
    t.equal(second.exitCode, 1)
    t.match(second.errorText, /gatehouse\.toml cannot be read/)
    t.notMatch(second.errorText, /secret/)
  })

  await t.test('an unreachable MariaDB is reported in one line', async (t) => {
    const port = await freePort()
    const environment = { GATEHOUSE_DATABASE_URL: `mysql://user:secret@127.0.0.1:${port}/name` }
    for (const args of isFullSize ? [['serve'], ['user', 'list']] : [['serve']]) {
      const { exitCode, errorText } = await runCommand(t, args, { environment })
      t.equal(exitCode, 1)
      t.equal(linesOf(errorText).length, 1, errorText)
      t.match(errorText, `127.0.0.1:${port}`)
      t.notMatch(errorText, /secret/)
    }
    const { exitCode, output } = await runCommand(t, ['doctor'], { environment })
    t.equal(exitCode, 1)
    t.match(output, /^FAULT {3}database: /m)
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
