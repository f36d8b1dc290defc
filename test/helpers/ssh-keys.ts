/** Public SSH keys for tests: real ones of ssh-keygen, and others put together byte by byte. */

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSshKey, type SshKey } from '../../conf/ssh-key.js'

/** Runs ssh-keygen and returns what it printed. */
export function sshKeygen(...args: readonly string[]): string {
  return execFileSync('ssh-keygen', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Makes a key pair as a person would and returns the text of the file that ends in `.pub`. */
export function makeKeyPair(folder: string, name: string, ...args: readonly string[]): string {
  const file = join(folder, name)
  sshKeygen('-q', '-N', '', '-f', file, '-C', `${name}@example.test`, ...args)
  return readFileSync(`${file}.pub`, 'utf8')
}

/** Texts and numbers of a key as it is sent: each with its length before it. */
export function blobOf(...fields: ReadonlyArray<string | Uint8Array>): Buffer {
  const parts = fields.flatMap((field) => {
    const bytes = Buffer.from(field)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    return [length, bytes]
  })
  return Buffer.concat(parts)
}

/** The line of a key of these fields, the first of which is its type. */
export function lineOf(type: string, ...fields: ReadonlyArray<string | Uint8Array>): string {
  return `${type} ${blobOf(type, ...fields).toString('base64')}`
}

/** The line of an ed25519 key that is nobody's: its private half was never made. */
export function aKeyLine(comment = ''): string {
  return `${lineOf('ssh-ed25519', randomBytes(32))} ${comment}`.trim()
}

/** The same, parsed. */
export function aKey(comment = ''): SshKey {
  return parseSshKey(aKeyLine(comment))
}
