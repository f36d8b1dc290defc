/** Reading of repository files in a pool: refusals of the pool become answers of the API. */

import t from 'tap'
import { TaskRefused } from '../../../gateway/pool/pool.js'
import { readFilesIn } from '../../../gateway/pool/repository-files.js'

t.test('a file that exceeds the limits is refused, and a full pool is unavailable', async (t) => {
  for (const [reason, message] of [
    ['deadline', /too much time or memory/],
    ['busy', /Too many files/],
  ] as const) {
    const { detectLicenses } = readFilesIn({ run: () => Promise.reject(new TaskRefused(reason)) })
    await t.rejects(detectLicenses('text', 1), { message }, reason)
  }
})
