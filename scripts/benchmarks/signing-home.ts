/** Temporary GnuPG home with a signing key for the peers. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CpuGroup, runInGroup, USER_PATH } from './server.js'

const USER = 'bench@example.org'
const STOPS_WITHIN_MS = 30_000

export interface SigningHome {
  /** User id of the key. */
  readonly key: string
  /** Environment of the programs that sign; HOME is the new folder too. */
  readonly environment: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** Creates a key of the type that Gatehouse uses. The gpg-agent runs in the CPU group. */
export async function makeSigningHome(
  cpu: CpuGroup,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Promise<SigningHome> {
  const home = join(folder, 'gnupg')
  await mkdir(home, { mode: 0o700 })
  await writeFile(join(home, 'gpg.conf'), 'batch\nno-tty\n')
  const environment = { PATH: USER_PATH, HOME: folder, GNUPGHOME: home, LC_ALL: 'C' }
  const logFile = join(folder, 'gnupg.log')
  const run = (until: AbortSignal, ...program: [string, ...string[]]) =>
    runInGroup(cpu, { program, environment, signal: until, logFile })
  const protection = ['--passphrase', '', '--pinentry-mode', 'loopback']
  const kind = ['rsa4096', 'sign', '0']
  await run(signal, 'gpg', '--batch', ...protection, '--quick-generate-key', USER, ...kind)
  return {
    key: USER,
    environment,
    // The agent would outlive the benchmark, even an interrupted one, and keep the group in use.
    stop: () => run(AbortSignal.timeout(STOPS_WITHIN_MS), 'gpgconf', '--kill', 'gpg-agent'),
  }
}
