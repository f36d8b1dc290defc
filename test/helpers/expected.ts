/** Expected replies in test/expected, which UPDATE_EXPECTED=1 rewrites. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

const FOLDER = new URL('../../../test/expected/', import.meta.url)

/** Compares a reply with the file of that name, without ids, tokens and times. */
export function isExpected(t: Test, answer: unknown, name: string): void {
  const file = fileURLToPath(new URL(`${name}.json`, FOLDER))
  const redacted = JSON.parse(JSON.stringify(answer, redact))
  if (process.env['UPDATE_EXPECTED'] === '1') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${JSON.stringify(redacted, null, 2)}\n`)
  }
  const wanted = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
  t.strictSame(redacted, wanted, `equals test/expected/${name}.json`)
}

/** Compares a text with the file of that name, byte for byte. */
export function isExpectedText(t: Test, text: string, name: string): void {
  const file = fileURLToPath(new URL(name, FOLDER))
  if (process.env['UPDATE_EXPECTED'] === '1') {
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
  t.equal(
    text,
    existsSync(file) ? readFileSync(file, 'utf8') : undefined,
    `equals test/expected/${name}`,
  )
}

const TIME = /^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

function redact(key: string, value: unknown): unknown {
  if (key === 'id') return Number.isInteger(value) ? 'ID' : value
  if (key === 'sha1' && value !== '') return 'TOKEN'
  if (key === 'token_last_eight') return 'LAST8'
  return typeof value === 'string' && TIME.test(value) ? 'TIME' : value
}
