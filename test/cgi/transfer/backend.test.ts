/** The real git client clones from and pushes to git-http-backend as Gatehouse runs it. */

import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { hasRunningMember, listProcesses } from '../../../cgi/process/process-table.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { type BackendCall, callBackend } from '../../../cgi/transfer/backend.js'
import { type BackendServer, serveBackend } from '../../helpers/backend-server.js'
import { git, tryGit } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { isFullSize } from '../../helpers/test-size.js'

const ours = await findGit()

/** Memory that git may take, in KiB, whatever a push unpacks to. */
const MEMORY_KIB_MAX = 64 << 10
/** Sizes beyond that memory: of a blob, and of an unpacked request body. */
const BLOB_BYTES = isFullSize ? 150 << 20 : 80 << 20
const BODY_BYTES = isFullSize ? 300 << 20 : 100 << 20

/** Upper bound for one second, with a margin for a busy machine. */
const BUSY_SECOND_MS = 2_000

interface Fixture {
  readonly folder: string
  readonly bare: string
  readonly url: string
  readonly work: string
  readonly server: BackendServer
}

/** Serves an empty repository `x.git` and creates a working copy with one commit on main. */
async function fixture(
  t: Test,
  change?: (call: BackendCall) => Partial<BackendCall>,
): Promise<Fixture> {
  const folder = await temporaryFolder(t)
  const bare = join(folder, 'x.git')
  await initRepository(ours, bare, { defaultBranch: 'main', objectFormat: 'sha1' })
  const server = await serveBackend(ours, change === undefined ? { folder } : { folder, change })
  t.teardown(() => server.close())
  const work = join(folder, 'work')
  await mkdir(work)
  await git(['init', '-q', '-b', 'main'], { cwd: work })
  await writeFile(join(work, 'a.txt'), 'a\n')
  await git(['add', '.'], { cwd: work })
  await git(['commit', '-qm', 'first'], { cwd: work })
  const url = `${server.url}/x.git`
  await git(['remote', 'add', 'origin', url], { cwd: work })
  return { folder, bare, url, work, server }
}

t.test('an empty repository is cloned with its default branch', async (t) => {
  const { folder, url } = await fixture(t)
  const { errorText } = await tryGit(['clone', url, 'copy'], { cwd: folder })
  t.match(errorText, /empty repository/)
  t.equal(await git(['symbolic-ref', 'HEAD'], { cwd: join(folder, 'copy') }), 'refs/heads/main')
})

t.test('a pushed commit is cloned with every protocol version', async (t) => {
  const { folder, url, work } = await fixture(t)
  await git(['push', '-q', 'origin', 'main'], { cwd: work })
  const pushed = await git(['rev-parse', 'HEAD'], { cwd: work })
  for (const version of ['0', '1', '2']) {
    const copy = `copy${version}`
    await git(['-c', `protocol.version=${version}`, 'clone', '-q', url, copy], { cwd: folder })
    t.equal(await git(['rev-parse', 'HEAD'], { cwd: join(folder, copy) }), pushed)
  }
})

t.test('shallow and partial clones are served if their form is permitted', async (t) => {
  const { folder, url, work } = await fixture(t)
  await writeFile(join(work, 'b.txt'), 'b\n')
  await git(['add', '.'], { cwd: work })
  await git(['commit', '-qm', 'second'], { cwd: work })
  await git(['push', '-q', 'origin', 'main'], { cwd: work })
  await git(['clone', '-q', '--depth=1', url, 'shallow'], { cwd: folder })
  t.equal(await git(['rev-list', '--count', 'HEAD'], { cwd: join(folder, 'shallow') }), '1')
  const filters = ['blob:none', 'blob:limit=1k', 'tree:0', 'combine:blob:none+tree:3']
  for (const filter of filters) {
    const copy = filter.replaceAll(/\W/g, '-')
    await git(['clone', '-q', '--no-checkout', `--filter=${filter}`, url, copy], { cwd: folder })
    const missing = ['rev-list', '--objects', '--all', '--missing=print']
    const listed = await git(missing, { cwd: join(folder, copy) })
    t.equal(/^\?/m.test(listed), filter !== 'blob:limit=1k', filter)
  }
  for (const filter of ['sparse:oid=main:a.txt', 'tree:17']) {
    const refused = await tryGit(['clone', '-q', '--bare', `--filter=${filter}`, url, 'no'], {
      cwd: folder,
    })
    t.not(refused.exitCode, 0, filter)
    t.match(refused.errorText, /filter '.*' not supported|allows max depth 16/, filter)
  }
})

