/** Imports of remote repositories copy branches and tags completely or leave nothing. */

import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { listJournalEntries, openJournal } from '../../../cgi/maintenance/journal.js'
import { recover } from '../../../cgi/maintenance/recovery.js'
import { findGit } from '../../../cgi/process/git.js'
import { listProcesses } from '../../../cgi/process/process-table.js'
import { newStorageKey, repositoryPath } from '../../../cgi/repository/paths.js'
import {
  cloneRepository,
  type RemoteSource,
  updateFromRemote,
} from '../../../cgi/transfer/clone.js'
import { RemoteError } from '../../../cgi/transfer/remote.js'
import { git, tryGit } from '../../helpers/git-client.js'
import {
  aSource,
  breakOffAfter,
  referencesOf,
  serveBare,
  serveWith,
} from '../../helpers/sources.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { incompressible, newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

function sourceOf(url: string, changes: Partial<RemoteSource> = {}): RemoteSource {
  return {
    remote: { url: new URL(url), addresses: ['127.0.0.1'] },
    signal: new AbortController().signal,
    timeoutMs: 60_000,
    idleMs: 20_000,
    packBytesMax: 1_000_000_000,
    ...changes,
  }
}

interface Place {
  readonly dataDir: string
  readonly path: string
}

async function aPlace(t: Test): Promise<Place> {
  const dataDir = await temporaryFolder(t)
  return { dataDir, path: repositoryPath(dataDir, newStorageKey()) }
}

/** Returns the message of a failing clone and checks that no file is left. */
async function refusalOf(t: Test, source: RemoteSource): Promise<string> {
  const { path } = await aPlace(t)
  const error = await cloneRepository(ours, path, source).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  t.ok(error instanceof RemoteError, String(error))
  const left = existsSync(dirname(path)) ? await readdir(dirname(path)) : []
  t.strictSame(left, [], 'no file is left')
  return `${(error as RemoteError).fault}: ${(error as RemoteError).message}`
}

for (const objectFormat of ['sha1', 'sha256'] as const) {
  t.test(`${objectFormat}: all branches and tags are cloned and nothing else`, async (t) => {
    const source = await aSource(t, objectFormat)
    const { path } = await aPlace(t)
    const cloned = await cloneRepository(ours, path, sourceOf(source.url))
    t.strictSame(cloned, { objectFormat, defaultBranch: 'trunk', isEmpty: false })
    const wanted = await referencesOf(source.path)
    t.match(wanted, /refs\/pull\/1\/head/)
    const expected = wanted.split('\n').filter((line) => !line.startsWith('refs/pull/'))
    t.strictSame((await referencesOf(path)).split('\n'), expected)
    t.equal(await git(['symbolic-ref', 'HEAD'], { cwd: path }), 'refs/heads/trunk')
    const everything = ['cat-file', '--batch-check', '--batch-all-objects', '--unordered']
    const objects = async (cwd: string) => (await git(everything, { cwd })).split('\n').sort()
    const reachable = await git(['rev-list', '--objects', '--branches', '--tags'], {
      cwd: source.path,
    })
    const names = new Set(reachable.split('\n').map((line) => line.split(' ')[0]))
    const ofTags = await git(['rev-parse', 'annotated'], { cwd: source.path })
    const wantedObjects = (await objects(source.path)).filter((line) => {
      const name = line.split(' ')[0] ?? ''
      return names.has(name) || name === ofTags
    })
    t.strictSame(await objects(path), wantedObjects)
    t.equal((await tryGit(['fsck', '--full', '--strict'], { cwd: path })).exitCode, 0)
    const config = await readFile(join(path, 'config'), 'utf8')
    t.notMatch(config, /127\.0\.0\.1|remote/, "the settings do not contain the source's address")
    t.notOk(existsSync(join(path, 'FETCH_HEAD')))
  })
}

