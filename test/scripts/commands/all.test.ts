/** Commands are found by their first word. */

import t from 'tap'
import { allCommands, commandsOf } from '../../../scripts/commands/all.js'

t.test('each command is found by its noun, in the order of all commands', async (t) => {
  const commands = await allCommands()
  const nouns = [...new Set(commands.map(({ words }) => words[0]))]
  t.ok(nouns.length > 10, 'there are commands')
  for (const noun of nouns) {
    t.strictSame(
      await commandsOf(noun),
      commands.filter(({ words }) => words[0] === noun),
      noun,
    )
  }
})

t.test('an unknown noun has no commands', async (t) => {
  t.strictSame(await commandsOf('serves'), [])
  t.strictSame(await commandsOf(''), [])
})