t.test('a push larger than http.postBuffer is chunked and arrives complete', async (t) => {
  const { bare, work, server } = await fixture(t)
  await writeFile(join(work, 'big'), randomBytes(1_300_000))
  await git(['add', '.'], { cwd: work })
  await git(['commit', '-qm', 'big'], { cwd: work })
  await git(['push', '-q', 'origin', 'main'], { cwd: work })
  const pushes = server.calls.filter((call) => call.suffix === 'git-receive-pack')
  t.ok(pushes.some((call) => call.contentLength === undefined))
  await git(['fsck', '--full', '--strict'], { cwd: bare })
  t.equal(
    await git(['rev-parse', 'main'], { cwd: bare }),
    await git(['rev-parse', 'HEAD'], { cwd: work }),
  )
  const packs = await readdir(join(bare, 'objects', 'pack'))
  t.equal(packs.filter((name) => name.endsWith('.pack')).length, 1, 'the push is one pack')
})

t.test('a fetch with hundreds of wants is compressed by the client and answered', async (t) => {
  const { folder, bare, url, work, server } = await fixture(t)
  await git(['push', '-q', 'origin', 'main'], { cwd: work })
  const tip = await git(['rev-parse', 'HEAD'], { cwd: work })
  const stream = Array.from({ length: 500 }, (_, index) => [
    `commit refs/heads/b${index}`,
    `committer Ada <ada@example.com> ${index} +0000`,
    'data 1\nx',
    `from ${tip}`,
  ])
  await git(['fast-import', '--quiet'], { cwd: bare, input: `${stream.flat().join('\n')}\n` })
  await git(['clone', '-q', '--bare', url, 'copy'], { cwd: folder })
  t.ok(server.calls.some((call) => call.gzip))
  const references = await git(['for-each-ref'], { cwd: join(folder, 'copy') })
  t.equal(references.split('\n').length, 501)
})

t.test('tags, deletions and forced pushes have their effect', async (t) => {
  const { bare, work } = await fixture(t)
  await git(['tag', '-m', 'one', 'v1'], { cwd: work })
  await git(['push', '-q', 'origin', 'main', 'main:side', 'v1'], { cwd: work })
  await git(['commit', '-q', '--amend', '-m', 'other'], { cwd: work })
  const plain = await tryGit(['push', 'origin', 'main:side'], { cwd: work })
  t.match(plain.errorText, /rejected/)
  await git(['push', '-q', '--force', 'origin', 'main:side'], { cwd: work })
  t.equal(
    await git(['rev-parse', 'side'], { cwd: bare }),
    await git(['rev-parse', 'HEAD'], { cwd: work }),
  )
  await git(['push', '-q', 'origin', ':side', ':v1'], { cwd: work })
  t.equal(await git(['for-each-ref', '--format=%(refname)'], { cwd: bare }), 'refs/heads/main')
  const current = await tryGit(['push', 'origin', ':main'], { cwd: work })
  t.match(current.errorText, /deletion of the current branch prohibited/)
})

