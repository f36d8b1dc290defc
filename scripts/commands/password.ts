/** Passwords for commands: from an option, from standard input, or from a terminal prompt. */

import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { ReadStream } from 'node:tty'
import {
  type CommandCall,
  CommandError,
  type CommandOption,
  Interrupted,
  UsageError,
} from './command.js'

export const PASSWORD_USAGE = '[--password PASSWORD | --password-stdin]'

export const PASSWORD_OPTIONS: Readonly<Record<string, CommandOption>> = {
  password: {
    type: 'string',
    value: 'PASSWORD',
    about: 'The password; other users of this machine can see it in the list of processes.',
  },
  'password-stdin': {
    type: 'boolean',
    about: 'Reads the password from the first line of standard input.',
  },
}

/**
 * Returns a function that reads the password of the call. Throws UsageError if the call gives two
 * passwords, or none without a terminal.
 */
export function passwordReader({ values }: CommandCall): () => Promise<string> {
  const { password, 'password-stdin': isOnInput } = values
  const { stdin, stderr } = process
  if (typeof password === 'string' && isOnInput === true) {
    throw new UsageError('--password and --password-stdin cannot be combined')
  }
  if (typeof password === 'string') return async () => password
  // With a terminal, --password-stdin also prompts, because the terminal would echo the password.
  if (stdin.isTTY) return () => askTwice(stdin, stderr)
  if (isOnInput === true) return () => readFirstLine(stdin)
  throw new UsageError(
    'a password is needed: give --password-stdin or --password PASSWORD, or use a terminal',
  )
}

const LINE_BYTES_MAX = 4_096
const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/**
 * Returns the first line, without its line feed or CRLF. Throws CommandError if the input is empty,
 * is not UTF-8, or has no end of line within 4 KiB.
 */
export async function readFirstLine(input: AsyncIterable<Buffer>): Promise<string> {
  let bytes = Buffer.alloc(0)
  for await (const chunk of input) {
    bytes = Buffer.concat([bytes, chunk])
    if (bytes.includes(LINE_FEED) || bytes.length > LINE_BYTES_MAX) break
  }
  if (bytes.length === 0) throw new CommandError('standard input is empty: it has no password')
  const end = bytes.indexOf(LINE_FEED)
  if (end < 0 && bytes.length > LINE_BYTES_MAX) {
    throw new CommandError(`the password is longer than ${LINE_BYTES_MAX} bytes`)
  }
  const isCrlf = end > 0 && bytes[end - 1] === CARRIAGE_RETURN
  const line = end < 0 ? bytes : bytes.subarray(0, isCrlf ? end - 1 : end)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(line)
  } catch {
    throw new CommandError('the password on standard input is not UTF-8')
  }
}

/** Prompts for the password twice without echo. Throws CommandError if the inputs differ. */
async function askTwice(terminal: ReadStream, prompts: Writable): Promise<string> {
  // The editor echoes the input to its output, so it gets an output that discards everything.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() })
  const editor = createInterface({ input: terminal, output, terminal: true, historySize: 0 })
  const answers = editor[Symbol.asyncIterator]()
  let isInterrupted = false
  editor.on('SIGINT', () => {
    isInterrupted = true
    editor.close()
  })
  const ask = async (prompt: string) => {
    prompts.write(prompt)
    const { value, done } = await answers.next()
    prompts.write('\n')
    if (isInterrupted) throw new Interrupted()
    if (done) throw new CommandError('no password was given')
    return value
  }
  try {
    const password = await ask('Password: ')
    if (password === (await ask('Repeat the password: '))) return password
    throw new CommandError('the two passwords differ; try again')
  } finally {
    // Restores the mode of the terminal.
    editor.close()
  }
}
