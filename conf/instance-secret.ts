/** Secret key of an instance, which encrypts values that a copy of the database must not reveal. */

import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { syncPath, unlessMissing } from './lib/disk.js'

export interface InstanceSecret {
  /** Identifies the secret in hexadecimal digits, and does not reveal it. */
  readonly fingerprint: string
  /** Encrypts a text with a random nonce. `words` name the purpose and derive the key. */
  seal(text: string, words: string): string
  /** Decrypts a text. Throws an Error if it is damaged, or was sealed with another key or words. */
  unseal(sealed: string, words: string): string
  /** Returns the HMAC-SHA-256 of a text, with a key that `words` derive. */
  sign(text: string, words: string): Buffer
}

const FILE = 'secret.key'
const SECRET_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const FORM = 'v1:'

/** Reads the secret of a data folder, or creates it if there is none. */
export async function openInstanceSecret(dataDir: string): Promise<InstanceSecret> {
  const found = await findInstanceSecret(dataDir)
  if (found !== undefined) return found
  const path = secretPath(dataDir)
  return parseSecret(path, await makeSecret(dataDir, path))
}

/** Reads the secret of a data folder. Returns undefined if there is none. */
export async function findInstanceSecret(dataDir: string): Promise<InstanceSecret | undefined> {
  const path = secretPath(dataDir)
  const text = await unlessMissing(readFile(path, 'utf8'))
  return text === undefined ? undefined : parseSecret(path, text)
}

/** Returns the path of the secret in a data folder. */
export function secretPath(dataDir: string): string {
  return join(dataDir, FILE)
}

function parseSecret(path: string, text: string): InstanceSecret {
  const secret = Buffer.from(text.trim(), 'base64')
  if (secret.length !== SECRET_BYTES) {
    throw new Error(`${path} does not hold a secret in base64: restore the file from a backup`)
  }
  const keyOf = (words: string) => Buffer.from(hkdfSync('sha256', secret, '', words, 32))
  return {
    fingerprint: keyOf('fingerprint').toString('hex'),
    seal(text, words) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', keyOf(words), nonce)
      const sealed = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
      return FORM + Buffer.concat(sealed).toString('base64')
    },
    unseal(sealed, words) {
      const bytes = Buffer.from(sealed.slice(FORM.length), 'base64')
      if (!sealed.startsWith(FORM) || bytes.length < NONCE_BYTES + TAG_BYTES) {
        throw new Error('the sealed text is damaged')
      }
      const decipher = createDecipheriv(
        'aes-256-gcm',
        keyOf(words),
        bytes.subarray(0, NONCE_BYTES),
      ).setAuthTag(bytes.subarray(-TAG_BYTES))
      const text = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]
      return Buffer.concat(text).toString('utf8')
    },
    sign: (text, words) => createHmac('sha256', keyOf(words)).update(text).digest(),
  }
}

/** Creates the secret. If several processes do so concurrently, all use the first one linked. */
async function makeSecret(dataDir: string, path: string): Promise<string> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const part = `${path}.${randomBytes(6).toString('hex')}`
  const file = await open(part, 'wx', 0o600)
  try {
    await file.writeFile(`${randomBytes(SECRET_BYTES).toString('base64')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await link(part, path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  await unlink(part)
  await syncPath(dataDir)
  return await readFile(path, 'utf8')
}