t.test(
  'heads of pull requests are readable, and refs outside branches and tags are not writable',
  async (t) => {
    const { folder, bare, url, work } = await fixture(t)
    await git(['push', '-q', 'origin', 'main'], { cwd: work })
    await git(['update-ref', 'refs/pull/1/head', 'main'], { cwd: bare })
    await git(['update-ref', 'refs/internal/x', 'main'], { cwd: bare })
    const seen = await git(['ls-remote', url], { cwd: folder })
    t.match(seen, /refs\/pull\/1\/head$/m)
    t.notMatch(seen, /refs\/internal/)
    await git(['commit', '-q', '--amend', '-m', 'other'], { cwd: work })
    const attempts = [
      ['main:refs/pull/2/head', /deny updating a hidden ref/],
      ['+main:refs/pull/1/head', /deny updating a hidden ref/],
      [':refs/pull/1/head', /deny deleting a hidden ref|deny updating a hidden ref/],
      ['main:refs/stash', /deny updating a hidden ref/],
      ['main:refs/headsx/x', /deny updating a hidden ref/],
      ['main:refs/gatehouse/x', /deny updating a hidden ref/],
    ] as const
    const before = await git(['for-each-ref'], { cwd: bare })
    for (const [refspec, refusal] of attempts) {
      const { exitCode, errorText } = await tryGit(['push', 'origin', refspec], { cwd: work })
      t.not(exitCode, 0, refspec)
      t.match(errorText, refusal, refspec)
    }
    t.equal(await git(['for-each-ref'], { cwd: bare }), before)
  },
)

t.test('a pack with names that a client would take for .git is refused (F12)', async (t) => {
  const { bare, work } = await fixture(t)
  const blob = await git(['hash-object', '-w', 'a.txt'], { cwd: work })
  for (const name of ['.git', '.GIT', '.g\u200cit', 'git~1', '..']) {
    const inner = await git(['mktree'], { cwd: work, input: `100644 blob ${blob}\tconfig\n` })
    const tree = await git(['mktree', '-z'], {
      cwd: work,
      input: `040000 tree ${inner}\t${name}\0`,
    })
    const commit = await git(['commit-tree', '-m', 'x', tree], { cwd: work })
    const { errorText } = await tryGit(['push', 'origin', `${commit}:refs/heads/x`], { cwd: work })
    t.match(errorText, /fsck error|unpacker error|index-pack abnormal exit/, name)
  }
  t.equal(await git(['for-each-ref'], { cwd: bare }), '')
})

t.test(
  'a pack of a few kilobytes that unpacks to more than 64 megabytes uses little memory (F8)',
  async (t) => {
    const watches: PeakWatch[] = []
    const { work } = await fixture(t, () => ({
      onStarted: async (groupId) => {
        watches.push(await watchPeak(groupId))
      },
    }))
    await writeFile(join(work, 'zeros'), Buffer.alloc(BLOB_BYTES))
    await git(['add', 'zeros'], { cwd: work })
    await git(['commit', '-qm', 'zeros'], { cwd: work })
    await git(['push', '-q', 'origin', 'main'], { cwd: work })
    const peakKib = await largestPeakKib(watches)
    t.ok(peakKib > 0 && peakKib < MEMORY_KIB_MAX, `${peakKib} KiB`)
  },
)

t.test('hooks in a repository are not run', async (t) => {
  const { folder, bare, work } = await fixture(t)
  await mkdir(join(bare, 'hooks'))
  for (const name of ['pre-receive', 'post-receive', 'update', 'reference-transaction']) {
    const script = `#!/bin/sh\ntouch ${folder}/ran\nexit 1\n`
    await writeFile(join(bare, 'hooks', name), script, { mode: 0o755 })
  }
  await git(['push', '-q', 'origin', 'main'], { cwd: work })
  t.notOk((await readdir(folder)).includes('ran'))
})

t.test('a push without an account, and a request for a file, are refused (F14)', async (t) => {
  const { bare, work } = await fixture(t, () => ({ remoteUser: undefined }))
  const push = await tryGit(['push', 'origin', 'main'], { cwd: work })
  t.match(push.errorText, /403/)
  const file = await callBackend(ours, {
    ...aCall(bare),
    suffix: 'objects/info/packs' as BackendCall['suffix'],
  })
  t.equal(file.status, 403)
  t.equal(await readAll(file.body), '')
})

