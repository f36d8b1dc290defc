/** GnuPG with a home folder of its own, to make keys and signatures. */

import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

export interface GpgHome {
  /** The folder, for the variable GNUPGHOME. */
  readonly folder: string
  /** Runs gpg with an input; returns its output. */
  gpg(args: readonly string[], input?: string): string
  /** Makes a key of that user id; returns its armored public key. */
  makeKey(userId: string, algorithm?: string): string
}

/** Creates the home folder. Its agent is ended with the test. */
export async function openGpgHome(t: Test): Promise<GpgHome> {
  // In a short path, because the agent listens on a socket in it.
  const folder = await mkdtemp(join(tmpdir(), 'gpg-'))
  const env = { ...process.env, GNUPGHOME: folder }
  const gpg: GpgHome['gpg'] = (args, input = '') =>
    execFileSync('gpg', ['--batch', '--quiet', '--no-tty', ...args], {
      env,
      input,
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  t.teardown(async () => {
    execFileSync('gpgconf', ['--kill', 'gpg-agent'], { env })
    await rm(folder, { recursive: true, force: true })
  })
  return {
    folder,
    gpg,
    makeKey(userId, algorithm = 'ed25519') {
      gpg(['--passphrase', '', '--quick-gen-key', userId, algorithm, 'sign', 'never'])
      return gpg(['--armor', '--export', userId])
    },
  }
}
