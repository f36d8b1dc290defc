/** The last commit that changed each entry of a folder, also across merges. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { lastCommits } from '../../../cgi/objects/last-commits.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import { newWorkingCopy, writeHistory } from '../../helpers/working-copy.js'

const ours = await findGit()

t.test('entries of the root folder and of a subfolder have their last commits', async (t) => {
  const copy = await newWorkingCopy(t)
  await mkdir(join(copy.path, 'd/e'), { recursive: true })
  const first = await copy.commit('a')
  const second = await copy.commit('d/e/f')
  const third = await copy.commit('d/g')
  await copy.git('checkout', '--quiet', '-b', 'side', first)
  const side = await copy.commit('s')
  await copy.git('checkout', '--quiet', 'main')
  await copy.git('merge', '--quiet', '--no-edit', 'side')
  const from = await copy.git('rev-parse', 'HEAD')
  const ask = async (folder: string, ...names: string[]) =>
    withObjects(ours, join(copy.path, '.git'), async (objects) => {
      const input = {
        from,
        folder: folder.split('/').filter(Boolean),
        names: new Set(names),
        isWhole: false,
      }
      const repository = { git: ours, path: join(copy.path, '.git'), objects }
      return Object.fromEntries(await lastCommits(repository, input))
    })
  t.strictSame(await ask('', 'a', 'd', 's', 'absent'), { a: first, d: third, s: side })
  t.strictSame(await ask('d', 'e', 'g'), { e: second, g: third })
  t.strictSame(await ask('d/e', 'f'), { f: second })
  t.strictSame(await ask('*', 'e'), {})
})

for (const hasGraph of [false, true]) {
  const words = hasGraph ? 'with' : 'without'
  t.test(`an entry whose last commit is too far back is left out, ${words} a graph`, async (t) => {
    const copy = await newWorkingCopy(t)
    await writeHistory(copy, { commits: 310 })
    if (hasGraph) await copy.git('commit-graph', 'write', '--reachable', '--changed-paths')
    const from = await copy.git('rev-parse', 'main')
    const names = new Set(['file-1', 'file-10', 'file-11', 'file-310'])
    const path = join(copy.path, '.git')
    const found = await withObjects(ours, path, (objects) =>
      lastCommits({ git: ours, path, objects }, { from, folder: [], names, isWhole: false }),
    )
    t.strictSame([...found.keys()].sort(), ['file-11', 'file-310'])
  })
}