t.test('git refuses a missing repository and another content type', async (t) => {
  const { bare } = await fixture(t)
  const missing = await callBackend(ours, { ...aCall(bare), repositoryPath: `${bare}x` })
  t.equal(missing.status, 404)
  await readAll(missing.body)
  const form = 'application/x-www-form-urlencoded'
  const typed = await callBackend(ours, { ...aPush(bare, none()), contentType: form })
  t.equal(typed.status, 415)
  await readAll(typed.body)
})

t.test('a push of the usual form is answered without git-http-backend', async (t) => {
  const { folder, bare, work } = await fixture(t)
  await git(['push', '-q', 'origin', 'main'], { cwd: work })
  const id = await git(['rev-parse', 'main'], { cwd: bare })
  const line = `${id} ${'0'.repeat(40)} refs/heads/none\0 report-status side-band-64k`
  const request = Buffer.from(`${(line.length + 4).toString(16).padStart(4, '0')}${line}0000`)
  const answerOf = async (call: BackendCall, started = ours) => {
    const { status, headers, body, ended } = await callBackend(started, call)
    const text = await readAll(body)
    return { status, headers, text, exitCode: (await ended).exitCode }
  }
  const backend = join(folder, 'missing')
  const direct = await answerOf(aPush(bare, only(request)), { ...ours, backend })
  t.match(direct.text, /unpack ok/)
  const packed = { ...aPush(bare, only(gzipSync(request))), gzip: true }
  t.strictSame(direct, await answerOf(packed), 'a compressed push is answered by the backend')
  const without = { ...ours, file: join(folder, 'missing'), prlimit: undefined }
  await t.rejects(answerOf(aPush(bare, only(request)), without), /receive-pack failed: .*ENOENT/)
  await git(['config', 'http.receivepack', 'false'], { cwd: bare })
  t.equal((await answerOf(aPush(bare, only(request)))).status, 403, 'a refusal by its settings')
})

t.test('receive.maxInputSize limits the size of a push', async (t) => {
  const { bare, work } = await fixture(t, () => ({ config: [['receive.maxInputSize', '65536']] }))
  await git(['push', '-q', 'origin', 'main'], { cwd: work })
  await writeFile(join(work, 'big'), randomBytes(300_000))
  await git(['add', '.'], { cwd: work })
  await git(['commit', '-qm', 'big'], { cwd: work })
  const { errorText } = await tryGit(['push', 'origin', 'main'], { cwd: work })
  t.match(errorText, /pack exceeds maximum allowed size/)
  t.equal(await git(['rev-list', '--count', 'main'], { cwd: bare }), '1')
})

t.test('a gzip bomb as body causes neither high memory use nor a large answer', async (t) => {
  const { bare } = await fixture(t)
  const bomb = gzipSync(Buffer.alloc(BODY_BYTES, '0'))
  const watches: PeakWatch[] = []
  const answer = await callBackend(ours, {
    ...aPush(bare, only(bomb)),
    gzip: true,
    onStarted: async (groupId) => {
      watches.push(await watchPeak(groupId))
    },
  })
  t.ok((await readAll(answer.body)).length < 10_000)
  await answer.ended
  const peakKib = await largestPeakKib(watches)
  t.ok(peakKib > 0 && peakKib < MEMORY_KIB_MAX, `${peakKib} KiB`)
})

t.test("a process that fails before its answer is an error with git's message", async (t) => {
  const { folder, bare } = await fixture(t)
  const backend = join(folder, 'backend')
  await writeFile(backend, '#!/bin/sh\necho "out of order" >&2\nexit 3\n', { mode: 0o755 })
  await t.rejects(callBackend({ ...ours, backend }, aCall(bare)), /failed: out of order/)
  await t.rejects(callBackend({ ...ours, backend: `${backend}x` }, aCall(bare)), /No such file/)
})

