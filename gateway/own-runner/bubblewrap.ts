/** Isolation of the steps of a job by bubblewrap, bwrap(1). */

import { lstat, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { runToEnd } from '../../cgi/process/run.js'
import type { Isolate, Isolation, Program } from './isolation.js'
import { JobFault } from './job-fault.js'
import { findProgram } from './run-program.js'
import { createTaskFolder, removeTaskFolder, type TaskFolder } from './task-folder.js'

/** Input of the isolation of a runner. */
export interface BubblewrapInput {
  /** Folders of programs, separated by colons. */
  readonly searchPath: string
  /** Folder in which the folders of tasks are created. */
  readonly workFolder: string
  /** Files and folders that steps cannot read, also if they are in a folder of the system. */
  readonly hidden: readonly string[]
}

const UNLESS = 'or pass --isolation none on a machine that may be lost'

/**
 * Returns the isolation by bubblewrap, after it has run a program. Throws an Error that says what
 * is missing, without a final full stop.
 */
export async function startBubblewrap(input: BubblewrapInput): Promise<Isolation> {
  const bwrap = await findProgram('bwrap', input.searchPath)
  if (bwrap === undefined) {
    throw new Error(`the program bwrap is missing: install the package bubblewrap, ${UNLESS}`)
  }
  const system = await systemArguments(input.hidden)
  const isolation: Isolation = (folder) => isolateIn(folder, { bwrap, system })
  const reason = await tryIsolation(isolation, input)
  if (reason !== undefined) {
    throw new Error(
      `bwrap starts no sandbox (${reason}): install bubblewrap 0.8 or later and permit ` +
        `unprivileged user namespaces, ${UNLESS}`,
    )
  }
  return isolation
}

/** Folders of the system that steps read. On Debian, some are symbolic links. */
const SYSTEM_FOLDERS = '/usr /etc /opt /bin /sbin /lib /lib32 /lib64 /libx32'.split(' ')

/**
 * Returns the arguments for the parts of the system that steps read. Everything else does not exist
 * for them, such as homes, /run with the sockets of services, /var and /sys.
 */
async function systemArguments(hidden: readonly string[]): Promise<readonly string[]> {
  const system = await Promise.all(SYSTEM_FOLDERS.map(folderArguments))
  const node = nodePaths()
  const folders: string[] = []
  const files: string[] = []
  for (const path of hidden) {
    const real = await realpath(path).catch(() => path)
    if (![...SYSTEM_FOLDERS, ...node].some((folder) => real.startsWith(`${folder}/`))) continue
    const stats = await stat(real).catch(() => undefined)
    if (stats?.isDirectory()) folders.push('--tmpfs', real)
    else if (stats !== undefined) files.push('--ro-bind', '/dev/null', real)
  }
  // It may be a link to a file in /run.
  const resolver = await realpath('/etc/resolv.conf').catch(() => '/etc/resolv.conf')
  return [
    ...system.flat(),
    ...folders,
    ...[...node, resolver].flatMap((path) => ['--ro-bind-try', path, path]),
    ...files,
  ]
}

async function folderArguments(path: string): Promise<readonly string[]> {
  const stats = await lstat(path).catch(() => undefined)
  if (stats?.isSymbolicLink()) return ['--symlink', await readlink(path), path]
  return stats === undefined ? [] : ['--ro-bind', path, path]
}

/** Returns paths of the Node that runs this program and of npm, but not a home with it. */
function nodePaths(): readonly string[] {
  const { execPath } = process
  const folder = dirname(execPath)
  return basename(folder) === 'bin' ? [folder, join(folder, '../lib/node_modules')] : [execPath]
}

/**
 * Starts bwrap in an empty environment, because bwrap would load the LD_PRELOAD of a step outside
 * the sandbox. It reads its arguments from a pipe, because all users of the machine can read those
 * of a process, and the environment of a step has secrets. It ignores the SIGTERM that the process
 * group gets: if it ended, all processes of the sandbox would be killed without a grace.
 */
const OUTSIDE = `exec 3<&0 </dev/null 2>&1; trap '' TERM; exec "$@"`

/**
 * Runs the program of a step in the sandbox. Afterwards, its process group gets SIGTERM, as without
 * isolation, and the processes that it has left get half a second. Then the sandbox ends, and the
 * kernel kills the others. The shell itself outlives SIGTERM, and writes no messages.
 *
 * SIGTERM is not sent to all processes (-1): in a faulty sandbox, those are all of the machine.
 */
const INSIDE = `exec 2>/dev/null
trap isEnding=1 TERM
"$@" 2>&1
status=$?
[ "$isEnding" ] || kill -s TERM 0
tries=25
while [ $tries -gt 0 ] && kill -s 0 -- -1; do sleep 0.02; tries=$((tries - 1)); done
exit $status`

/**
 * Namespaces and privileges of the sandbox. It has no --new-session, because SIGTERM is sent to the
 * process group; the process is already in a session of its own, without a terminal. /proc is
 * read-only, because the steps of root could write settings of the kernel without any capability.
 */
const SANDBOX =
  '--unshare-user --disable-userns --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try ' +
  '--die-with-parent --cap-drop ALL --clearenv --proc /proc --remount-ro /proc --dev /dev'

interface System {
  /** Path of bwrap. */
  readonly bwrap: string
  readonly system: readonly string[]
}

/** Returns how the programs of a task are started: its folder and /tmp are all they can write. */
function isolateIn(folder: TaskFolder, { bwrap, system }: System): Isolate {
  const { path, privateTemp } = folder
  // Node and the folder of the task may be below /tmp or /dev, so they are mounted later.
  const temporary = [...SANDBOX.split(' '), '--bind', privateTemp, '/tmp']
  const sandbox = [...temporary, ...system, '--bind', path, path, '--remount-ro', '/']
  return (program) => ({
    file: '/bin/sh',
    args: ['-c', OUTSIDE, 'sh', bwrap, '--args', '3', '--', ...insideCommand(program)],
    cwd: '/',
    environment: {},
    input: nullTerminated([...sandbox, ...programArguments(program)]),
  })
}

/** Undoes the ignored SIGTERM, which a shell cannot do. */
function insideCommand({ command }: Program): readonly string[] {
  return ['/usr/bin/env', '--default-signal=TERM', '/bin/sh', '-c', INSIDE, 'sh', ...command]
}

function programArguments({ cwd, environment }: Program): readonly string[] {
  const variables = Object.entries(environment)
  return ['--chdir', cwd, ...variables.flatMap(([name, value]) => ['--setenv', name, value])]
}

/** Throws JobFault for a text with a null character, which would begin another argument. */
function nullTerminated(args: readonly string[]): string {
  if (args.some((text) => text.includes('\0'))) {
    throw new JobFault('a variable of the step contains a null character')
  }
  return args.map((text) => `${text}\0`).join('')
}

const START_WITHIN_MS = 20_000

/** Runs \`true\` in a sandbox. Returns the reason if that has failed. */
async function tryIsolation(
  isolation: Isolation,
  { workFolder, searchPath }: BubblewrapInput,
): Promise<string | undefined> {
  const folder = await createTaskFolder(workFolder, {})
  try {
    const program = { command: ['true'], cwd: folder.path, environment: { PATH: searchPath } }
    const { file, args, ...options } = isolation(folder)(program)
    const limits = { timeoutMs: START_WITHIN_MS, outputBytesMax: 65_536 }
    const { exitCode, output } = await runToEnd(file, args, { ...options, ...limits })
    return exitCode === 0 ? undefined : output.toString().trim() || `exit status ${exitCode}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  } finally {
    await removeTaskFolder(folder)
  }
}
