/** Codes that an app computes from a secret and the time (RFC 6238, on RFC 4226). */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const STEP_MS = 30_000
const DIGITS = 6
const SECRET_BYTES = 20
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** A new secret in Base32 (RFC 4648), as apps take it: 160 bits, as many as SHA-1 has. */
export function newSecret(): string {
  const bits = [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(2).padStart(8, '0'))
  return bits.join('').replace(/.{5}/g, (five) => BASE32.charAt(Number.parseInt(five, 2)))
}

/** The time step of that moment. */
export function stepAt(nowMs: number): number {
  return Math.floor(nowMs / STEP_MS)
}

/** The code of a time step. */
export function codeOf(secret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const offset = (mac.at(-1) ?? 0) & 0xf
  const number = mac.readUInt32BE(offset) & 0x7fffffff
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0')
}

/** Whether the text can be a code at all. */
export function isCodeShaped(text: string): boolean {
  return /^\d{6}$/.test(text)
}

/** Which step a code is of: this one, or one beside it, as clocks differ; else undefined. */
export function matchingStep(secret: string, code: string, nowMs: number): number | undefined {
  if (!isCodeShaped(code)) return undefined
  const now = stepAt(nowMs)
  const given = Buffer.from(code)
  return [now, now - 1, now + 1].find((step) =>
    timingSafeEqual(Buffer.from(codeOf(secret, step)), given),
  )
}

/** What an app reads from a QR code: the secret, and what to call it. */
export function keyUri(secret: string, issuer: string, name: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(name)}`
  return `otpauth://totp/${label}?secret=${secret}&issuer=${encodeURIComponent(issuer)}`
}

function bytesOf(secret: string): Buffer {
  const bits = [...secret].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, '0'))
  const bytes = bits.join('').match(/.{8}/g) ?? []
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)))
}
