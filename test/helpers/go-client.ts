/** The real go command with an isolated home folder and no access to public servers. */

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
  /** Folder of the module `main.test/main`, in which go runs. */
  readonly folder: string
  go(...args: readonly string[]): Promise<GoResult>
  /** Returns the output of `go … -json`. Throws with go's message if it fails. */
  goJson(...args: readonly string[]): Promise<GoJson>
  /** Returns the output of `go mod download -json` by module, from one run of go. */
  download(...modules: readonly string[]): Promise<Readonly<Record<string, GoJson>>>
}

type GoJson = Readonly<Record<string, string>>

export interface GoClientOptions {
  /** Value of GOPROXY. */
  readonly proxy: string
  /** File of a certificate to trust. */
  readonly certificate?: string
  readonly netrc?: string
  /** Variables besides those of every client, or in place of them. */
  readonly environment?: Readonly<Record<string, string>>
}

/** Creates a client with empty caches. */
export async function newGoClient(
  t: Test,
  { proxy, certificate, netrc, environment: extra }: GoClientOptions,
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
    // The checksum database is a public server.
    GONOSUMDB: '*',
    GOSUMDB: 'off',
    ...(certificate === undefined ? {} : { SSL_CERT_FILE: certificate }),
    ...extra,
  }
  async function go(...args: readonly string[]): Promise<GoResult> {
    const bounds = { timeoutMs: 300_000, outputBytesMax: 16 << 20 }
    const ended = await runToEnd('go', args, { cwd: folder, environment, ...bounds })
    const { exitCode, output, errorText } = ended
    return { exitCode, output: output.toString().trim(), errorText }
  }
  async function succeed(args: readonly string[]): Promise<string> {
    const { exitCode, output, errorText } = await go(...args)
    if (exitCode !== 0) throw new Error(`go ${args.join(' ')}: ${errorText} ${output}`)
    return output
  }
  return {
    folder,
    go,
    goJson: async (...args) => JSON.parse(await succeed(args)),
    async download(...modules) {
      const output = await succeed(['mod', 'download', '-json', ...modules])
      // The objects are in the order of the arguments.
      const objects: readonly GoJson[] = JSON.parse(`[${output.replaceAll('}\n{', '},{')}]`)
      if (objects.length !== modules.length) throw new Error(`go downloaded ${output}`)
      return Object.fromEntries(modules.map((name, at) => [name, objects[at] ?? {}]))
    },
  }
}
