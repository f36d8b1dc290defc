/** Commands of the command line, run in the test's process with a temporary data folder. */

import { parseArgs } from 'node:util'
import type { Test } from 'tap'
import { loadSettings } from '../../conf/load.js'
import type { Command } from '../../scripts/commands/command.js'
import { copySqliteTemplate } from './templates.js'
import { temporaryFolder } from './temporary.js'

/** Sets GATEHOUSE_DATA_DIR to a new folder, by default with a migrated database. */
export async function useDataFolder(t: Test, { isMigrated = true } = {}): Promise<string> {
  const folder = await temporaryFolder(t)
  const before = process.env['GATEHOUSE_DATA_DIR']
  process.env['GATEHOUSE_DATA_DIR'] = folder
  t.teardown(() => {
    if (before === undefined) delete process.env['GATEHOUSE_DATA_DIR']
    else process.env['GATEHOUSE_DATA_DIR'] = before
  })
  const { location } = loadSettings().database
  if (isMigrated && location.kind === 'sqlite') await copySqliteTemplate(location.file)
  return folder
}

/** Runs the command that the arguments name; returns the printed lines. */
export async function runCommand(
  t: Test,
  commands: readonly Command[],
  ...args: readonly string[]
): Promise<readonly string[]> {
  const command = commands.find(({ words }) => words.every((word, at) => word === args[at]))
  if (command === undefined) throw new Error(`no command ${args.join(' ')}`)
  const { values, positionals } = parseArgs({
    args: args.slice(command.words.length),
    options: command.options,
    allowPositionals: true,
  })
  const printed = t.capture(console, 'log')
  try {
    await command.run({ values, positionals })
  } finally {
    printed.restore()
  }
  return printed().map((call) => call.args.join(' '))
}
