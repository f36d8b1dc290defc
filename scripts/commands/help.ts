/** Help texts of the command line. */

import type { Command } from './command.js'

/** Lists commands with usage line and description. */
export function listCommands(commands: readonly Command[]): string {
  const entries = commands.map((command) => `  ${usageLine(command)}\n      ${command.about}`)
  return [
    'Usage:',
    ...entries,
    '',
    "'gatehouse NOUN VERB --help' explains the options of one command.",
  ].join('\n')
}

/** Lists all commands and the options that replace a command. */
export function describeProgram(commands: readonly Command[]): string {
  return [
    listCommands(commands),
    "'gatehouse NOUN --help' lists the commands of one noun.",
    "'gatehouse --version' prints the version and the commit.",
  ].join('\n')
}

/** Describes a command: usage, description and options. */
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
