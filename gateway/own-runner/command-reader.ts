/** Workflow commands: lines of the output of a program such as `::add-mask::TEXT`. */

import type { TaskLog } from './task-log.js'

/** Commands that GitHub has switched off, with the files that replace them. */
const REPLACED: Readonly<Record<string, string>> = {
  'set-output': 'write NAME=VALUE to the file $GITHUB_OUTPUT',
  'save-state': 'write NAME=VALUE to the file $GITHUB_STATE',
  'set-env': 'write NAME=VALUE to the file $GITHUB_ENV',
  'add-path': 'write the folder to the file $GITHUB_PATH',
}

/** Adds the lines of one program to the log, and executes the commands among them. */
export class CommandReader {
  readonly #log: TaskLog
  /** Name of the command that ends a time without commands. */
  #stopToken: string | undefined

  constructor(log: TaskLog) {
    this.#log = log
  }

  /** Adds a line. Commands that only change how a log looks, such as `::group::`, remain in it. */
  add(line: string): void {
    const [, name = '', value = ''] = /^\s*::([^:\s]+)(?:\s.*?)?::(.*)$/s.exec(line) ?? []
    const command = name.toLowerCase()
    if (this.#stopToken !== undefined) {
      if (name === this.#stopToken) this.#stopToken = undefined
      this.#log.add(line)
    } else if (command === 'add-mask') {
      this.#log.addMask(decode(value))
      this.#log.add('::add-mask::***')
    } else {
      this.#log.add(line)
      if (command === 'stop-commands' && value !== '') this.#stopToken = value
      if (Object.hasOwn(REPLACED, command)) {
        this.#log.add(`Warning: the command '${command}' is ignored; ${REPLACED[command]}.`)
      }
    }
  }
}

/** Decodes the escapes of a command. */
function decode(text: string): string {
  return text.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%')
}
