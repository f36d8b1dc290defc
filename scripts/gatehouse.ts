/** Entry point of the command line: parses the arguments and runs the command. */

import { diskFailureOf } from '../conf/disk-failure.js'
import { Failure } from '../conf/failures.js'
import { SettingsError } from '../conf/load.js'
import { allCommands, commandsOf } from './commands/all.js'
import { describeCommandEntry } from './commands/audited.js'
import { readCall } from './commands/call.js'
import { type Command, CommandError, Interrupted, UsageError } from './commands/command.js'
import { describeCommand, describeProgram, listCommands } from './commands/help.js'
import { refuseNode } from './commands/node-version.js'
import { programVersion } from './commands/program-version.js'
import { suggest } from './commands/suggest.js'

const PROGRAM_OPTIONS = ['--help', '--version']

process.stdout.on('error', endOfReader)

process.exitCode = await main(process.argv.slice(2))

/** Ends the process quietly if the reader of its output has ended, as in `gatehouse … | head`. */
function endOfReader(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
  process.exit()
}

/** Runs a call. Returns the exit status: 0, 1 for an error, 2 for a wrong call, 130 for Ctrl-C. */
async function main(args: readonly string[]): Promise<number> {
  const refusal = refuseNode()
  if (refusal !== undefined) return refuse(`gatehouse: ${refusal}`, 1)
  const [noun = '', verb = ''] = args
  if (noun === '') return refuse(describeProgram(await allCommands()))
  if (noun === '--help' || noun === '-h') return print(describeProgram(await allCommands()))
  if (noun === '--version') return print(await programVersion())
  if (noun.startsWith('-')) {
    return refuseWord(`unknown option '${noun}'`, suggest(noun, PROGRAM_OPTIONS))
  }
  const ofNoun = await commandsOf(noun)
  const command = findCommand(ofNoun, verb)
  if (hasHelpOption(args)) {
    if (command !== undefined && (ofNoun.length === 1 || verb === command.words[1])) {
      return print(describeCommand(command))
    }
    if (ofNoun.length > 0 && isOption(verb)) return print(listCommands(ofNoun))
  }
  if (command !== undefined) return run(command, args.slice(command.words.length))
  if (ofNoun.length > 0 && isOption(verb)) return refuse(listCommands(ofNoun))
  const words = isOption(verb) ? ([noun] as const) : ([noun, verb] as const)
  const known = ofNoun.length > 0 ? noun : ''
  return refuseWord(`unknown command '${words.join(' ')}'`, await suggestCommand(words), known)
}

/**
 * Returns the command with this verb, or the command that consists of the noun only. Another word
 * is an argument of that command if it takes any, and a misspelt verb otherwise.
 */
function findCommand(ofNoun: readonly Command[], verb: string): Command | undefined {
  const alone = ofNoun.find(({ words }) => words.length === 1)
  const takesWord = ofNoun.length === 1 || isOption(verb) || (alone?.positionals.length ?? 0) > 0
  return ofNoun.find(({ words }) => words[1] === verb) ?? (takesWord ? alone : undefined)
}

function isOption(word: string): boolean {
  return word === '' || word.startsWith('-')
}

function hasHelpOption(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? args.length : end).some((arg) => ['--help', '-h'].includes(arg))
}

/** Suggests a verb for a known noun; for an unknown noun, a command or another noun. */
async function suggestCommand(
  given: readonly [noun: string, verb?: string],
): Promise<string | undefined> {
  const [noun, verb = ''] = given
  const ofNoun = await commandsOf(noun)
  if (ofNoun.length > 0) {
    const meant = suggest(
      verb,
      ofNoun.flatMap(({ words }) => words[1] ?? []),
    )
    return meant === undefined ? undefined : `${noun} ${meant}`
  }
  const commands = await allCommands()
  const calls = commands.map(({ words }) => words.join(' '))
  const nouns = [...new Set(commands.map(({ words }) => words[0]))]
  return suggest(given.join(' '), calls) ?? suggest(noun, nouns)
}

async function run(command: Command, args: readonly string[]): Promise<number> {
  try {
    const call = readCall(command, args)
    describeCommandEntry(command.words, call)
    await command.run(call)
    return Number(process.exitCode ?? 0)
  } catch (error) {
    if (error instanceof Interrupted) return 130
    if (error instanceof UsageError) {
      const pointer = `See 'gatehouse ${command.words.join(' ')} --help'.`
      return refuse(`gatehouse: ${error.message.replace(/(?<!\?)$/, '.')} ${pointer}`)
    }
    if (
      error instanceof Failure ||
      error instanceof SettingsError ||
      error instanceof CommandError
    ) {
      console.error(`gatehouse: ${error.message}`)
      return 1
    }
    const diskFailure = diskFailureOf(error)
    if (diskFailure === undefined) throw error
    console.error(`gatehouse: ${diskFailure.message}`)
    return 1
  }
}

function print(text: string): number {
  console.log(text)
  return 0
}

function refuse(text: string, exitCode = 2): number {
  console.error(text)
  return exitCode
}

function refuseWord(complaint: string, suggestion: string | undefined, noun = ''): number {
  const hint = suggestion === undefined ? '' : ` Did you mean '${suggestion}'?`
  const help = ['gatehouse', noun, '--help'].filter(Boolean).join(' ')
  return refuse(`gatehouse: ${complaint}.${hint} See '${help}'.`)
}
