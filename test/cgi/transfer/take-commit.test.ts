/** A commit is copied to another repository completely or not at all. */

import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { listJournalEntries, openJournal } from '../../../cgi/maintenance/journal.js'
import { findGit } from '../../../cgi/process/git.js'
import { copyCommit, type TakenCommit } from '../../../cgi/transfer/take-commit.js'
import { git, tryGit } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { incompressible, newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

/**
 * Creates two bare repositories with one common commit, and three more commits in the first one.
 */
async function startPair(t: Test, objectFormat: 'sha1' | 'sha256' = 'sha1') {
  const dataDir = await temporaryFolder(t)
  const [source, path] = [join(dataDir, 'source.git'), join(dataDir, 'base.git')]
  const copy = await newWorkingCopy(t, objectFormat)
  await copy.commit('root')
  const bare = ['init', '--quiet', '--bare', `--object-format=${objectFormat}`]
  for (const folder of [source, path]) {
    await git([...bare, folder], { cwd: dataDir })
    await copy.git('push', '--quiet', folder, 'HEAD:refs/heads/main')
  }
  const first = await copy.commit('first')
  const second = await copy.commit('large', incompressible(300_000))
  await copy.git('push', '--quiet', source, 'HEAD:refs/heads/topic')
  const other = await copy.commit('other')
  await copy.git('push', '--quiet', source, 'HEAD:refs/heads/other')
  const journal = await openJournal(dataDir)
  const take = (commit: string, changes: Partial<TakenCommit> = {}) =>
    copyCommit(ours, path, {
      source,
      commit,
      journal,
      packBytesMax: 10_000_000,
      timeoutMs: 60_000,
      ...changes,
    })
  const has = async (id: string) =>
    (await tryGit(['cat-file', '-e', id], { cwd: path })).exitCode === 0
  const objects = async () => (await readdir(join(path, 'objects'))).sort()
  return { dataDir, source, path, first, second, other, take, has, objects }
}

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`${format}: a commit is copied with its history and nothing else`, async (t) => {
    const { dataDir, source, path, first, second, other, take, has } = await startPair(t, format)
    const references = () => git(['for-each-ref'], { cwd: path })
    const before = await references()
    await Promise.all([take(second), take(second)])
    await take(second)
    t.strictSame([await has(first), await has(second), await has(other)], [true, true, false])
    t.equal(await references(), before, 'no reference has moved')
    await rm(source, { recursive: true })
    await git(['update-ref', 'refs/pull/1/head', second], { cwd: path })
    await git(['fsck', '--strict'], { cwd: path })
    t.equal((await listJournalEntries(dataDir)).size, 0)
  })
}

t.test('a commit that cannot be copied leaves nothing', async (t) => {
  const { dataDir, source, second, take, has, objects } = await startPair(t)
  const before = await objects()
  const tooLarge = { name: 'Error', failure: 'payload_too_large' }
  await t.rejects(take(second, { packBytesMax: 100_000 }), tooLarge)
  await t.rejects(take(second, { timeoutMs: 1 }), { name: 'Error', failure: 'unavailable' })
  await t.rejects(take(second, { signal: AbortSignal.abort() }), { name: 'AbortError' })
  await t.rejects(take('0'.repeat(40)), /git fetch failed/)
  await t.rejects(take('--upload-pack=id'), /full id/)
  await t.rejects(take(second, { source: join(source, 'absent') }), /git fetch failed/)
  t.equal(await has(second), false)
  t.strictSame(await objects(), before)
  t.equal((await listJournalEntries(dataDir)).size, 0)
})
