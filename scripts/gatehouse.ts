/** The command line: finds the command that the words name, and runs it. */

import { parseArgs } from 'node:util'
import { Failure } from '../conf/failures.js'
import { SettingsError } from '../conf/load.js'
import { type Command, CommandError, UsageError } from './commands/command.js'
import { DB_COMMANDS } from './commands/db.js'
import { DOCTOR_COMMANDS } from './commands/doctor.js'
import { PACKAGE_COMMANDS } from './commands/package.js'
import { REPO_COMMANDS } from './commands/repo.js'
import { SERVE_COMMANDS } from './commands/serve.js'
import { SSH_COMMANDS } from './commands/ssh.js'
import { TOKEN_COMMANDS } from './commands/token.js'
import { USER_COMMANDS } from './commands/user.js'
import { WEBHOOK_COMMANDS } from './commands/webhook.js'

const COMMANDS: readonly Command[] = [
  ...SERVE_COMMANDS,
  ...USER_COMMANDS,
  ...TOKEN_COMMANDS,
  ...REPO_COMMANDS,
  ...PACKAGE_COMMANDS,
  ...WEBHOOK_COMMANDS,
  ...SSH_COMMANDS,
  ...DB_COMMANDS,
  ...DOCTOR_COMMANDS,
]

process.exitCode = await main(process.argv.slice(2))

/** 0 when it went well, 1 with a line when it could not be done, 2 for words that mean nothing. */
async function main(args: readonly string[]): Promise<number> {
  const [noun = '', verb = ''] = args
  if (noun === '' || noun === '--help' || noun === '-h') {
    console.log(usageOf(COMMANDS))
    return noun === '' ? 2 : 0
  }
  const ofNoun = COMMANDS.filter((command) => command.words[0] === noun)
  if (args.includes('--help') && ofNoun.length > 0) {
    console.log(usageOf(ofNoun))
    return 0
  }
  const command = ofNoun.find(({ words }) => words.length === 1 || words[1] === verb)
  if (command === undefined) {
    console.error(`gatehouse: unknown command '${args.slice(0, 2).join(' ')}'`)
    console.error(usageOf(ofNoun.length > 0 ? ofNoun : COMMANDS))
    return 2
  }
  return run(command, args.slice(command.words.length))
}

async function run(command: Command, args: readonly string[]): Promise<number> {
  try {
    await command.run(readCall(command, args))
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`gatehouse: ${error.message}`)
      console.error(usageOf([command]))
      return 2
    }
    if (
      error instanceof Failure ||
      error instanceof SettingsError ||
      error instanceof CommandError
    ) {
      console.error(`gatehouse: ${error.message}`)
      return 1
    }
    throw error
  }
}

function readCall(command: Command, args: readonly string[]) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: command.options,
      allowPositionals: true,
    })
    const wanted = command.positionals
    if (positionals.length !== wanted.length) {
      throw new UsageError(`${command.words.join(' ')} takes ${wanted.join(' ') || 'no names'}`)
    }
    return { values, positionals }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function usageOf(commands: readonly Command[]): string {
  const lines = commands.map(
    ({ words, usage, about }) =>
      `  gatehouse ${[...words, usage].filter((part) => part !== '').join(' ')}\n      ${about}`,
  )
  return ['Usage:', ...lines].join('\n')
}
