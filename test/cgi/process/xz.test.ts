/** Data compressed with xz is decompressed by xz. */

import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { findXz } from '../../../cgi/process/xz.js'

t.test('a text survives compression, and the output is deterministic', async (t) => {
  const compress = findXz()
  if (compress === undefined) throw new Error('xz is installed for the tests')
  const text = 'again '.repeat(100_000)
  const input = await compress(Buffer.from(text))
  t.ok(input.length < 1_000)
  const options = { input, maxBuffer: 1 << 26 }
  t.equal(execFileSync('xz', ['--decompress', '--stdout'], options).toString(), text)
  t.strictSame(await compress(Buffer.from(text)), input)
})

t.test('without an xz program nothing is returned', async (t) => {
  t.equal(findXz([t.testdir()]), undefined)
})

t.test('a failure of xz is thrown with its message', async (t) => {
  const folder = t.testdir()
  writeFileSync(join(folder, 'xz'), '#!/bin/sh\necho "no memory" >&2\nexit 1\n')
  chmodSync(join(folder, 'xz'), 0o755)
  const failing = findXz([folder])
  await t.rejects(async () => failing?.(Buffer.from('x')), { message: /^xz failed: no memory/ })
})
