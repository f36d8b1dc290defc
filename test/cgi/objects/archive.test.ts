/** Archives and diffs are streamed completely or fail, and git ends when the reader stops. */

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import {
  streamArchive,
  streamBlob,
  streamCommit,
  streamPlainArchive,
} from '../../../cgi/objects/archive.js'
import { findGit } from '../../../cgi/process/git.js'
import { runToEnd } from '../../../cgi/process/run.js'
import { openZip } from '../../../registry/archive/zip.js'
import { sourceOf } from '../../helpers/byte-sources.js'
import { commitTreeBomb } from '../../helpers/git-bombs.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { incompressible, newWorkingCopy } from '../../helpers/working-copy.js'
import { zipContents } from '../../helpers/zips.js'

const ours = await findGit()
const TOO_LARGE = { name: 'Error', failure: 'payload_too_large' }

async function collect(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const bounds = () => ({
  signal: new AbortController().signal,
  timeoutMs: 30_000,
  bytesMax: 1 << 24,
})

t.test('tar can read an archive', async (t) => {
  const copy = await newWorkingCopy(t)
  const commitId = await copy.commit('a', 'the text\n')
  const input = { commitId, folder: 'r', ...bounds() }
  const { body, ended } = await streamArchive(ours, copy.path, { ...input, format: 'tar.gz' })
  const file = join(await temporaryFolder(t), 'x.tar.gz')
  await writeFile(file, await collect(body))
  const { output } = await runToEnd('tar', ['-xzOf', file, 'r/a'], {
    environment: { PATH: '/usr/bin:/bin' },
    timeoutMs: 30_000,
    outputBytesMax: 4_096,
  })
  t.equal(output.toString(), 'the text\n')
  await ended
  const zip = await collect(
    (await streamArchive(ours, copy.path, { ...input, format: 'zip' })).body,
  )
  t.equal(zip.toString('latin1', 0, 2), 'PK')
})

t.test('a commit is rendered as a diff and as a mail, also the first commit', async (t) => {
  const copy = await newWorkingCopy(t)
  const first = await copy.commit('a', 'the text\n')
  const text = async (commitId: string, format: 'diff' | 'patch') =>
    (
      await collect((await streamCommit(ours, copy.path, { commitId, format, ...bounds() })).body)
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

t.test('output beyond the limit is an error, and an abort ends git', async (t) => {
  const copy = await newWorkingCopy(t)
  const commitId = await copy.commit('a', incompressible(1 << 20))
  const blobId = await copy.git('rev-parse', 'HEAD:a')
  const whole = await streamBlob(ours, copy.path, { blobId, ...bounds() })
  t.equal((await collect(whole.body)).length, 1 << 20)
  const cut = await streamBlob(ours, copy.path, { blobId, ...bounds(), bytesMax: 1_000 })
  await t.rejects(collect(cut.body), { message: /wrote more than/ })
  await cut.ended
  const abort = new AbortController()
  const input = { commitId, folder: 'r', format: 'zip' as const, ...bounds() }
  const stopped = await streamArchive(ours, copy.path, { ...input, signal: abort.signal })
  abort.abort()
  await stopped.ended
  await t.rejects(collect(stopped.body))
  await t.rejects(streamArchive(ours, copy.path, { ...input, commitId: '--output=x' }))
  const missing = await streamBlob(ours, copy.path, { blobId: '0'.repeat(40), ...bounds() })
  await t.rejects(collect(missing.body), { message: /^git cat-file failed \(128\)/ })
})

t.test(
  'export-subst placeholders are not expanded, whatever attributes the commit sets',
  async (t) => {
    const copy = await newWorkingCopy(t)
    await copy.commit('ignored', 'not in the archive\n')
    const macro = '[attr]bomb export-subst\n* bomb\na export-subst\nignored export-ignore\n'
    await copy.commit('.gitattributes', macro)
    const commitId = await copy.commit('a', '$Format:%H$ $Format:%>(16384)%n$\n')
    const bare = join(copy.path, '.git')
    await mkdir(join(bare, 'info'), { recursive: true })
    await writeFile(join(bare, 'info', 'attributes'), 'a -text\n* export-subst')
    for (const _ of [1, 2]) {
      const input = { commitId, folder: 'r', format: 'tar.gz' as const, ...bounds() }
      const file = join(await temporaryFolder(t), 'x.tar.gz')
      await writeFile(file, await collect((await streamArchive(ours, bare, input)).body))
      const run = async (...args: string[]) => {
        const { output } = await runToEnd('/bin/sh', ['-c', 'zcat "$0" | "$@"', file, ...args], {
          environment: { PATH: '/usr/bin:/bin' },
          timeoutMs: 30_000,
          outputBytesMax: 4_096,
        })
        return output.toString()
      }
      t.equal(await run('tar', '-xOf', '-', 'r/a'), '$Format:%H$ $Format:%>(16384)%n$\n')
      t.equal(await run('tar', '-tf', '-'), 'r/\nr/.gitattributes\nr/a\n')
      t.equal(await run('git', 'get-tar-commit-id'), `${commitId}\n`)
    }
    const attributes = await readFile(join(bare, 'info', 'attributes'), 'utf8')
    t.equal(attributes, 'a -text\n* export-subst\n* -export-subst\n')
  },
)

t.test('refs/replace does not change an archive, as it does not change a clone', async (t) => {
  const copy = await newWorkingCopy(t)
  const commitId = await copy.commit('a', 'real\n')
  await copy.git('replace', 'HEAD:a', await copy.git('hash-object', '-w', '.git/HEAD'))
  const input = { commitId, folder: 'r', format: 'tar.gz' as const, ...bounds() }
  const archive = await collect((await streamArchive(ours, copy.path, input)).body)
  t.match(gunzipSync(archive).toString('latin1'), 'real\n')
})

t.test('a request that exceeded a limit is not started again', async (t) => {
  const copy = await newWorkingCopy(t)
  await copy.git('config', 'core.bigFileThreshold', '1g')
  const commitId = await copy.commit('a', incompressible(20 << 20))
  const small = { ...ours, memoryBytesMax: 12 << 20 }
  const input = { commitId, folder: 'r', format: 'zip' as const, ...bounds() }
  const bare = join(copy.path, '.git')
  const { body } = await streamArchive(small, bare, input)
  await t.rejects(collect(body), TOO_LARGE)
  await t.rejects(streamArchive(small, bare, input), TOO_LARGE)
  await t.rejects(streamArchive(ours, bare, input), TOO_LARGE, 'the refusal is remembered')
})

t.test('an archive of a tree with ten billion paths is refused', async (t) => {
  const copy = await newWorkingCopy(t)
  const commitId = await commitTreeBomb(copy, { width: 10, depth: 10, content: 'x' })
  const input = { commitId, folder: 'r', format: 'zip' as const, ...bounds() }
  await t.rejects(streamArchive(ours, copy.path, input), TOO_LARGE)
})

t.test(
  'a plain archive ignores export attributes, converts line breaks, and leaves nothing',
  async (t) => {
    const copy = await newWorkingCopy(t)
    await mkdir(join(copy.path, 'd'))
    await copy.commit('.gitattributes', 'd/a export-ignore\nd/b export-subst\nd/c eol=crlf\n')
    for (const name of ['a', 'b', 'c']) await copy.commit(`d/${name}`, '$Format:%H$\n')
    const commitId = await copy.git('rev-parse', 'HEAD')
    const path = join(copy.path, '.git')
    const filesOf = async (directory: string) => {
      const input = { commitId, directory, ...bounds() }
      const { body, ended } = await streamPlainArchive(ours, path, input)
      const zip = await openZip(sourceOf(await collect(body)))
      await ended
      return await zipContents(zip)
    }
    const text = '$Format:%H$\n'
    const files = { 'd/': '', 'd/a': text, 'd/b': text, 'd/c': text.replace('\n', '\r\n') }
    t.strictSame(await filesOf('d'), files)
    t.match(Object.keys(await filesOf('')), ['.gitattributes', ...Object.keys(files)])
    const missing = await streamPlainArchive(ours, path, { commitId, directory: '*', ...bounds() })
    await t.rejects(collect(missing.body), { message: /did not match any files/ })
    await missing.ended
    t.strictSame((await readdir(dirname(path))).sort(), ['.git', '.gitattributes', 'd'])
  },
)
