/** Passwords of the command line: from standard input, from a prompt on a terminal, or refused. */

import t, { type Test } from 'tap'
import { checkPassword } from '../../../gateway/auth/password.js'
import { withDatabase } from '../../../scripts/commands/command.js'
import { findPassword } from '../../../sql/accounts/users.js'
import { useDataFolder } from '../../helpers/command.js'
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

t.test('--password-stdin reads the first line and removes only its line end', async (t) => {
  const run = withInput(t, await useDataFolder(t))
  const created = await run([...CREATE, '--password-stdin'], ' pässwörd 密碼\t \nsecond line\n')
  t.strictSame(created, { exitCode: 0, output: 'created ada\n', errorText: '' })
  t.equal(await isPasswordOfAda(' pässwörd 密碼\t '), true)
  for (const [input, password] of [
    ['ends with CRLF\r\n', 'ends with CRLF'],
    ['has no line end', 'has no line end'],
    ['has only a CR\r', 'has only a CR\r'],
    ['has two CRs\r\r\n', 'has two CRs\r'],
    ['\ufeffbegins with a BOM\n', '\ufeffbegins with a BOM'],
  ] as const) {
    const { exitCode, errorText } = await run(
      ['user', 'password', 'ada', '--password-stdin'],
      input,
    )
    t.equal(exitCode, 0, errorText)
    t.equal(await isPasswordOfAda(password), true, JSON.stringify(input))
  }
})

t.test('standard input without a valid password is refused with one line', async (t) => {
  const run = withInput(t, await useDataFolder(t))
  for (const [input, complaint] of [
    ['', /^gatehouse: standard input is empty/],
    ['\n', /^gatehouse: A password must have 8 to 256 characters/],
    [Buffer.from('not \xff UTF-8\n', 'latin1'), /^gatehouse: .* is not UTF-8\n$/],
    ['x'.repeat(5_000), /^gatehouse: .* longer than 4096 bytes\n$/],
  ] as const) {
    const { exitCode, output, errorText } = await run([...CREATE, '--password-stdin'], input)
    t.equal(exitCode, 1, errorText)
    t.match(errorText, complaint)
    t.equal(errorText.trim().split('\n').length, 1)
    t.equal(output, '')
  }
})

t.test(
  'a missing password without a terminal and two password options are usage errors',
  async (t) => {
    const run = withInput(t, await useDataFolder(t))
    for (const [options, complaint] of [
      [[], /a password is needed: give --password-stdin or --password PASSWORD, or use a terminal/],
      [['--password', 'a password', '--password-stdin'], /cannot be combined/],
    ] as const) {
      for (const words of [CREATE, ['user', 'password', 'ada']]) {
        const { exitCode, errorText } = await run([...words, ...options], 'a password\n')
        t.equal(exitCode, 2)
        t.match(errorText, complaint)
        t.match(errorText, `See 'gatehouse ${words.slice(0, 2).join(' ')} --help'.\n`)
        t.equal(errorText.trim().split('\n').length, 1)
      }
    }
  },
)

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
