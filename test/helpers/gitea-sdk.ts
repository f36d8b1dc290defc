/** A Go program over Gitea's own SDK, which scripts/gitea-sdk unpacks and compiles. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runToEnd } from '../../cgi/process/run.js'
import { installProgram } from './programs.js'

const SOURCE = fileURLToPath(new URL('../../../test/helpers/gitea-sdk/project.go', import.meta.url))
const BOUNDS = { timeoutMs: 60_000, outputBytesMax: 1_048_576 }

export interface ProgramEnd {
  readonly exitCode: number | undefined
  readonly output: string
  readonly errorText: string
}

/** Compiles the program, if it changed, and runs it with the token of an administrator. */
export async function runSdkProgram(url: string, token: string): Promise<ProgramEnd> {
  const folder = await installProgram('gitea-sdk')
  const program = join(folder, 'project')
  const { PATH = '/usr/bin:/bin' } = process.env
  const environment = {
    PATH,
    GO111MODULE: 'off',
    GOENV: 'off',
    GOFLAGS: '',
    GOTOOLCHAIN: 'local',
    GOPATH: join(folder, 'usr/share/gocode'),
    GOCACHE: join(folder, 'cache'),
  }
  const built = await runToEnd('go', ['build', '-o', program, SOURCE], { environment, ...BOUNDS })
  if (built.exitCode !== 0) throw new Error(`go build failed: ${built.errorText}`)
  const { exitCode, output, errorText } = await runToEnd(program, [url], {
    environment: { PATH, GITEA_TOKEN: token },
    ...BOUNDS,
  })
  return { exitCode, output: output.toString(), errorText }
}
