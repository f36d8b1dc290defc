/** The folder of a repository, from its row. */

import t from 'tap'
import { repositoryPathOf } from '../../../gateway/request/repository-path.js'

const SETTINGS = { settings: { data: { dir: '/data' } } } as Parameters<typeof repositoryPathOf>[0]

t.test('the folder of a repository follows from its storage key', async (t) => {
  const storage = '0f'.repeat(16)
  t.equal(repositoryPathOf(SETTINGS, { storage }), `/data/repositories/0f/${storage}.git`)
  t.throws(() => repositoryPathOf(SETTINGS, { storage: '../other' }), /32 hexadecimal digits/)
})
