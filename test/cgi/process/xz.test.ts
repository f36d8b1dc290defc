/** What xz makes can be unpacked by xz. */

import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findXz } from '../../../cgi/process/xz.js'

t.test('a text comes back, and is the same each time', async (t) => {
  const compress = findXz()
  if (compress === undefined) throw new Error('xz is installed for the tests')
  const text = 'again '.repeat(100_000)
  const input = await compress(Buffer.from(text))
  t.ok(input.length < 1_000)
  const options = { input, maxBuffer: 1 << 26 }
  t.equal(execFileSync('xz', ['--decompress', '--stdout'], options).toString(), text)
  t.strictSame(await compress(Buffer.from(text)), input)
})

t.test('where there is none, nothing is found', async (t) => {
  t.equal(findXz([t.testdir()]), undefined)
})

t.test('one that fails says why', async (t) => {
  const folder = t.testdir()
  writeFileSync(join(folder, 'xz'), '#!/bin/sh\necho "no memory" >&2\nexit 1\n')
  chmodSync(join(folder, 'xz'), 0o755)
  const failing = findXz([folder])
  await t.rejects(async () => failing?.(Buffer.from('x')), { message: /^xz failed: no memory/ })
})
