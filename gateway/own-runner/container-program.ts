/** Programs of steps in the container of their job. */

import { join } from 'node:path'
import { type Isolate, NO_ISOLATION } from './isolation.js'
import { JobFault } from './job-fault.js'
import type { Podman } from './podman.js'
import type { Texts } from './step-file.js'
import type { TaskFolder } from './task-folder.js'

/** A running container, in which the folder of the task has the same path as outside. */
export interface RunningContainer {
  readonly podman: Podman
  readonly id: string
  readonly folder: TaskFolder
  /** Variables of all programs, which those of steps replace. */
  readonly env: Texts
}

/** Options of each program: container root, who is the user of the runner if podman is rootless. */
const EXEC = ['exec', '--interactive', '--user=0:0', '--workdir=/']

/**
 * Runs a program with the variables that standard input sets. They are neither arguments, which all
 * users of the machine can read, nor variables of podman, which would act on podman itself. When
 * the program has ended, the processes that it has left in its group get SIGTERM.
 */
const RUN = `exec 2>&1
echo $$ >"$1"
. /dev/stdin
exec </dev/null
cd "$2" || exit 1
shift 2
trap : TERM
"$@"
status=$?
trap '' TERM
kill -s TERM 0
exit $status`

/** Ends the process group of a program, whose id the file has. Busybox knows no other form. */
const END = 'read -r group <"$1" && kill -TERM "-$group" && sleep 1 && kill -KILL "-$group"'

const END_WITHIN_MS = 10_000

/** Returns how the programs of steps are started in the container. */
export function isolateInContainer({ podman, id, folder, env }: RunningContainer): Isolate {
  let programs = 0
  const start = NO_ISOLATION(folder)
  return ({ command, cwd, environment }) => {
    programs += 1
    const groupFile = join(folder.path, `program-${programs}`)
    const shell = ['/bin/sh', '-c', RUN, 'sh', groupFile, cwd, ...command]
    return {
      ...start({
        command: [podman.file, ...EXEC, '--', id, ...shell],
        cwd: '/',
        environment: podman.environment,
      }),
      input: exportsOf({ ...env, ...environment }),
      async end() {
        const args = [...EXEC, '--', id, '/bin/sh', '-c', END, 'sh', groupFile]
        await podman.call(args, { timeoutMs: END_WITHIN_MS }).catch(() => {})
      },
    }
  }
}

/** Variables that bash does not permit to be set. */
const FIXED = ['BASHOPTS', 'BASH_VERSINFO', 'EUID', 'PPID', 'SHELLOPTS', 'UID']

/** Returns the commands of a shell that set variables; shells have no others than these names. */
function exportsOf(environment: Texts): string {
  const lines = Object.entries(environment).flatMap(([name, value]) => {
    if (value.includes('\0')) {
      throw new JobFault('a variable of the step contains a null character')
    }
    if (!/^[A-Za-z_]\w*$/.test(name) || FIXED.includes(name)) return []
    return [`export ${name}='${value.replaceAll("'", "'\\''")}'\n`]
  })
  return lines.join('')
}
