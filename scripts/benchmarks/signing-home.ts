/** A throwaway key for the peers that sign with GnuPG, apart from the keys of this machine. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type CpuGroup, runInGroup, USER_PATH } from './server.js'

const USER = 'bench@example.org'
const STOPS_WITHIN_MS = 30_000

export interface SigningHome {
  /** What names the key. */
  readonly key: string
  /** For the programs that sign; their home is the new folder as well. */
  readonly environment: Readonly<Record<string, string>>
  stop(): Promise<void>
}

/** Makes it in a new folder, of the kind that Gatehouse signs with. Its agent is in the group. */
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
  const kind = ['ed25519', 'sign', '0']
  await run(signal, 'gpg', '--batch', ...protection, '--quick-generate-key', USER, ...kind)
  return {
    key: USER,
    environment,
    // It would outlive the benchmark, also one that was interrupted, and hold the group.
    stop: () => run(AbortSignal.timeout(STOPS_WITHIN_MS), 'gpgconf', '--kill', 'gpg-agent'),
  }
}