t.test('an aborted body ends the push, and its error is thrown', async (t) => {
  const { bare, work } = await fixture(t)
  let groupId = 0
  const push = async () => {
    const onStarted = async (pid: number) => {
      groupId = pid
    }
    // Git may already have sent its headers.
    const { body } = await callBackend(ours, { ...aPush(bare, breaking()), onStarted })
    await readAll(body)
  }
  await t.rejects(push(), /cable cut/)
  t.equal(await hasRunningMember(groupId), false)
  await git(['push', '-q', 'origin', 'main'], { cwd: work })
})

t.test('a reader that stops, or an abort, ends the whole group within a second', async (t) => {
  const { bare } = await fixture(t)
  for (const how of ['leave', 'abort'] as const) {
    let groupId = 0
    const aborted = new AbortController()
    const stalled = new AbortController()
    t.teardown(() => stalled.abort())
    const answer = await callBackend(ours, {
      ...aPush(bare, stalling(stalled.signal)),
      signal: aborted.signal,
      onStarted: async (pid) => {
        groupId = pid
      },
    })
    const chunks = answer.body[Symbol.asyncIterator]()
    const leftAt = performance.now()
    if (how === 'leave') await chunks.return?.()
    else aborted.abort()
    const end = await answer.ended
    t.ok(performance.now() - leftAt < BUSY_SECOND_MS, how)
    t.equal(end.signal, 'SIGTERM')
    t.equal(await hasRunningMember(groupId), false)
  }
})

function aCall(repositoryPath: string): BackendCall {
  return {
    repositoryPath,
    method: 'GET',
    suffix: 'info/refs',
    service: 'git-upload-pack',
    gzip: false,
    remoteUser: 'ada',
    remoteAddress: '127.0.0.1',
    config: [],
    body: none(),
    signal: new AbortController().signal,
    timeoutMs: 60_000,
  }
}

function aPush(repositoryPath: string, body: AsyncIterable<Uint8Array>): BackendCall {
  return {
    ...aCall(repositoryPath),
    method: 'POST',
    suffix: 'git-receive-pack',
    service: 'git-receive-pack',
    contentType: 'application/x-git-receive-pack-request',
    body,
  }
}

async function* none(): AsyncGenerator<Uint8Array> {}

async function* only(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk
}

/** First bytes of a push's body: a pkt-line length. */
const BEGINNING = Buffer.from('00940000')

async function* breaking(): AsyncGenerator<Uint8Array> {
  yield BEGINNING
  throw new Error('cable cut')
}

async function* stalling(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  yield BEGINNING
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

async function readAll(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString('latin1')
}

interface PeakWatch {
  /** Largest resident size of a process of the group, once the group has ended. */
  readonly peakKib: Promise<number>
}

/** Watches a group. Resolves after the first look, for which git waits before it gets the body. */
async function watchPeak(groupId: number): Promise<PeakWatch> {
  const first = await largestSizeKib(groupId)
  const watch = async () => {
    let peakKib = 0
    for (let sizeKib = first; sizeKib !== undefined; sizeKib = await largestSizeKib(groupId)) {
      peakKib = Math.max(peakKib, sizeKib)
      await delay(25)
    }
    return peakKib
  }
  return { peakKib: watch() }
}

async function largestPeakKib(watches: readonly PeakWatch[]): Promise<number> {
  return Math.max(...(await Promise.all(watches.map(({ peakKib }) => peakKib))))
}

/** Returns the largest size that a process of the group has had; undefined if it has none. */
async function largestSizeKib(groupId: number): Promise<number | undefined> {
  const members = (await listProcesses()).filter((row) => row.groupId === groupId)
  if (members.length === 0) return undefined
  const sizes = members.map(async ({ pid }) => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0)
  })
  return Math.max(...(await Promise.all(sizes)))
}
