/** The real R, with an isolated home folder and library and no access to public servers. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { runToEnd } from '../../cgi/process/run.js'
import { temporaryFolder } from './temporary.js'

export interface REnd {
  readonly exitCode: number | undefined
  /** Standard output, without surrounding white space. */
  readonly output: string
  readonly errorText: string
}

export interface RClient {
  /** Folder in which programs run, and which has the folder `library`. */
  readonly folder: string
  /** Runs a program in which warnings are errors; it installs packages to its own library. */
  run(program: string): Promise<REnd>
  /** Returns major and minor version of R, such as `4.2`. */
  version(): Promise<string>
  /** Runs `R CMD …`. */
  command(...args: readonly string[]): Promise<REnd>
}

const BOUNDS = { timeoutMs: 300_000, outputBytesMax: 16 << 20 }

/** Creates a client without installed packages. */
export async function newRClient(t: Pick<Test, 'teardown'>): Promise<RClient> {
  const folder = await temporaryFolder(t)
  const library = join(folder, 'library')
  const home = join(folder, 'home')
  for (const path of [library, home]) await mkdir(path)
  const environment = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: home,
    LC_ALL: 'C.UTF-8',
    R_LIBS: library,
    R_LIBS_USER: library,
    TMPDIR: home,
  }
  const run = async (program: string, args: readonly string[]): Promise<REnd> => {
    const ended = await runToEnd(program, args, { cwd: folder, environment, ...BOUNDS })
    const { exitCode, output, errorText } = ended
    return { exitCode, output: output.toString().trim(), errorText }
  }
  return {
    folder,
    run: (program) => run('Rscript', ['--no-environ', '-e', `options(warn = 2); ${program}`]),
    version: async () =>
      /^R version (\d+\.\d+)/.exec((await run('R', ['--version'])).output)?.[1] ?? '',
    command: (...args) => run('R', ['CMD', ...args]),
  }
}

/** Builds a source package of these files with `R CMD build`; returns its bytes. */
export async function buildRPackage(
  { folder, command }: RClient,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<Buffer> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name, path)), { recursive: true })
    await writeFile(join(folder, name, path), text)
  }
  const { exitCode, output, errorText } = await command('build', name)
  const [, fileName] = /building ‘(.*)’/.exec(output) ?? []
  if (exitCode !== 0 || fileName === undefined) throw new Error(`${output} ${errorText}`)
  return await readFile(join(folder, fileName))
}
