/** The real tea, Gitea's command-line client, with a temporary configuration. */

import { join } from 'node:path'
import { runToEnd } from '../../cgi/process/run.js'
import { installProgram } from './programs.js'
import { temporaryFolder } from './temporary.js'

const TIMEOUT_MS = 60_000

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface TeaEnd {
  readonly exitCode: number | undefined
  readonly output: string
  readonly errorText: string
}

/** Function that runs `tea …` as a signed-in user, in a temporary folder. */
export type Tea = (...args: readonly string[]) => Promise<TeaEnd>

/** Signs in with a token. Throws if tea cannot be installed or the sign-in fails. */
export async function signInWithTea(t: Teardown, url: string, token: string): Promise<Tea> {
  const program = join(await installProgram('tea'), 'usr/bin/tea-cli')
  const folder = await temporaryFolder(t)
  const environment = {
    PATH: '/usr/bin:/bin',
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    NO_COLOR: '1',
  }
  const tea: Tea = async (...args) => {
    const { exitCode, output, errorText } = await runToEnd(program, args, {
      cwd: folder,
      environment,
      timeoutMs: TIMEOUT_MS,
      outputBytesMax: 1_048_576,
    })
    return { exitCode, output: output.toString(), errorText }
  }
  const { exitCode, errorText } = await tea(
    'login',
    'add',
    '--name',
    'gatehouse',
    '--url',
    url,
    '--token',
    token,
  )
  if (exitCode !== 0) throw new Error(`tea login failed: ${errorText}`)
  return tea
}
