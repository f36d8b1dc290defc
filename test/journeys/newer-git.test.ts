/** A newer git on both sides: clones, fetches and pushes, with a cold and with a warm cache. */

import t from 'tap'
import { git, tryGit } from '../helpers/git-client.js'
import { startNewerLibrary } from '../helpers/newer-library.js'
import { countPackCache, untilAllCached } from '../helpers/pack-cache-counts.js'
import { isFullSize } from '../helpers/test-size.js'

t.test('clones of every form succeed, and the second one is answered from the cache', async (t) => {
  const library = await startNewerLibrary(t)
  const { address, plainClone, origin, url, push, environment, settings } = library
  const forms: Readonly<Record<string, readonly string[]>> = {
    'version 0': ['--config=protocol.version=0'],
    'version 2': [],
    shallow: ['--depth=1'],
    'shallow since a tag': ['--shallow-exclude=tag-1', '--no-tags'],
    'one branch': ['--single-branch', '--branch=branch-1'],
    'without blobs': ['--filter=blob:none'],
    'without trees': ['--filter=tree:0', '--depth=1'],
    mirror: ['--mirror'],
  }
  for (const [name, options] of Object.entries(forms)) {
    for (const state of ['cold', 'warm']) {
      const before = await countPackCache({ url })
      const { exitCode, errorText, path } = await plainClone(address, ...options)
      t.equal(exitCode, 0, `${name}, ${state}: ${exitCode === 0 ? '' : errorText}`)
      // Each clone has verified that no object is missing.
      if (state === 'warm' || isFullSize) {
        const fsck = ['fsck', '--full', '--no-dangling', '--no-progress']
        t.equal(await git(fsck, { cwd: path, environment }), '')
      }
      await untilAllCached(settings.data.dir)
      const after = await countPackCache({ url })
      if (state === 'cold' || name === 'version 0') continue
      const known = after.hit + after.join - before.hit - before.join
      t.ok(known >= 2, 'the refs and the pack come from the cache')
      t.equal(after.miss, before.miss)
      // A partial clone fetches the objects of its checkout by id, which bypasses the cache.
      if (!name.startsWith('without'))
        t.equal(after.bypass, before.bypass, 'no request bypasses the cache')
    }
  }
  const { path } = await plainClone(address)
  const tip = await origin.commit('later')
  await push('main', 'main:refs/heads/another')
  await git(['fetch', '--quiet'], { cwd: path, environment })
  t.equal(await git(['rev-parse', 'origin/another'], { cwd: path }), tip)
  const refusal = await tryGit(['push', address, 'HEAD:refs/heads/mine'], {
    cwd: path,
    environment,
  })
  t.not(refusal.exitCode, 0, 'an anonymous push is refused')
})
