/** Help texts of the command line. */

import t from 'tap'
import type { Command } from '../../../scripts/commands/command.js'
import { describeCommand, describeProgram, listCommands } from '../../../scripts/commands/help.js'

const CREATE: Command = {
  words: ['user', 'create'],
  usage: 'NAME [--email ADDRESS] [--admin]',
  about: 'Creates an account.',
  positionals: ['NAME'],
  options: {
    email: { type: 'string', value: 'ADDRESS', about: 'The e-mail address.' },
    admin: { type: 'boolean', about: 'Makes the user an administrator.' },
  },
  run: async () => {},
}

t.test('the help of one command describes each of its options', async (t) => {
  const lines = [
    'Usage: gatehouse user create NAME [--email ADDRESS] [--admin]',
    '',
    'Creates an account.',
    '',
    'Options:',
    '  --email ADDRESS  The e-mail address.',
    '  --admin          Makes the user an administrator.',
    '  --help           Prints this help.',
  ]
  t.strictSame(describeCommand(CREATE).split('\n'), lines)
})

t.test('the help of several commands lists their usage and description', async (t) => {
  const list: Command = { ...CREATE, words: ['serve'], usage: '', about: 'Serves.', options: {} }
  const listed = listCommands([CREATE, list])
  t.match(listed, /^Usage:\n {2}gatehouse user create NAME .*\n {6}Creates an account\.\n/)
  t.match(listed, /\n {2}gatehouse serve\n {6}Serves\.\n/)
  t.match(describeProgram([CREATE, list]), listed)
  t.match(describeProgram([]), /'gatehouse --version' prints/)
})
