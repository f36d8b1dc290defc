/** Histories are paged, counted and filtered by a literal path. */

import { join } from 'node:path'
import t from 'tap'
import type { Repository } from '../../../cgi/objects/commit-changes.js'
import { lastCommitOf, pageOfHistory } from '../../../cgi/objects/history.js'
import { withObjects } from '../../../cgi/objects/with-objects.js'
import { findGit } from '../../../cgi/process/git.js'
import {
  commitTimeS,
  newWorkingCopy,
  type WorkingCopy,
  writeHistory,
} from '../../helpers/working-copy.js'

const ours = await findGit()

function inside<T>(
  { path: folder }: WorkingCopy,
  use: (repository: Repository) => Promise<T>,
): Promise<T> {
  const path = join(folder, '.git')
  return withObjects(ours, path, (objects) => use({ git: ours, path, objects }))
}

t.test('a history is limited by page, time, path and excluded commits', async (t) => {
  const copy = await newWorkingCopy(t)
  await writeHistory(copy, { commits: 5 })
  const all = (await copy.git('rev-list', 'main')).split('\n')
  const [from = '', , not = ''] = all
  const page = async (input: object) => {
    const part = { from, offset: 0, limit: 10, ...input }
    return await inside(copy, async (repository) => {
      const { ids, total } = await pageOfHistory(repository, part)
      return { ids, total: await total() }
    })
  }
  const list = async (input: object) => (await page(input)).ids
  const count = async (input: object) => (await page(input)).total
  t.strictSame(await list({}), all)
  t.equal(await count({}), 5)
  t.strictSame(await list({ offset: 1, limit: 2 }), all.slice(1, 3))
  t.strictSame(await page({ offset: 4 }), { ids: all.slice(4), total: 5 })
  t.strictSame(await page({ offset: 9 }), { ids: [], total: 5 })
  t.strictSame(await list({ not }), all.slice(0, 2))
  t.equal(await count({ not }), 2)
  t.strictSame(await list({ file: 'file-2' }), all.slice(3, 4))
  t.strictSame(await list({ sinceMs: commitTimeS(4) * 1_000 }), all.slice(0, 2))
  t.strictSame(await list({ untilMs: commitTimeS(2) * 1_000 }), all.slice(3))
  for (const file of ['file-*', ':(glob)*', ':/', '--all', 'absent', '-- main']) {
    t.strictSame(await list({ file }), [], file)
  }
  await copy.commit('file-2', 'again')
  const young = await copy.commit('file-2', 'and again')
  t.strictSame(await page({ from: young, file: 'file-2', offset: 2, limit: 1 }), {
    ids: all.slice(3, 4),
    total: 3,
  })
  for (const input of [{}, { file: 'file-2' }, { not }, { sinceMs: commitTimeS(4) * 1_000 }]) {
    const { ids } = await page({ from: young, ...input })
    const cut = await page({ from: young, ...input, limit: 1 })
    t.strictSame(cut, { ids: ids.slice(0, 1), total: ids.length }, 'the total is cached')
    t.strictSame(await page({ from: young, ...input, limit: 1 }), cut)
  }
  for (const [file, id] of [
    ['file-3', all[2]],
    ['absent', undefined],
  ] as const) {
    const found = await inside(copy, (repository) => lastCommitOf(repository, { from, file }))
    t.equal(found, id, file)
  }
  for (const odd of ['main', '--output=x', `${from}~1`]) {
    await t.rejects(async () => list({ from: odd }), { message: /full id/ }, odd)
    await t.rejects(async () => list({ not: odd }), { message: /full id/ }, odd)
  }
})