t.test('an empty repository is cloned as an empty one', async (t) => {
  const { url } = await serveBare(t)
  const { path } = await aPlace(t)
  const cloned = await cloneRepository(ours, path, sourceOf(url))
  t.strictSame(cloned, { objectFormat: 'sha1', defaultBranch: 'main', isEmpty: true })
  t.equal(await referencesOf(path), '')
})

t.test('a default branch that is missing is replaced by an existing one', async (t) => {
  const source = await aSource(t)
  const { path } = await aPlace(t)
  await git(['symbolic-ref', 'HEAD', 'refs/heads/gone'], { cwd: source.path })
  t.match(await cloneRepository(ours, path, sourceOf(source.url)), { defaultBranch: 'main' })
  await git(['update-ref', '--no-deref', 'HEAD', 'refs/heads/branch-3'], { cwd: source.path })
  await git(['branch', '-D', 'main'], { cwd: source.path })
  await rm(path, { recursive: true })
  t.match(await cloneRepository(ours, path, sourceOf(source.url)), { defaultBranch: 'branch-1' })
})

t.test('an update moves, adds and deletes refs like the source and follows its HEAD', async (t) => {
  const source = await aSource(t)
  const { path } = await aPlace(t)
  await cloneRepository(ours, path, sourceOf(source.url))
  const { copy } = source
  await copy.git('checkout', '--quiet', 'branch-1')
  await copy.git('commit', '--quiet', '--amend', '-m', 'Another')
  await copy.git('push', '--quiet', '--force', source.path, 'branch-1', 'main:new/one')
  await copy.git('push', '--quiet', source.path, ':branch-2', ':refs/tags/tag-1')
  await git(['symbolic-ref', 'HEAD', 'refs/heads/new/one'], { cwd: source.path })
  await copy.git('push', '--quiet', source.path, ':trunk')
  t.match(await updateFromRemote(ours, path, sourceOf(source.url)), { defaultBranch: 'new/one' })
  const expected = (await referencesOf(source.path)).split('\n')
  const wanted = expected.filter((line) => !line.startsWith('refs/pull/'))
  t.strictSame((await referencesOf(path)).split('\n'), wanted)
  t.equal(await git(['symbolic-ref', 'HEAD'], { cwd: path }), 'refs/heads/new/one')
  await updateFromRemote(ours, path, sourceOf(source.url))
  t.strictSame((await referencesOf(path)).split('\n'), wanted, 'a second update changes nothing')
  t.notOk(existsSync(join(path, 'FETCH_HEAD')))
  t.notOk(existsSync(join(path, 'shallow')))
})

t.test('a connection that is closed halfway leaves nothing', async (t) => {
  const source = await aSource(t)
  await source.copy.git('checkout', '--quiet', 'main')
  await source.copy.commit('large', incompressible(2_000_000))
  await source.copy.git('push', '--quiet', source.path, 'main')
  const bad = await serveWith(t, breakOffAfter(source.url, 500_000))
  t.match(await refusalOf(t, sourceOf(bad.url)), /^failed: /)
  t.ok(bad.requests.includes('/source.git/git-upload-pack'))
})

