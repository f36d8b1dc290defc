/** Arguments of a command: accepted, or refused with a message that names the wrong word. */

import t from 'tap'
import { readCall } from '../../../scripts/commands/call.js'
import { type Command, UsageError } from '../../../scripts/commands/command.js'

const CREATE: Command = {
  words: ['user', 'create'],
  usage: '',
  about: '',
  positionals: ['NAME'],
  options: {
    email: { type: 'string', value: 'ADDRESS', about: '' },
    admin: { type: 'boolean', about: '' },
  },
  run: async () => {},
}

t.test('options may be anywhere, and a value may follow an equals sign', async (t) => {
  for (const text of [
    'ada --email=-a --admin',
    '--admin --email=-a ada',
    '--admin --email=-a -- ada',
  ]) {
    const args = text.split(' ')
    const { positionals, values } = readCall(CREATE, args)
    t.strictSame(positionals, ['ada'])
    t.strictSame({ ...values }, { email: '-a', admin: true })
  }
  t.strictSame(readCall(CREATE, ['--', '--admin']).positionals, ['--admin'])
  t.strictSame({ ...readCall(CREATE, ['ada', '--email=']).values }, { email: '' })
})

t.test('a wrong call is refused with the name of the wrong word', async (t) => {
  for (const [text, message] of [
    ['', "'user create' needs NAME"],
    ['ada bob', "'user create' takes no argument 'bob'"],
    ['ada --mail x', "unknown option '--mail'; did you mean '--email'?"],
    ['ada --colour', "unknown option '--colour'"],
    ['ada --constructor', "unknown option '--constructor'"],
    ['ada -e', "unknown option '-e'"],
    ['ada --email', "option '--email' needs a value"],
    ['ada --admin=yes', "option '--admin' takes no value"],
    [
      'ada --email --admin',
      "option '--email' needs a value; '--email=VALUE' sets one that begins with a hyphen",
    ],
  ] as const) {
    const args = text.split(' ').filter((word) => word !== '')
    t.throws(() => readCall(CREATE, args), new UsageError(message), text)
  }
})
