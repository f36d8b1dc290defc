/** Passwords of the command line: from standard input, from a prompt on a terminal, or refused. */

import t, { type Test } from 'tap'
import { checkPassword } from '../../../gateway/auth/password.js'
import { withDatabase } from '../../../scripts/commands/command.js'
import { readFirstLine } from '../../../scripts/commands/password.js'
import { USER_COMMANDS } from '../../../scripts/commands/user.js'
import { findPassword } from '../../../sql/accounts/users.js'
import { runCommand as runHere, useDataFolder } from '../../helpers/command.js'
import { type CommandEnd, runCommand } from '../../helpers/command-line.js'
import { startOnTerminal } from '../../helpers/terminal.js'

const CREATE = ['user', 'create', 'ada']

function isPasswordOfAda(password: string): Promise<boolean> {
  return withDatabase(async (db) =>
    checkPassword((await findPassword(db, 'ada'))?.passwordHash, password),
  )
}

/** Returns a function that runs `user …` with the given standard input. */
function withInput(t: Test, dataDir: string) {
  const environment = { GATEHOUSE_DATA_DIR: dataDir }
  return (args: readonly string[], input?: string | Uint8Array): Promise<CommandEnd> =>
    runCommand(t, args, input === undefined ? { environment } : { environment, input })
}

/** Yields the bytes one by one, as a slow writer sends them. */
async function* inBytes(input: string | Uint8Array): AsyncGenerator<Buffer> {
  for (const byte of Buffer.from(input)) yield Buffer.of(byte)
}

t.test('--password-stdin reads a password, or refuses it with one line', async (t) => {
  const run = withInput(t, await useDataFolder(t))
  const created = await run([...CREATE, '--password-stdin'], ' pässwörd 密碼\t \nsecond line\n')
  t.strictSame(created, { exitCode: 0, output: 'created ada\n', errorText: '' })
  t.equal(await isPasswordOfAda(' pässwörd 密碼\t '), true)
  const short = await run(['user', 'password', 'ada', '--password-stdin'], '\n')
  const errorText = 'gatehouse: A password must have 8 to 256 characters.\n'
  t.match(short, { exitCode: 1, output: '', errorText })
  const both = await run([...CREATE, '--password', 'a password', '--password-stdin'], 'x\n')
  t.match(both, { exitCode: 2, output: '' })
  t.match(both.errorText, /cannot be combined\. See 'gatehouse user create --help'\.\n$/)
})

t.test('the first line of standard input is the password, without its line end', async (t) => {
  for (const [input, password] of [
    ['ends with LF\nsecond line\n', 'ends with LF'],
    ['ends with CRLF\r\n', 'ends with CRLF'],
    ['has no line end', 'has no line end'],
    ['has only a CR\r', 'has only a CR\r'],
    ['has two CRs\r\r\n', 'has two CRs\r'],
    ['\ufeffbegins with a BOM\n', '\ufeffbegins with a BOM'],
    ['\n', ''],
  ] as const) {
    t.equal(await readFirstLine(inBytes(input)), password, JSON.stringify(input))
  }
})

t.test('standard input without a line of UTF-8 is refused', async (t) => {
  for (const [input, message] of [
    ['', /^standard input is empty/],
    [Buffer.from('not \xff UTF-8\n', 'latin1'), /is not UTF-8$/],
    ['x'.repeat(5_000), /longer than 4096 bytes$/],
  ] as const) {
    await t.rejects(readFirstLine(inBytes(input)), { name: 'Error', message })
  }
})

t.test('a missing password without a terminal and two passwords are usage errors', async (t) => {
  await useDataFolder(t)
  for (const [options, message] of [
    [[], /a password is needed: give --password-stdin or --password PASSWORD, or use a terminal/],
    [['--password', 'a password', '--password-stdin'], /cannot be combined/],
  ] as const) {
    for (const words of [CREATE, ['user', 'password', 'ada']]) {
      await t.rejects(runHere(t, USER_COMMANDS, ...words, ...options), { message })
    }
  }
})

t.test('the prompt asks twice and does not show the password', async (t) => {
  const dataDir = await useDataFolder(t)
  const terminal = startOnTerminal(t, CREATE, { dataDir })
  await terminal.type(/^Password: /, 'tüped-seX\u007fcret\r')
  await terminal.type(/^Repeat the password: /m, 'tüped-secret\r')
  const shown = await terminal.end()
  t.match(shown, /^Password: \r\nRepeat the password: \r\ncreated ada\r\nstatus=0\r\n/)
  t.match(shown, /\sicanon\s/)
  t.match(shown, /\secho\s/, 'the terminal echoes again')
  t.equal(await isPasswordOfAda('tüped-secret'), true)
})

t.test('both entries may be pasted together', async (t) => {
  const dataDir = await useDataFolder(t)
  const terminal = startOnTerminal(t, [...CREATE, '--password-stdin'], { dataDir })
  await terminal.type(/^Password: /, 'pasted-secret\rpasted-secret\r')
  t.match(await terminal.end(), /created ada\r\nstatus=0\r\n/)
  t.equal(await isPasswordOfAda('pasted-secret'), true)
})

t.test('two different entries create no account', async (t) => {
  const dataDir = await useDataFolder(t)
  const terminal = startOnTerminal(t, CREATE, { dataDir })
  await terminal.type(/^Password: /, 'one secret\r')
  await terminal.type(/^Repeat the password: /m, 'other secret\r')
  const shown = await terminal.end()
  t.match(shown, /gatehouse: the two passwords differ; try again\r\nstatus=1\r\n/)
  t.notMatch(shown, /one secret|other secret/)
  t.equal(await withDatabase((db) => findPassword(db, 'ada')), undefined)
})

t.test('Ctrl-C and Ctrl-D at the prompt end the command and restore the terminal', async (t) => {
  const dataDir = await useDataFolder(t)
  for (const [keys, end] of [
    ['half\u0003', /^Password: \r\nstatus=130\r\n/],
    ['\u0004', /^Password: \r\ngatehouse: no password was given\r\nstatus=1\r\n/],
  ] as const) {
    const terminal = startOnTerminal(t, CREATE, { dataDir })
    await terminal.type(/^Password: /, keys)
    const shown = await terminal.end()
    t.match(shown, end)
    t.match(shown, /\sicanon\s/)
    t.match(shown, /\secho\s/)
  }
})
