/** Packs of small pushes are added to a repository whole, flushed to disk, or not at all. */

import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { takeSmallPack } from '../../../cgi/transfer/small-push.js'
import { countedGit } from '../../helpers/counted-git.js'
import { git } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

/** Creates a repository with a commit, and the pack of a second one. */
async function scene(t: Test, objectFormat: 'sha1' | 'sha256' = 'sha1') {
  const folder = await temporaryFolder(t)
  const path = join(folder, 'x.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat })
  const copy = await newWorkingCopy(t, objectFormat)
  const before = await copy.commit('a.txt', 'first')
  await copy.git('push', '--quiet', path, 'main')
  const after = await copy.commit('b.txt', 'second')
  const input = await copy.git('rev-list', '--objects', '--no-object-names', after, `^${before}`)
  const args = ['pack-objects', '--quiet', join(folder, 'pack')]
  const hash = await git(args, { cwd: copy.path, input: `${input}\n` })
  const pack = await readFile(join(folder, `pack-${hash}.pack`))
  const counted = await countedGit(folder)
  const { signal } = new AbortController()
  return {
    path,
    counted,
    push: { before, after, pack, signal, timeoutMs: 60_000 },
    /** Lists the packs of the repository, and its temporary files. */
    async found() {
      const files = await readdir(join(path, 'objects'), { recursive: true })
      return files.filter((name) => name.includes('tmp') || name.endsWith('.pack'))
    },
    isThere: async (id: string) =>
      git(['cat-file', '-e', id], { cwd: path }).then(
        () => true,
        () => false,
      ),
  }
}

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`a pack of ${format} is added with its index, by one process of git`, async (t) => {
    const { path, counted, push, found, isThere } = await scene(t, format)
    const packs = (await found()).length
    t.equal(await takeSmallPack(counted, path, push), true)
    t.strictSame(await counted.started(), ['index-pack'])
    t.equal(await isThere(push.after), true)
    t.equal((await found()).length, packs + 1, 'and no quarantine is left')
    const refs = await git(['for-each-ref', '--format=%(objectname)'], { cwd: path })
    t.equal(refs, push.before, 'no ref is changed')
  })
}

t.test('a pack is not added if git must decide, or git fails', async (t) => {
  const { path, counted, push, found, isThere } = await scene(t)
  const files = await found()
  const left = async (changed: Partial<typeof push>, name: string) => {
    t.equal(await takeSmallPack(counted, path, { ...push, ...changed }), false, name)
    t.equal(await isThere(push.after), false)
    t.strictSame(await found(), files)
  }
  await left({ pack: push.pack.subarray(0, -1) }, 'a short pack')
  await left({ pack: Buffer.concat([push.pack, Buffer.of(0)]) }, 'a long pack')
  await left({ after: '1'.repeat(40) }, 'a missing commit')
  await left({ signal: AbortSignal.abort() }, 'a client that has left')
  await left({ timeoutMs: 0 }, 'a limit of time')
  await writeFile(join(path, 'config'), '[receive]\n\tmaxInputSize = 1\n', { flag: 'a' })
  await left({}, 'a setting of the repository')
})
