/** Clones with the git commands of CI systems; each runs twice, the second time from the cache. */

import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Test, t } from 'tap'
import { type Gatehouse, startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { countPackCache } from '../helpers/pack-cache-counts.js'
import { makeRepository } from '../helpers/repositories.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

interface Scene {
  readonly gatehouse: Gatehouse
  readonly remote: string
  readonly tip: string
  readonly folder: string
}

async function setScene(t: Test): Promise<Scene> {
  const gatehouse = await startGatehouse(t, { workers: 1 })
  const ada = await gatehouse.addUser('ada')
  const part = ada.remote(`${await makeRepository(ada, 'part')}.git`)
  const remote = ada.remote(`${await makeRepository(ada, 'library')}.git`)
  const copy = await newWorkingCopy(t)
  await copy.commit('one')
  await copy.git('push', '--quiet', part, 'HEAD:refs/heads/main')
  await copy.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', part, 'part')
  await copy.git('commit', '--quiet', '-m', 'A part')
  await mkdir(join(copy.path, 'docs'))
  for (const name of ['two', 'docs/three', 'four']) await copy.commit(name)
  await copy.git('tag', '-a', '-m', 'First', 'v1', 'HEAD~2')
  await copy.git('push', '--quiet', remote, 'HEAD:refs/heads/main', 'HEAD~3:refs/heads/old', 'v1')
  const tip = await copy.git('rev-parse', 'HEAD')
  return { gatehouse, remote, tip, folder: await temporaryFolder(t) }
}

type Words = readonly string[]

/** Git commands of each CI system, with `SHA` and `URL` as placeholders. */
const CLIENTS: Readonly<Record<string, readonly Words[]>> = {
  'actions/checkout': [
    ['fetch', '--no-tags', '--prune', '--no-recurse-submodules', '--depth=1', 'origin'].concat(
      '+SHA:refs/remotes/origin/main',
    ),
    ['checkout', '--force', '-B', 'main', 'refs/remotes/origin/main'],
  ],
  'actions/checkout with fetch-depth: 0': [
    ['fetch', '--prune', '--no-recurse-submodules', 'origin'].concat(
      '+refs/heads/*:refs/remotes/origin/*',
      '+refs/tags/*:refs/tags/*',
    ),
    ['checkout', '--force', '-B', 'main', 'refs/remotes/origin/main'],
  ],
  'actions/checkout with filter and sparse-checkout': [
    ['fetch', '--no-tags', '--prune', '--filter=blob:none', '--depth=1', 'origin'].concat(
      '+SHA:refs/remotes/origin/main',
    ),
    ['sparse-checkout', 'set', 'docs'],
    ['checkout', '--force', '-B', 'main', 'refs/remotes/origin/main'],
  ],
  'GitLab runner': [
    [
      'fetch',
      'origin',
      '+SHA:refs/pipelines/1',
      '+refs/heads/main:refs/remotes/origin/main',
    ].concat('--depth', '20', '--prune', '--quiet'),
    ['checkout', '-f', '-q', 'SHA'],
  ],
  Jenkins: [
    [
      'fetch',
      '--tags',
      '--force',
      '--progress',
      '--',
      'URL',
      '+refs/heads/*:refs/remotes/origin/*',
    ],
    ['checkout', '-f', 'SHA'],
  ],
  'Jenkins, shallow': [
    ['fetch', '--no-tags', '--force', '--depth=1', '--', 'URL'].concat(
      '+refs/heads/main:refs/remotes/origin/main',
    ),
    ['checkout', '-f', 'SHA'],
  ],
  Woodpecker: [
    ['fetch', '--no-tags', '--depth=1', '--filter=tree:0', 'origin', '+SHA:'],
    ['reset', '--hard', '-q', 'SHA'],
  ],
  'a clone of one branch': [
    ['fetch', '--depth=2', 'origin', '+refs/heads/old:refs/remotes/origin/old'],
    ['fetch', '--unshallow', 'origin', '+refs/heads/main:refs/remotes/origin/main'],
    ['checkout', '-f', 'SHA'],
  ],
}

const { gatehouse, remote, tip, folder } = await setScene(t)

/** Creates a repository without objects, whose copies are the first state of all clones. */
async function createEmptyClone(): Promise<string> {
  const cwd = join(folder, 'empty')
  await mkdir(cwd)
  await git(['init', '--quiet', '--template='], { cwd })
  await git(['remote', 'add', 'origin', remote], { cwd })
  return cwd
}

t.test('the git commands of each CI system succeed with cold and warm cache', async (t) => {
  const empty = await createEmptyClone()
  for (const [name, commands] of Object.entries(CLIENTS)) {
    for (const state of ['cold', 'warm']) {
      const before = await countPackCache(gatehouse)
      const cwd = join(folder, `${name} ${state}`.replace('/', ' '))
      await cp(empty, cwd, { recursive: true })
      for (const words of commands) {
        const filled = words.map((word) => word.replace('SHA', tip).replace('URL', remote))
        await git(filled, { cwd })
      }
      const status = (await git(['status', '--porcelain=v2', '--branch'], { cwd })).split('\n')
      t.equal(status[0], `# branch.oid ${tip}`, `${name}, ${state}`)
      const changes = status.filter((line) => !line.startsWith('# '))
      t.strictSame(changes, [], 'the working tree is complete')
      const after = await countPackCache(gatehouse)
      // A fetch of a commit by its id lists no refs, so the pack is its only hit.
      if (state === 'warm') t.ok(after.hit > before.hit, `${name}: answered from the cache`)
    }
  }
})

t.test('a shallow clone with submodules is complete', async (t) => {
  for (const name of ['first', 'second']) {
    const words = ['--depth=1', '--recurse-submodules', '--shallow-submodules']
    await git(['clone', '--quiet', ...words, remote, name], { cwd: folder })
    t.equal(await git(['rev-parse', 'HEAD'], { cwd: join(folder, name) }), tip)
    t.match(await git(['ls-files'], { cwd: join(folder, name, 'part') }), 'one')
  }
})
