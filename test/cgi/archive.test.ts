/** Archives and diffs come whole or break off, and end with their reader. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { streamArchive, streamBlob, streamCommit } from '../../cgi/archive.js'
import { findGit } from '../../cgi/git.js'
import { runToEnd } from '../../cgi/run.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { incompressible, newWorkingCopy } from '../helpers/working-copy.js'

const ours = await findGit()

async function collect(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const bounds = () => ({
  ...{ signal: new AbortController().signal, timeoutMs: 30_000, bytesMax: 1 << 24 },
})

t.test('an archive is what the real tar reads', async (t) => {
  const copy = await newWorkingCopy(t)
  const commitId = await copy.commit('a', 'the text\n')
  const wish = { commitId, folder: 'r', ...bounds() }
  const { body, ended } = streamArchive(ours, copy.path, { ...wish, format: 'tar.gz' })
  const file = join(await temporaryFolder(t), 'x.tar.gz')
  await writeFile(file, await collect(body))
  const { output } = await runToEnd('tar', ['-xzOf', file, 'r/a'], {
    ...{ environment: { PATH: '/usr/bin:/bin' }, timeoutMs: 30_000, outputBytesMax: 4_096 },
  })
  t.equal(output.toString(), 'the text\n')
  await ended
  const zip = await collect(streamArchive(ours, copy.path, { ...wish, format: 'zip' }).body)
  t.equal(zip.toString('latin1', 0, 2), 'PK')
})

t.test('a commit is told as a diff and as a mail, the first one too', async (t) => {
  const copy = await newWorkingCopy(t)
  const first = await copy.commit('a', 'the text\n')
  const text = async (commitId: string, format: 'diff' | 'patch') =>
    (
      await collect(streamCommit(ours, copy.path, { commitId, format, ...bounds() }).body)
    ).toString()
  t.match(await text(first, 'diff'), /^diff --git a\/a b\/a\nnew file mode[\s\S]*\+the text\n$/)
  t.match(await text(first, 'patch'), /^From [0-9a-f]{40} [\s\S]*Subject: \[PATCH\] Write a\n/)
  await copy.git('checkout', '--quiet', '-b', 'side')
  await copy.commit('b')
  await copy.git('checkout', '--quiet', 'main')
  await copy.git('merge', '--quiet', '--no-ff', '--no-edit', 'side')
  const merge = await copy.git('rev-parse', 'HEAD')
  t.match(await text(merge, 'diff'), /^diff --git a\/b b\/b\n/)
})

t.test('too much is broken off, and an abort ends git', async (t) => {
  const copy = await newWorkingCopy(t)
  const commitId = await copy.commit('a', incompressible(1 << 20))
  const blobId = await copy.git('rev-parse', 'HEAD:a')
  const whole = streamBlob(ours, copy.path, { blobId, ...bounds() })
  t.equal((await collect(whole.body)).length, 1 << 20)
  const cut = streamBlob(ours, copy.path, { blobId, ...bounds(), bytesMax: 1_000 })
  await t.rejects(collect(cut.body), { message: /larger than is sent/ })
  await cut.ended
  const abort = new AbortController()
  const wish = { commitId, folder: 'r', format: 'zip' as const, ...bounds() }
  const stopped = streamArchive(ours, copy.path, { ...wish, signal: abort.signal })
  abort.abort()
  await stopped.ended
  await t.rejects(collect(stopped.body))
  t.throws(() => streamArchive(ours, copy.path, { ...wish, commitId: '--output=x' }))
  const missing = streamBlob(ours, copy.path, { blobId: '0'.repeat(40), ...bounds() })
  await t.rejects(collect(missing.body), { message: /^git failed \(128\)/ })
})
