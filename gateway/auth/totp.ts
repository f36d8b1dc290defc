/** Time-based one-time passwords (RFC 6238, based on RFC 4226). */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const STEP_MS = 30_000
const DIGITS = 6
const SECRET_BYTES = 20
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Returns a new secret in Base32 (RFC 4648), as apps expect: 160 bits, the length of SHA-1. */
export function newSecret(): string {
  const bits = [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(2).padStart(8, '0'))
  return bits.join('').replace(/.{5}/g, (five) => BASE32.charAt(Number.parseInt(five, 2)))
}

export function stepAt(nowMs: number): number {
  return Math.floor(nowMs / STEP_MS)
}

/** Returns the code of a time step (RFC 4226 §5.3). */
export function codeOf(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0xf
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** True if the text has the form of a code. */
export function isCodeShaped(text: string): boolean {
  return /^\d{6}$/.test(text)
}

/**
 * Returns the time step of a code. Accepts the current, the previous and the next step, because
 * clocks differ; for other codes returns undefined.
 */
export function matchingStep(secret: string, code: string, nowMs: number): number | undefined {
  if (!isCodeShaped(code)) return undefined
  const now = stepAt(nowMs)
  const given = Buffer.from(code)
  return [now, now - 1, now + 1].find((step) =>
    timingSafeEqual(Buffer.from(codeOf(secret, step)), given),
  )
}

/** Returns the address that an app reads from a QR code, with the secret and a label. */
export function keyUri(secret: string, issuer: string, name: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(name)}`
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`
}

function bytesOf(secret: string): Buffer {
  const bits = [...secret].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0'))
  const bytes = bits.join('').match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}
