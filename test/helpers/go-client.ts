/** The real go command, as a user runs it: a home of its own, and nothing from outside. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import { temporaryFolder } from './temporary.js'

export interface GoResult {
  readonly exitCode: number | undefined
  readonly output: string
  readonly errorText: string
}

export interface GoClient {
  /** Of the module `main.test/main`, in which it runs. */
  readonly folder: string
  go(...args: readonly string[]): Promise<GoResult>
  /** What `go … -json` says, or else an error with the words of go. */
  goJson(...args: readonly string[]): Promise<Readonly<Record<string, string>>>
}

export interface GoClientOptions {
  /** Addresses as in GOPROXY. */
  readonly proxy: string
  /** Trusted besides those of the machine. */
  readonly certificate?: string
  readonly netrc?: string
}

/** A user who has downloaded nothing so far. */
export async function newGoClient(
  t: Test,
  { proxy, certificate, netrc }: GoClientOptions,
): Promise<GoClient> {
  const home = await temporaryFolder(t)
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'go.mod'), 'module main.test/main\n\ngo 1.19\n')
  if (netrc !== undefined) await writeFile(join(home, '.netrc'), netrc, { mode: 0o600 })
  const environment = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: home,
    LC_ALL: 'C',
    GOPATH: join(home, 'go'),
    GOCACHE: join(home, 'cache'),
    GOENV: 'off',
    GOFLAGS: '-mod=mod -modcacherw',
    GOTOOLCHAIN: 'local',
    GOPROXY: proxy,
    GOVCS: '*:off',
    // The checksum database is somewhere else.
    GONOSUMDB: '*',
    GOSUMDB: 'off',
    ...(certificate === undefined ? {} : { SSL_CERT_FILE: certificate }),
  }
  async function go(...args: readonly string[]): Promise<GoResult> {
    const bounds = { timeoutMs: 300_000, outputBytesMax: 16 << 20 }
    const ended = await runToEnd('go', args, { cwd: folder, environment, ...bounds })
    const { exitCode, output, errorText } = ended
    return { exitCode, output: output.toString().trim(), errorText }
  }
  return {
    folder,
    go,
    async goJson(...args) {
      const { exitCode, output, errorText } = await go(...args)
      if (exitCode !== 0) throw new Error(`go ${args.join(' ')}: ${errorText} ${output}`)
      return JSON.parse(output)
    },
  }
}
