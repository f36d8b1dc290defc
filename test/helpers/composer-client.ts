/** The real Composer, in a project and home folder that use only one registry. */

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from '../../cgi/process/run.js'
import { temporaryFolder } from './temporary.js'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface ComposerOptions {
  /** URL of an owner's packages. */
  readonly registry: string
  /** Credentials for the host in auth.json. */
  readonly credentials?: { readonly username: string; readonly password: string }
  /** Minimum stability of packages; `stable` by default. */
  readonly minimumStability?: string
}

export interface ComposerEnd {
  readonly exitCode: number | undefined
  /** Standard output followed by standard error. */
  readonly output: string
}

export interface ComposerProject {
  readonly folder: string
  /** Runs `composer …` in the project. */
  run(...args: readonly string[]): Promise<ComposerEnd>
  /** Returns the versions in the lock file, by package. */
  locked(): Promise<Readonly<Record<string, string>>>
}

const TIMEOUT_MS = 120_000

/** Creates a project without requirements. */
export async function newComposerProject(
  t: Teardown,
  { registry, credentials, minimumStability = 'stable' }: ComposerOptions,
): Promise<ComposerProject> {
  const folder = await temporaryFolder(t)
  const home = join(folder, 'home')
  const project = join(folder, 'project')
  for (const path of [home, project]) await mkdir(path)
  const basic = credentials && { 'http-basic': { [new URL(registry).host]: credentials } }
  await writeFile(join(home, 'auth.json'), JSON.stringify(basic ?? {}))
  const composerJson = {
    name: 'test/app',
    require: {},
    'minimum-stability': minimumStability,
    repositories: [{ type: 'composer', url: registry }, { 'packagist.org': false }],
    config: { 'secure-http': false },
  }
  await writeFile(join(project, 'composer.json'), JSON.stringify(composerJson))
  const environment = {
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: home,
    COMPOSER_HOME: home,
    COMPOSER_CACHE_DIR: join(home, 'cache'),
    COMPOSER_ALLOW_SUPERUSER: '1',
    COMPOSER_NO_INTERACTION: '1',
    // Composer runs several programs to find these.
    COMPOSER_ROOT_VERSION: '1.0.0',
    COLUMNS: '80',
    LINES: '25',
  }

  return {
    folder: project,
    async run(...args) {
      const { exitCode, output, errorText } = await runToEnd('composer', ['--no-ansi', ...args], {
        cwd: project,
        environment,
        timeoutMs: TIMEOUT_MS,
        outputBytesMax: 1 << 20,
      })
      return { exitCode, output: `${output}${errorText}` }
    },
    async locked() {
      const lock = JSON.parse(await readFile(join(project, 'composer.lock'), 'utf8'))
      const packages: ReadonlyArray<{ name: string; version: string }> = lock.packages
      return Object.fromEntries(packages.map(({ name, version }) => [name, version]))
    },
  }
}
