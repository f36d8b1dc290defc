/** Paths of repositories are derived from valid storage keys only. */

import t from 'tap'
import { newStorageKey, repositoryPath } from '../../../cgi/repository/paths.js'

t.test('a new key is unique and gives a path below repositories', async (t) => {
  const key = newStorageKey()
  t.match(key, /^[0-9a-f]{32}$/)
  t.not(newStorageKey(), key)
  t.equal(repositoryPath('/data', key), `/data/repositories/${key.slice(0, 2)}/${key}.git`)
  t.equal(
    repositoryPath('/data', `${key}.wiki`),
    `/data/repositories/${key.slice(0, 2)}/${key}.wiki.git`,
  )
})

t.test('a text that is not a storage key is refused', async (t) => {
  const key = 'a'.repeat(32)
  for (const wrong of [
    '',
    '..',
    `../${key}`,
    `${key}/`,
    `${key}\n`,
    key.toUpperCase(),
    `${key}a`,
    `${key}.wiki.wiki`,
    `${key}.git`,
  ]) {
    t.throws(() => repositoryPath('/data', wrong), /32 hexadecimal digits/, JSON.stringify(wrong))
  }
})
