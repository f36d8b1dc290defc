/** Output of the server on a terminal. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createUser } from '../../sql/accounts/users.js'
import { closeDatabase, openDatabase } from '../../sql/database/database.js'
import { freePort } from '../helpers/free-port.js'
import { askRaw, basic } from '../helpers/literal-http.js'
import { PLAIN_NODE } from '../helpers/plain-node.js'
import { until, workersOf } from '../helpers/server-processes.js'
import { copySqliteTemplate } from '../helpers/templates.js'
import { temporaryFolder } from '../helpers/temporary.js'

const COMMAND_LINE = fileURLToPath(new URL('../../program/gatehouse.js', import.meta.url))
const CTRL_C = '\u0003'
const WITHIN_MS = 60_000

interface Terminal {
  /** Process id of script(1), whose child is the server. */
  readonly pid: number
  readonly text: () => string
  shows(words: RegExp): Promise<boolean>
  /** Types the text; returns the exit code of the server once it has ended. */
  typeAndWait(text: string): Promise<number | null>
  close(): Promise<void>
}

/** Runs `gatehouse serve` on a pseudo-terminal that script(1) creates. */
function serveOnTerminal(t: Test, environment: Readonly<Record<string, string>>): Terminal {
  // Without exec, Ctrl-C would end the shell, and script(1) would return the shell's exit code.
  const command = ['exec', 'env', ...PLAIN_NODE, COMMAND_LINE, 'serve'].join(' ')
  const child: ChildProcess = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'], SHELL: '/bin/sh', TERM: 'xterm-256color', ...environment },
  })
  let text = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString()
  })
  const closed = once(child, 'close')
  const close = async () => {
    child.kill('SIGKILL')
    await closed
  }
  t.teardown(close)
  return {
    pid: child.pid ?? -1,
    close,
    text: () => text,
    async shows(words) {
      await until(async () => words.test(text) || child.exitCode !== null, Boolean, WITHIN_MS)
      return words.test(text)
    },
    async typeAndWait(typed) {
      child.stdin?.write(typed)
      await closed
      return child.exitCode
    },
  }
}

async function childrenOf(pid: number): Promise<readonly number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.trim().split(' ').map(Number)
}

async function environmentOf(t: Test, { isMigrated = true } = {}) {
  const port = await freePort()
  const folder = await temporaryFolder(t)
  if (isMigrated) await copySqliteTemplate(join(folder, 'data', 'gatehouse.db'))
  const environment = {
    GATEHOUSE_DATA_DIR: join(folder, 'data'),
    GATEHOUSE_HTTP_LISTEN: `127.0.0.1:${port}`,
    GATEHOUSE_HTTP_WORKERS: '1',
  }
  const failSignIn = () =>
    askRaw(port, { path: '/api/v1/user', headers: basic('ada', 'a wrong password') })
  return { port, environment, failSignIn }
}

t.test(
  'a first start on a terminal prints text lines and a greeting, and Ctrl-C stops it',
  async (t) => {
    const { port, environment, failSignIn } = await environmentOf(t, { isMigrated: false })
    const terminal = serveOnTerminal(t, environment)
    t.ok(await terminal.shows(/user create NAME --admin\r\n/), terminal.text())
    const lines = terminal.text().split('\r\n')
    t.match(
      lines[0],
      /^\d\d:\d\d:\d\d info {2}the database was migrated {2}migrations=\d+ first=0001/,
    )
    t.match(lines[1], /^\d\d:\d\d:\d\d info {2}serving {2}url=http:\/\/127\.0\.0\.1:\d+ workers=1$/)
    t.match(lines.slice(2), [
      '',
      `Gatehouse serves at http://127.0.0.1:${port} and keeps this terminal. Ctrl-C stops it.`,
      '',
      'Create the first account in a browser:',
      RegExp(`^ {2}http://127\\.0\\.0\\.1:${port}/setup\\?code=[0-9a-f]{40}$`),
      'or in a second terminal, in the same folder:',
      '  ./scripts/gatehouse user create NAME --admin',
    ])
    const address = /http:\S+(\/setup\?code=\S+)/.exec(terminal.text())?.[1] ?? ''
    t.equal((await askRaw(port, { path: address })).status, 200, 'the printed URL has a valid code')

    await failSignIn()
    t.ok(
      await terminal.shows(/\u001b\[33mwarn \u001b\[39m a sign-in failed/),
      'the level is coloured',
    )
    t.notMatch(terminal.text(), /pid/)
    t.equal(await terminal.typeAndWait(CTRL_C), 0)
    t.match(terminal.text(), /info {2}stopping\r\n/)
  },
)

t.test('log.format applies on a terminal, and a site with accounts has no greeting', async (t) => {
  const { environment } = await environmentOf(t)
  const file = join(environment.GATEHOUSE_DATA_DIR, 'gatehouse.db')
  const db = await openDatabase({ location: { kind: 'sqlite', file }, connectionsMax: 1 })
  const ada = { name: 'ada', email: 'ada@example.org', passwordHash: '', isAdmin: true }
  await createUser(db, ada).finally(() => closeDatabase(db))
  const terminal = serveOnTerminal(t, { ...environment, GATEHOUSE_LOG_FORMAT: 'json' })
  t.ok(await terminal.shows(/"msg":"serving"/), terminal.text())
  t.equal(await terminal.typeAndWait(CTRL_C), 0)
  t.notMatch(terminal.text(), /--admin/)
})

t.test('a text log has no colours by NO_COLOR, and closing the terminal ends it', async (t) => {
  const { environment, failSignIn } = await environmentOf(t)
  const settings = { ...environment, NO_COLOR: '1', GATEHOUSE_WEB_ENABLED: 'false' }
  const terminal = serveOnTerminal(t, settings)
  t.ok(await terminal.shows(/user create NAME --admin\r\n/), terminal.text())
  t.match(terminal.text(), 'Create the first account in a second terminal, in the same folder:\r\n')
  t.notMatch(terminal.text(), '/setup', 'no setup page is printed without the web pages')
  await failSignIn()
  t.ok(await terminal.shows(/warn {2}a sign-in failed/))
  t.notMatch(terminal.text(), '\u001b')
  const [supervisor = -1] = await childrenOf(terminal.pid)
  const find = async () => [supervisor, ...(await workersOf(supervisor))]
  process.kill(supervisor, 'SIGHUP')
  t.ok(await terminal.shows(/info {2}new workers serve\b/))
  const processes = await until(find, ({ length }) => length === 2, WITHIN_MS)
  t.equal(processes.length, 2)
  await terminal.close()
  await failSignIn().catch(() => {})
  const isAlive = (pid: number) => existsSync(`/proc/${pid}`)
  const left = await until(
    async () => processes.filter(isAlive),
    (pids) => pids.length === 0,
    20_000,
  )
  t.same(left, [])
})
