/** Parser for the arguments of a command. */

import { parseArgs } from 'node:util'
import { type Command, type CommandCall, UsageError } from './command.js'
import { suggest } from './suggest.js'

/**
 * Parses the arguments of a command. Throws UsageError for an unknown option, a missing value, and
 * too few or too many arguments.
 */
export function readCall(command: Command, args: readonly string[]): CommandCall {
  // Not strict, because the messages of parseArgs have several lines and suggest no option.
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: command.options,
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  for (const token of tokens) {
    if (token.kind === 'option') checkOption(command, token)
  }
  const name = `'${command.words.join(' ')}'`
  const missing = command.positionals[positionals.length]
  if (missing !== undefined) throw new UsageError(`${name} needs ${missing}`)
  const extra = positionals[command.positionals.length]
  if (extra !== undefined && command.furtherPositionals !== true) {
    throw new UsageError(`${name} takes no argument '${extra}'`)
  }
  return { values, positionals }
}

interface OptionToken {
  readonly name: string
  /** Option as typed, without the value: `--email` or `-e`. */
  readonly rawName: string
  readonly value?: string | undefined
  /** True if the value follows a `=`. */
  readonly inlineValue?: boolean | undefined
}

function checkOption({ options }: Command, { name, rawName, value, inlineValue }: OptionToken) {
  const option = Object.hasOwn(options, name) ? options[name] : undefined
  if (option === undefined || !rawName.startsWith('--')) {
    const similar = suggest(
      rawName,
      Object.keys(options).map((known) => `--${known}`),
    )
    const hint = similar === undefined ? '' : `; did you mean '${similar}'?`
    throw new UsageError(`unknown option '${rawName}'${hint}`)
  }
  if (option.type === 'boolean') {
    if (value !== undefined) throw new UsageError(`option '${rawName}' takes no value`)
    return
  }
  if (value === undefined) throw new UsageError(`option '${rawName}' needs a value`)
  if (!inlineValue && value.startsWith('-')) {
    const advice = `'${rawName}=VALUE' sets one that begins with a hyphen`
    throw new UsageError(`option '${rawName}' needs a value; ${advice}`)
  }
}
