/**
 * Requests of a real clone are recorded unchanged and get the same answer when they are sent again.
 */

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { recordClone } from '../../../scripts/benchmarks/recorder.js'
import { saveAnswer } from '../../../scripts/benchmarks/replay.js'
import { fillRepository } from '../../../scripts/benchmarks/repositories.js'
import { serveBackend } from '../../helpers/backend-server.js'
import { git } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const { signal } = new AbortController()

async function aServedRepository(t: Test) {
  const folder = await temporaryFolder(t)
  const path = join(folder, 'text.git')
  await git(['init', '--quiet', '--bare', '--initial-branch=main', path], { cwd: folder })
  const shape = { files: 3, fileBytes: 500, commits: 2, filesChanged: 1 }
  await fillRepository(path, shape, signal)
  const server = await serveBackend(await findGit(), { folder })
  t.teardown(() => server.close())
  return { folder, tip: await git(['rev-parse', 'main'], { cwd: path }), server }
}

/** Returns the data of side band 1 in an answer of protocol v2. */
function packOf(answer: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < answer.length; ) {
    const length = Math.max(4, Number.parseInt(answer.toString('latin1', at, at + 4), 16))
    if (answer[at + 4] === 1) parts.push(answer.subarray(at + 5, at + length))
    at += length
  }
  return Buffer.concat(parts)
}

t.test('the three requests of a clone are recorded, with its options in the last', async (t) => {
  const { folder, tip, server } = await aServedRepository(t)
  const url = `${server.url}/text.git`
  const { references, listing, fetch } = await recordClone(url, {
    args: ['--depth=1'],
    folder,
    signal,
  })
  t.equal(references.suffix, 'info/refs?service=git-upload-pack')
  t.equal(references.body, undefined)
  t.ok(references.headers.includes('Git-Protocol: version=2'))
  t.notOk(references.headers.some((line) => /^(?:host|connection|content-length):/i.test(line)))
  t.equal(listing.suffix, 'git-upload-pack')
  t.match(listing.body?.toString(), /^0014command=ls-refs\n/)
  t.ok(fetch.headers.includes('Content-Type: application/x-git-upload-pack-request'))
  t.match(fetch.body?.toString(), /^0011command=fetch/)
  t.match(fetch.body?.toString(), `want ${tip}\n`)
  t.match(fetch.body?.toString(), 'deepen 1')
  t.equal(server.calls.length, 2, 'the pack was not requested')
})

t.test('a recorded fetch sent again returns a pack with the commit', async (t) => {
  const { folder, tip, server } = await aServedRepository(t)
  const url = `${server.url}/text.git`
  const { fetch } = await recordClone(url, { args: [], folder, signal })
  const bodyFile = join(folder, 'body')
  await writeFile(bodyFile, fetch.body ?? '')
  const file = join(folder, 'answer')
  const { headers, suffix } = fetch
  const sizeBytes = await saveAnswer(
    { url: `${url}/${suffix}`, headers, bodyFile },
    { file, signal },
  )
  t.ok(sizeBytes > 500)
  await git(['init', '--quiet', '--bare', 'other.git'], { cwd: folder })
  const other = join(folder, 'other.git')
  await git(['unpack-objects', '-q'], { cwd: other, input: packOf(await readFile(file)) })
  t.equal(await git(['rev-list', '--count', tip], { cwd: other }), '3')
})

t.test("a server without git is an error with git's message", async (t) => {
  const folder = await temporaryFolder(t)
  const server = await serveBackend(await findGit(), { folder })
  t.teardown(() => server.close())
  await t.rejects(recordClone(`${server.url}/absent.git`, { args: [], folder, signal }), {
    message: 'git sent 1 requests, not 3',
    cause: { message: /^git clone: / },
  })
})
