/** Programs that mirror a Debian repository: aptly with its built-in verifier, and reprepro. */

import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runToEnd } from '../../cgi/process/run.js'
import { temporaryFolder } from './temporary.js'

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface DebianSource {
  /** URL of the repository. */
  readonly url: string
  readonly distribution: string
  readonly component: string
  /** Keys of the repository in binary form. */
  readonly key: Uint8Array
}

export interface MirrorEnd {
  readonly exitCode: number | undefined
  /** Standard output followed by standard error. */
  readonly output: string
}

const TIMEOUT_MS = 120_000

async function run(home: string, program: string, ...args: readonly string[]): Promise<MirrorEnd> {
  const { exitCode, output, errorText } = await runToEnd(program, args, {
    cwd: home,
    environment: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', HOME: home, LC_ALL: 'C' },
    timeoutMs: TIMEOUT_MS,
    outputBytesMax: 1 << 20,
  })
  return { exitCode, output: `${output}${errorText}` }
}

/** Mirrors the amd64 packages with aptly and its built-in verifier. Lists them at the end. */
export async function mirrorWithAptly(t: Teardown, source: DebianSource): Promise<MirrorEnd> {
  const home = await temporaryFolder(t)
  await mkdir(join(home, '.gnupg'), { mode: 0o700 })
  await writeFile(join(home, '.gnupg/trustedkeys.gpg'), source.key)
  const configuration = { rootDir: home, architectures: ['amd64'], gpgProvider: 'internal' }
  await writeFile(join(home, 'aptly.conf'), JSON.stringify(configuration))
  const aptly = (...args: readonly string[]) =>
    run(home, 'aptly', `-config=${join(home, 'aptly.conf')}`, ...args)
  const { url, distribution, component } = source
  const created = await aptly('mirror', 'create', 'copy', url, distribution, component)
  if (created.exitCode !== 0) return created
  const updated = await aptly('mirror', 'update', 'copy')
  if (updated.exitCode !== 0) return updated
  return await aptly('mirror', 'show', '-with-packages', 'copy')
}

/** Mirrors the amd64 packages with reprepro, which uses GnuPG. Lists them at the end. */
export async function mirrorWithReprepro(t: Teardown, source: DebianSource): Promise<MirrorEnd> {
  const home = await temporaryFolder(t)
  const { url, distribution, component } = source
  const gpg = ['--homedir', join(home, '.gnupg'), '--batch', '--quiet']
  await mkdir(join(home, '.gnupg'), { mode: 0o700 })
  await mkdir(join(home, 'conf'))
  execFileSync('gpg', [...gpg, '--import'], { input: source.key })
  const shown = execFileSync('gpg', [...gpg, '--with-colons', '--list-keys'], { encoding: 'utf8' })
  const [, fingerprint = ''] = /^fpr:+([0-9A-F]{40}):/m.exec(shown) ?? []
  const place = [`Codename: ${distribution}`, 'Architectures: amd64', `Components: ${component}`]
  await writeFile(join(home, 'conf/distributions'), [...place, 'Update: copy', ''].join('\n'))
  const update = ['Name: copy', `Method: ${url}`, `Suite: ${distribution}`]
  const verified = [`Components: ${component}`, `VerifyRelease: ${fingerprint.slice(-16)}`, '']
  await writeFile(join(home, 'conf/updates'), [...update, ...verified].join('\n'))
  const updated = await run(home, 'reprepro', 'update', distribution)
  if (updated.exitCode !== 0) return updated
  return await run(home, 'reprepro', 'list', distribution)
}
