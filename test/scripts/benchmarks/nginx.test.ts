/** The nginx peers serve static files and git repositories. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startGitPeer } from '../../../scripts/benchmarks/git-peer.js'
import { fillRepository } from '../../../scripts/benchmarks/repositories.js'
import { startStaticPeer } from '../../../scripts/benchmarks/static-peer.js'
import { git } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'

async function aStage(t: Test) {
  return { folder: await temporaryFolder(t), signal: new AbortController().signal }
}

t.test('the static peer serves a file unchanged', async (t) => {
  const peer = await startStaticPeer(await aStage(t))
  t.teardown(() => peer.stop())
  const bytes = Buffer.from([0, 1, 0xff, 0x0a, 0x50, 0x41, 0x43, 0x4b])
  await writeFile(join(peer.files, 'small-full'), bytes)
  const answer = await fetch(`${peer.url}/small-full`, { headers: { 'Accept-Encoding': 'gzip' } })
  t.equal(answer.status, 200)
  t.strictSame(Buffer.from(await answer.arrayBuffer()), bytes)
})

t.test('a repository of the git peer can be cloned, shallow and full', async (t) => {
  const stage = await aStage(t)
  const peer = await startGitPeer(stage)
  t.teardown(() => peer.stop())
  const path = join(stage.folder, 'text.git')
  await git(['init', '--quiet', '--bare', '--initial-branch=main', path], { cwd: stage.folder })
  const shape = { files: 3, fileBytes: 500, commits: 4, filesChanged: 1 }
  await fillRepository(path, shape, stage.signal)
  await peer.addRepository('text', path)
  const clones = [
    { args: ['--depth=1'], commits: '1' },
    { args: ['--filter=blob:none'], commits: '5' },
    { args: [], commits: '5' },
  ]
  for (const [index, { args, commits }] of clones.entries()) {
    const clone = join(stage.folder, String(index))
    const words = ['clone', '--quiet', '--no-checkout', ...args, `${peer.url}/text.git`, clone]
    await git(words, { cwd: stage.folder })
    t.equal(await git(['rev-list', '--count', 'HEAD'], { cwd: clone }), commits, args.join())
  }
})