t.test('a source with more data than the limit is ended, whichever way it sends it', async (t) => {
  const source = await aSource(t)
  await source.copy.git('checkout', '--quiet', 'main')
  await source.copy.commit('large', incompressible(3_000_000))
  await source.copy.git('push', '--quiet', source.path, 'main')
  const bounded = (url: string) => sourceOf(url, { packBytesMax: 1_000_000 })
  t.match(await refusalOf(t, bounded(source.url)), 'failed: the source has more than 1000000 bytes')
  // The rest is never sent: the clone must end while the connection is open.
  const slow = await serveWith(t, (request, response) => {
    if (request.method !== 'POST') return relayHead(source.url, request.url ?? '', response)
    void slowly(request, response)
  })
  async function slowly(
    request: Parameters<Parameters<typeof serveWith>[1]>[0],
    response: Parameters<Parameters<typeof serveWith>[1]>[1],
  ) {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const answer = await fetch(`${source.url}/git-upload-pack`, {
      method: 'POST',
      body: Buffer.concat(chunks),
      headers: {
        'content-type': 'application/x-git-upload-pack-request',
        'git-protocol': 'version=2',
        ...(request.headers['content-encoding'] === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
      },
    })
    const body = Buffer.from(await answer.arrayBuffer())
    response.writeHead(200, { 'content-type': answer.headers.get('content-type') ?? '' })
    if (!body.includes('PACK')) return void response.end(body)
    response.write(body.subarray(0, 2_000_000))
  }
  t.match(await refusalOf(t, bounded(slow.url)), 'failed: the source has more than 1000000 bytes')
})

function relayHead(
  url: string,
  rest: string,
  response: Parameters<Parameters<typeof serveWith>[1]>[1],
): void {
  fetch(url + rest.replace('/source.git', ''), { headers: { 'git-protocol': 'version=2' } })
    .then(async (answer) => {
      response.writeHead(200, { 'content-type': answer.headers.get('content-type') ?? '' })
      response.end(Buffer.from(await answer.arrayBuffer()))
    })
    .catch(() => response.destroy())
}

t.test('a shallow source and a source with the dumb protocol are refused', async (t) => {
  const copy = await newWorkingCopy(t)
  for (const name of ['a', 'b', 'c']) await copy.commit(name)
  const { path, url } = await serveBare(t)
  await git(['fetch', '--quiet', '--depth=1', `file://${copy.path}`, 'main:refs/heads/main'], {
    cwd: path,
  })
  t.match(await refusalOf(t, sourceOf(url)), /^failed: the source is a shallow clone/)
  const id = await copy.git('rev-parse', 'main')
  const files = await serveWith(t, (request, response) => {
    if (request.url?.endsWith('/HEAD')) return void response.end('ref: refs/heads/main\n')
    response.end(`${id}\trefs/heads/main\n`)
  })
  const dumb = 'failed: the other server does not speak the smart protocol of Git'
  t.equal(await refusalOf(t, sourceOf(files.url)), dumb)
  t.notOk(
    files.requests.some((path) => path.includes('objects')),
    'no object is requested',
  )
})

t.test('an object that a push could not bring is refused in a clone too', async (t) => {
  const copy = await newWorkingCopy(t)
  const blob = await copy.commit('a').then(() => copy.git('rev-parse', 'HEAD:a'))
  const tree = await copy.try(['mktree'], { input: `100644 blob ${blob}\t.git\n` })
  const commit = await copy.git('commit-tree', tree.output, '-m', 'Bad')
  const { path, url } = await serveBare(t)
  await copy.git('push', '--quiet', path, `${commit}:refs/heads/main`)
  t.match(await refusalOf(t, sourceOf(url)), /^failed: /)
})

t.test('an aborted clone ends git with its helpers and leaves nothing', async (t) => {
  const source = await aSource(t)
  const waiting = await serveWith(t, (request, response) => {
    if (request.method !== 'POST') relayHead(source.url, request.url ?? '', response)
    else if (waiting.requests.filter((path) => path.endsWith('/git-upload-pack')).length === 1) {
      void breakOffAfter(source.url, 1e9)(request, response)
    }
  })
  const { dataDir, path } = await aPlace(t)
  const journal = await openJournal(dataDir)
  const aborting = new AbortController()
  const cloning = cloneRepository(
    ours,
    path,
    sourceOf(waiting.url, { signal: aborting.signal, journal }),
  )
  for (let look = 0; (await listJournalEntries(dataDir)).size === 0 && look < 500; look += 1)
    await sleep(20)
  const [push] = [...(await listJournalEntries(dataDir)).values()]
  const group = push?.leader.pid
  const members = async () => (await listProcesses()).filter((row) => row.groupId === group)
  t.ok((await members()).length > 0)
  aborting.abort(new Error('gone'))
  await t.rejects(cloning, { message: 'gone' })
  t.strictSame(await members(), [])
  t.strictSame(await readdir(dirname(path)), [])
  await recover(dataDir)
  t.equal((await listJournalEntries(dataDir)).size, 0)
})
