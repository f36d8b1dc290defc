/** Entry point of the command line: help texts, and calls that are refused. */

import t from 'tap'
import { runEntryPoint as run } from '../helpers/entry-point.js'

const NOUNS = ['serve', 'user', 'token', 'repo', 'package', 'db', 'doctor']

t.test('the usage lists every command, and of a noun its verbs', async (t) => {
  const all = await run(t, ['--help'])
  t.equal(all.exitCode, 0)
  for (const noun of NOUNS) t.match(all.output, `gatehouse ${noun}`)
  t.equal((await run(t, [])).exitCode, 2)
  const user = await run(t, ['user', '--help'])
  t.equal(user.exitCode, 0)
  for (const verb of ['create', 'list', 'delete', 'password']) {
    t.match(user.output, `gatehouse user ${verb}`)
  }
  t.notMatch(user.output, /gatehouse token/)
  const token = await run(t, ['token', 'create', '--help'])
  t.equal(token.exitCode, 0)
  t.match(token.output, /^Usage: gatehouse token create .*\n\n.*\n\nOptions:\n {2}--name NAME /)
  t.notMatch(token.output, /gatehouse token (?:list|revoke)/)
})

t.test('a wrong call is refused with one line that refers to the help', async (t) => {
  for (const [call, line] of [
    ['nonsense', "unknown command 'nonsense'. See 'gatehouse --help'."],
    ['token create ada --name x', "--scopes is needed. See 'gatehouse token create --help'."],
    [
      'repo maintain ada',
      "a repository is named as OWNER/REPO. See 'gatehouse repo maintain --help'.",
    ],
    ['user create', "'user create' needs NAME. See 'gatehouse user create --help'."],
    [
      'user creat ada --help',
      "unknown command 'user creat'. Did you mean 'user create'? See 'gatehouse user --help'.",
    ],
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
  ] as const) {
    const end = await run(t, call.split(' '))
    t.strictSame(end, { exitCode: 2, output: '', errorText: `gatehouse: ${line}\n` }, call)
  }
})

t.test('a noun without a verb lists its commands on standard error', async (t) => {
  const { exitCode, output, errorText } = await run(t, ['user'])
  t.equal(exitCode, 2)
  t.equal(output, '')
  t.match(errorText, /^Usage:\n {2}gatehouse user create /)
  t.notMatch(errorText, /gatehouse token/)
})
