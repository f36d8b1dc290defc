/** Cached answers of one repository are deleted and those of others kept. */

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import t from 'tap'
import { answersPrefix } from '../../../gateway/packs/answer-names.js'
import { answerPath } from '../../../gateway/packs/pack-store.js'
import { removeAnswers } from '../../../gateway/packs/remove-answers.js'
import { packFolder } from '../../../gateway/packs/warm.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('answers are deleted by the folder name of their repository', async (t) => {
  const cacheDir = await temporaryFolder(t)
  await removeAnswers(cacheDir, '/data/one.git')
  const keep = async (repositoryPath: string, name: string) => {
    const path = answerPath(packFolder(cacheDir), answersPrefix(repositoryPath) + name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, name)
  }
  for (const name of ['a', 'b']) await keep('/data/one.git', name)
  await keep('/data/other.git', 'c')
  const prefix = answersPrefix('/data/one.git')
  const neighbour = `${prefix.slice(0, 2)}${'0'.repeat(prefix.length - 2)}c`
  await writeFile(answerPath(packFolder(cacheDir), neighbour), '')
  await removeAnswers(cacheDir, '/elsewhere/one.git')
  const left = await readdir(packFolder(cacheDir), { recursive: true })
  const other = `${answersPrefix('/data/other.git')}c`
  t.strictSame(
    left.filter((name) => /[abc]$/.test(name) && name.includes('/')).toSorted(),
    [neighbour, other].map((key) => `${key.slice(0, 2)}/${key}`).toSorted(),
  )
})
