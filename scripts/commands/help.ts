/** The help texts of the command line. */

import type { Command } from './command.js'

/** Lists commands, each with its usage line and its sentence. */
export function listCommands(commands: readonly Command[]): string {
  const entries = commands.map((command) => `  ${usageLine(command)}\n      ${command.about}`)
  return [
    'Usage:',
    ...entries,
    '',
    "'gatehouse NOUN VERB --help' explains the options of one command.",
  ].join('\n')
}

/** Lists all commands, and the options that stand in place of one. */
export function describeProgram(commands: readonly Command[]): string {
  return [
    listCommands(commands),
    "'gatehouse NOUN --help' lists the commands of one noun.",
    "'gatehouse --version' prints the version and the commit.",
  ].join('\n')
}

/** Describes one command: its usage, its sentence, and each option. */
export function describeCommand(command: Command): string {
  const options = Object.entries(command.options).map(
    ([name, { value, about }]) => [value ? `--${name} ${value}` : `--${name}`, about] as const,
  )
  options.push(['--help', 'Prints this help.'])
  const width = Math.max(...options.map(([text]) => text.length))
  return [
    `Usage: ${usageLine(command)}`,
    '',
    command.about,
    '',
    'Options:',
    ...options.map(([text, about]) => `  ${text.padEnd(width)}  ${about}`),
  ].join('\n')
}

function usageLine({ words, usage }: Command): string {
  return ['gatehouse', ...words, usage].filter((part) => part !== '').join(' ')
}
