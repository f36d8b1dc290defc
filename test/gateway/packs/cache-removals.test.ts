/** A cache of another machine loses the answers of repositories that are pruned elsewhere. */

import { existsSync } from 'node:fs'
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t from 'tap'
import { answersPrefix } from '../../../gateway/packs/answer-names.js'
import { CacheRemovals, noteRemoval } from '../../../gateway/packs/cache-removals.js'
import { answerPath } from '../../../gateway/packs/pack-store.js'
import { packFolder } from '../../../gateway/packs/warm.js'
import { temporaryFolder } from '../../helpers/temporary.js'

t.test('answers are removed once for each prune, under any path of the data folder', async (t) => {
  const [dataDir, cacheDir] = [await temporaryFolder(t), await temporaryFolder(t)]
  const keep = async (repository: string) => {
    const path = answerPath(packFolder(cacheDir), `${answersPrefix(repository)}a`)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, 'an answer')
    return path
  }
  const removals = new CacheRemovals(dataDir, cacheDir)
  await removals.follow()
  const other = await keep('/data/repositories/aa/other.git')
  const pruned = await keep('/data/repositories/bb/pruned.git')
  await noteRemoval(dataDir, '/mnt/repositories/bb/pruned.git')
  await removals.follow()
  t.strictSame([existsSync(other), existsSync(pruned)], [true, false])
  await keep('/data/repositories/bb/pruned.git')
  await removals.follow()
  t.ok(existsSync(pruned), 'an answer that was made after the prune is kept')
  await utimes(join(dataDir, 'cache-removals/pruned.git'), 1, Date.now() / 1_000 + 1)
  await removals.follow()
  t.notOk(existsSync(pruned), 'the next prune')
})

t.test('a gateway that was started later follows the removals of a month', async (t) => {
  const [dataDir, cacheDir] = [await temporaryFolder(t), await temporaryFolder(t)]
  const days = new Map([
    ['recent.git', 29],
    ['old.git', 31],
  ])
  for (const [name, ago] of days) {
    await noteRemoval(dataDir, name)
    const past = Date.now() / 1_000 - ago * 86_400
    await utimes(join(dataDir, 'cache-removals', name), past, past)
  }
  await new CacheRemovals(dataDir, cacheDir).follow()
  t.strictSame(await readdir(join(dataDir, 'cache-removals')), ['recent.git'])
})
