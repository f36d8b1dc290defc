/** The real tea, Gitea's command-line client, with a temporary configuration. */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runToEnd } from '../../cgi/process/run.js'
import { temporaryFolder } from './temporary.js'

const PROGRAM = fileURLToPath(new URL('../../../.programs/tea/usr/bin/tea-cli', import.meta.url))
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

/** Signs in with a token. Throws if scripts/tea has not run or the sign-in fails. */
export async function signInWithTea(t: Teardown, url: string, token: string): Promise<Tea> {
  if (!existsSync(PROGRAM)) throw new Error('tea is missing: run scripts/tea')
  const folder = await temporaryFolder(t)
  const environment = {
    PATH: '/usr/bin:/bin',
    HOME: folder,
    XDG_CONFIG_HOME: folder,
    NO_COLOR: '1',
  }
  const tea: Tea = async (...args) => {
    const { exitCode, output, errorText } = await runToEnd(PROGRAM, args, {
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
