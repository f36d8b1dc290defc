/** Isolation of steps: the way in which their programs are started. */

import type { TaskFolder } from './task-folder.js'

/** A program that a step starts. */
export interface Program {
  readonly command: readonly string[]
  readonly cwd: string
  /** The complete environment. */
  readonly environment: Readonly<Record<string, string>>
}

/** A program as this process starts it: another program may run it. */
export interface Launch {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** Standard input. */
  readonly input: string
  /** Ends the program if its process group does not contain all of it. Never rejects. */
  readonly end?: () => Promise<void>
}

/** Returns the start of a program of one task, with standard error in standard output. */
export type Isolate = (program: Program) => Launch

/** Returns how the programs of a task are started. */
export type Isolation = (folder: TaskFolder) => Isolate

/** Makes standard error the same pipe as standard output, so that the log has their order. */
const JOIN_OUTPUTS = 'exec 2>&1; exec "$@"'

/** Runs programs as the user of the runner, with access to everything that it has. */
export const NO_ISOLATION: Isolation =
  () =>
  ({ command, cwd, environment }) => ({
    file: '/bin/sh',
    args: ['-c', JOIN_OUTPUTS, 'sh', ...command],
    cwd,
    environment,
    input: '',
  })
