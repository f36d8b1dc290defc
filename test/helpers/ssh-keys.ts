/** Public SSH keys for tests: real ones of ssh-keygen, and others built from fields. */

import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseSshKey, type SshKey } from '../../conf/ssh-key.js'

/** Runs ssh-keygen and returns its output. */
export function sshKeygen(...args: readonly string[]): string {
  return execFileSync('ssh-keygen', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/**
 * Creates a key pair with ssh-keygen; returns the content of the `.pub` file. A long RSA key takes
 * seconds on a slow machine, in which a client that was blocked would not see a closed connection.
 */
export async function makeKeyPair(
  folder: string,
  name: string,
  ...args: readonly string[]
): Promise<string> {
  const file = join(folder, name)
  const comment = `${name}@example.test`
  await promisify(execFile)('ssh-keygen', ['-q', '-N', '', '-f', file, '-C', comment, ...args])
  return await readFile(`${file}.pub`, 'utf8')
}

/** Encodes the fields of a key, each prefixed with its length (RFC 4251 §5). */
export function blobOf(...fields: ReadonlyArray<string | Uint8Array>): Buffer {
  const parts = fields.flatMap((field) => {
    const bytes = Buffer.from(field)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    return [length, bytes]
  })
  return Buffer.concat(parts)
}

/** Returns the line of a key with this type and these further fields. */
export function lineOf(type: string, ...fields: ReadonlyArray<string | Uint8Array>): string {
  return `${type} ${blobOf(type, ...fields).toString('base64')}`
}

/** Returns the line of a random ed25519 key without a private half. */
export function aKeyLine(comment = ''): string {
  return `${lineOf('ssh-ed25519', randomBytes(32))} ${comment}`.trim()
}

/** Returns a parsed random ed25519 key without a private half. */
export function aKey(comment = ''): SshKey {
  return parseSshKey(aKeyLine(comment))
}
