/** Shells of `run` steps. */

import { JobFault } from './job-fault.js'
import { findProgram } from './run-program.js'

/** Commands by the names of shells, without the file of the script. */
const SHELLS: Readonly<Record<string, readonly string[]>> = {
  bash: ['bash', '--noprofile', '--norc', '-e', '-o', 'pipefail'],
  sh: ['sh', '-e'],
  python: ['python'],
  node: ['node'],
}

/**
 * Returns the command that runs a script; by default with bash, or sh if there is no bash. Without
 * a path it is for a container, where sh is the default. Throws JobFault for another shell.
 */
export async function shellCommand(
  shell: string | undefined,
  script: string,
  path: string | undefined,
): Promise<readonly string[]> {
  const hasProgram = async (program: string) =>
    path !== undefined && (await findProgram(program, path)) !== undefined
  const name = shell ?? ((await hasProgram('bash')) ? 'bash' : 'sh')
  const command = Object.hasOwn(SHELLS, name) ? SHELLS[name] : undefined
  if (command === undefined) {
    const known = Object.keys(SHELLS).join(', ')
    throw new JobFault(`the shell '${name}' is not supported by this runner; it has ${known}`)
  }
  // Debian has no program `python`.
  if (name === 'python' && path !== undefined && !(await hasProgram('python'))) {
    return ['python3', script]
  }
  return [...command, script]
}
