/** Complete clones after a push: stored answers that are extended, and those that git makes. */

import { randomBytes, randomUUID } from 'node:crypto'
import { cp, open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { AnswerNames } from '../../../gateway/packs/answer-names.js'
import { ExtendedAnswers } from '../../../gateway/packs/extended-answers.js'
import { normalize } from '../../../gateway/packs/normal-request.js'
import { ReferenceList } from '../../../gateway/packs/reference-list.js'
import { removeAnswers } from '../../../gateway/packs/remove-answers.js'
import { createLocalCoordinator, createPackCache } from '../../../gateway/packs/warm.js'
import { countedGit } from '../../helpers/counted-git.js'
import { objectsOf, readAnswerV0, readFetchAnswer } from '../../helpers/fetch-answers.js'
import { openContext } from '../../helpers/gateway.js'
import { git as runGit } from '../../helpers/git-client.js'
import { fetchBody, packetLine } from '../../helpers/git-requests.js'
import { untilAllCached } from '../../helpers/pack-cache-counts.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { isFullSize } from '../../helpers/test-size.js'
import { newWorkingCopy, workingCopyAt } from '../../helpers/working-copy.js'

/** Length of a file, so that the stored answers are long enough to be extended. */
const LARGE_BYTES = 4_300_000

interface CloneOptions {
  readonly version?: 0 | 2
  /** Wanted refs; by default all branches and tags. */
  readonly refs?: readonly string[]
  readonly flags?: readonly string[]
  /** Ids of the wanted commits, if they are known. */
  readonly known?: readonly string[]
}

type ObjectFormat = 'sha1' | 'sha256'

/** A repository with a large file and a bitmap, and the working copy that pushed it. */
interface Template {
  readonly repository: string
  readonly copy: string
  /** The commit on main. */
  readonly first: string
}

async function makeTemplate(objectFormat: ObjectFormat): Promise<Template> {
  const repository = join(await temporaryFolder(t), 'one.git')
  await initRepository(await findGit(), repository, { defaultBranch: 'main', objectFormat })
  const copy = await newWorkingCopy(t, objectFormat)
  const first = await copy.commit('large', randomBytes(LARGE_BYTES))
  await copy.git('push', '--quiet', repository, 'HEAD')
  await runGit(['repack', '-a', '-d', '-q', '--write-bitmap-index'], { cwd: repository })
  return { repository, copy: copy.path, first }
}

const templates = new Map<ObjectFormat, Promise<Template>>()

/** Returns the template of an object format, which is created once and copied for each test. */
function templateOf(objectFormat: ObjectFormat): Promise<Template> {
  const template = templates.get(objectFormat) ?? makeTemplate(objectFormat)
  templates.set(objectFormat, template)
  return template
}

const { context } = await openContext(t)
const { settings, log, queue } = context
const git = await countedGit(settings.data.dir)
const link = createLocalCoordinator(settings.cache.dir)
const cache = createPackCache({ git, log, queue, settings: () => settings, link })

/** Copies a repository with a large file and a bitmap. */
async function aScene(t: Test, objectFormat: ObjectFormat = 'sha1') {
  const repositoryPath = join(settings.data.dir, `${randomUUID()}.git`)
  const template = await templateOf(objectFormat)
  await cp(template.repository, repositoryPath, { recursive: true })
  const server = (...args: readonly string[]) => runGit(args, { cwd: repositoryPath })
  const copy = workingCopyAt(await temporaryFolder(t))
  await cp(template.copy, copy.path, { recursive: true })
  const packFolder = await temporaryFolder(t)
  await runGit(['init', '--quiet', '--bare', `--object-format=${objectFormat}`], {
    cwd: packFolder,
  })

  const push = async (name: string, content?: string | Uint8Array) => {
    const commit = await copy.commit(name, content)
    await copy.git('push', '--quiet', '--force', repositoryPath, 'HEAD')
    return commit
  }

  const ask = async (body: string, version: 0 | 2) => {
    const request = new AbortController()
    const question = { repositoryPath, repositoryBytes: 0, client: () => 'ada', request }
    const answer = await cache.answer(question, Buffer.from(body), version)
    if (answer === undefined) throw new Error('the pack cache did not answer')
    const chunks: Uint8Array[] = []
    const bytes = answer.body instanceof Uint8Array ? [answer.body] : answer.body
    for await (const chunk of bytes) chunks.push(Buffer.from(chunk))
    await untilAllCached(settings.data.dir)
    // The answer is recorded soon after its file has its name.
    await sleep(20)
    return Buffer.concat(chunks)
  }
  const commandOf = (name: string, lines: readonly string[]) => {
    const head = [`command=${name}`, `object-format=${objectFormat}`].map(packetLine).join('')
    return `${head}0001${lines.map((line) => packetLine(`${line}\n`)).join('')}0000`
  }

  const wantsOf = async (refs: readonly string[] | undefined) => {
    const listed = await server('for-each-ref', '--format=%(refname)')
    const oids = await server('rev-parse', ...(refs ?? listed.split('\n')))
    return [...new Set(oids.split('\n'))]
  }

  /** Clones; returns the answer, and true if git has not made all of it. */
  const fetchAnswer = async (options: CloneOptions = {}) => {
    const { version = 2, flags = ['ofs-delta'], refs, known } = options
    const wants = known ?? (await wantsOf(refs))
    // The refs are read before git processes are counted.
    await ask(commandOf('ls-refs', []), 2)
    const before = (await git.started()).length
    const lines = wants.map((oid) => `want ${oid}`)
    const answer =
      version === 2
        ? await ask(commandOf('fetch', [...flags, 'no-progress', ...lines, 'done']), 2)
        : await ask(requestV0(lines, flags), 0)
    const started = (await git.started()).slice(before)
    return { wants, answer, started, isExtended: !started.includes('upload-pack') }
  }

  /** Clones; returns also the ids of the objects. */
  const clone = async (options: CloneOptions = {}) => {
    const { answer, ...fetched } = await fetchAnswer(options)
    const { pack } = options.version === 0 ? readAnswerV0(answer) : readFetchAnswer(answer)
    return { oids: await objectsOf(pack, packFolder), ...fetched }
  }

  /** Returns the ids of the objects that git would send. */
  const reached = async (wants: readonly string[], ...options: readonly string[]) => {
    const list = await server('rev-list', '--objects', '--no-object-names', ...options, ...wants)
    return list.split('\n').toSorted()
  }

  /** Writes commits on top of main that no ref reaches; returns them, oldest first. */
  const addCommits = async (count: number) => {
    const commit = (_: unknown, at: number) =>
      `commit refs/internal/next\ncommitter Ada <ada@example.com> ${at} +0000\ndata 4\nnext\n${
        at === 0 ? 'from refs/heads/main^0\n' : ''
      }\n`
    const input = Array.from({ length: count }, commit).join('')
    await runGit(['fast-import', '--quiet'], { cwd: repositoryPath, input })
    const listed = await server('rev-list', '--reverse', 'refs/internal/next', '^main')
    await server('update-ref', '-d', 'refs/internal/next')
    return listed.split('\n')
  }

  const { first } = template
  const loseAnswers = () => removeAnswers(settings.cache.dir, repositoryPath)
  const repack = (bitmap = '--write-bitmap-index') => server('repack', '-a', '-d', '-q', bitmap)
  return { copy, server, push, fetchAnswer, addCommits, clone, reached, first, repack, loseAnswers }
}

function requestV0([first, ...others]: readonly string[], flags: readonly string[]): string {
  const lines = [`${first} ${flags.join(' ')}`, ...others].map((line) => packetLine(`${line}\n`))
  return `${lines.join('')}0000${packetLine('done\n')}`
}

t.test('a complete clone after a push gets a stored answer and the new objects', async (t) => {
  // The second one of an object format extends an answer that was extended.
  const pushes = { sha1: ['one', 'two'], sha256: ['one'] } as const
  for (const objectFormat of ['sha1', 'sha256'] as const) {
    const { clone, push, reached } = await aScene(t, objectFormat)
    t.equal((await clone()).isExtended, false)
    for (const name of pushes[objectFormat]) {
      await push(name)
      const { oids, wants, isExtended } = await clone()
      t.equal(isExtended, true, `${name} in ${objectFormat}`)
      t.strictSame(oids, await reached(wants))
    }
  }
})

t.test('all forms of complete clones are extended', async (t) => {
  const { clone, push, reached } = await aScene(t)
  const v0 = ['side-band-64k', 'multi_ack_detailed', 'no-progress', 'deepen-since']
  const forms: Readonly<Record<string, CloneOptions>> = {
    'without deltas by position': { flags: [] },
    'of one branch': { refs: ['main'], flags: ['include-tag', 'ofs-delta'] },
    'of version 0': { version: 0, flags: [...v0, 'ofs-delta', 'agent=git/2'] },
    'of version 0 without deltas by position': { version: 0, flags: v0 },
  }
  for (const options of Object.values(forms)) await clone(options)
  await push('one')
  for (const [name, options] of Object.entries(forms)) {
    const { oids, wants, isExtended } = await clone(options)
    t.equal(isExtended, true, name)
    t.strictSame(oids, await reached(wants), name)
  }
})

t.test('a clone without files is extended, unless a new tag may want a file', async (t) => {
  const { clone, push, copy, server, repack, reached } = await aScene(t)
  const message = randomBytes(LARGE_BYTES).toString('base64')
  await copy.try(['commit', '--quiet', '--allow-empty', '-F', '-'], { input: message })
  await push('file')
  await repack()
  const options = { flags: ['filter blob:none'] }
  await clone(options)
  await push('one')
  const { oids, wants, isExtended } = await clone(options)
  t.equal(isExtended, true)
  t.strictSame(oids, await reached(wants, '--filter=blob:none'))
  const file = await copy.git('rev-parse', 'HEAD:one')
  await server('tag', 'file', file)
  const tagged = await clone(options)
  t.equal(tagged.isExtended, false)
  t.ok(tagged.oids.includes(file))
})

t.test('a file that is back in an old version is not sent twice', async (t) => {
  const { clone, push, repack, reached } = await aScene(t)
  await push('file', 'one')
  await push('file', 'two')
  await repack()
  await clone()
  await push('file', 'one')
  const known = await clone()
  t.equal(known.isExtended, true)
  t.strictSame(known.oids, await reached(known.wants))
  await repack('--no-write-bitmap-index')
  await push('file', 'two')
  const { oids, wants, started } = await clone()
  t.strictSame(started, ['upload-pack'], 'without a bitmap git cannot name the new objects exactly')
  t.strictSame(oids, await reached(wants))
})

t.test('git makes the answer directly if no former tip is in the packs of a bitmap', async (t) => {
  const { clone, push } = await aScene(t)
  await push('one')
  await clone()
  await push('two')
  t.strictSame((await clone()).started, ['upload-pack'])
})

t.test('objects that a force push has removed are not sent', async (t) => {
  const { clone, push, copy, first, repack, reached } = await aScene(t)
  await push('password', 'secret')
  const secret = await copy.git('rev-parse', 'HEAD:password')
  await repack()
  t.ok((await clone()).oids.includes(secret))
  await copy.git('reset', '--quiet', '--hard', first)
  await push('other')
  const { oids, wants, isExtended } = await clone()
  t.equal(isExtended, false)
  t.notOk(oids.includes(secret))
  t.strictSame(oids, await reached(wants))
  await repack()
  await push('more')
  t.equal((await clone()).isExtended, true, 'the next answers extend the one without them')
})

t.test('after a deletion only objects that are still reachable are sent', async (t) => {
  const { clone, push, copy, server, repack, reached } = await aScene(t)
  await server('tag', '-a', '-m', 'Merged', 'merged', 'main')
  await repack()
  await copy.git('checkout', '--quiet', '-b', 'merged')
  await push('topic')
  await copy.git('checkout', '--quiet', '-b', 'main2')
  await copy.git('branch', '-f', 'main', 'main2')
  await copy.git('checkout', '--quiet', 'main')
  await push('after')
  await clone()
  await server('update-ref', '-d', 'refs/heads/merged')
  const merged = await clone()
  t.equal(merged.isExtended, true, 'main has the commits of the deleted branch')
  t.strictSame(merged.oids, await reached(merged.wants))
  await server('tag', '-d', 'merged')
  const untagged = await clone()
  t.equal(untagged.isExtended, false, 'no tip reaches the object of the deleted tag')
  t.strictSame(untagged.oids, await reached(untagged.wants))
})

t.test('new branches and tags are added', async (t) => {
  const { clone, server, push, reached } = await aScene(t)
  await clone()
  await push('one')
  await server('tag', '-a', '-m', 'One', 'v1', 'main')
  await server('tag', 'v0', 'main~1')
  const { oids, wants, isExtended } = await clone()
  t.equal(isExtended, true)
  t.strictSame(oids, await reached(wants))
  const tagged = { refs: ['main'], flags: ['include-tag'] }
  await clone(tagged)
  await push('two')
  await server('tag', '-a', '-m', 'Two', 'v2', 'main')
  const followed = await clone(tagged)
  t.ok(followed.oids.includes(await server('rev-parse', 'v2')), 'a tag that comes along')
})

t.test('git makes the whole answer after much growth, and without the stored answer', async (t) => {
  const { clone, push, repack, loseAnswers } = await aScene(t)
  await clone()
  await push('more', randomBytes(LARGE_BYTES / 5))
  t.equal((await clone()).isExtended, true)
  await push('even-more', randomBytes(LARGE_BYTES / 10))
  t.equal((await clone()).isExtended, false, 'a quarter was added')
  await repack()
  await push('one')
  t.equal((await clone()).isExtended, true)
  await loseAnswers()
  await push('two')
  t.equal((await clone()).isExtended, false, 'the stored answer is missing')
})

t.test('an answer with fifty extensions is not extended', async (t) => {
  const { repository: repositoryPath, first } = await templateOf('sha1')
  const request = normalize(fetchBody(first, 'ofs-delta'), 2)
  if (request?.command !== 'fetch') throw new Error('this is no fetch')
  const line = packetLine(`${first} refs/heads/main\n`)
  const references = await ReferenceList.parse(Buffer.from(`${line}0000`))
  if (references === undefined) throw new Error('these are no references')
  const state = { text: 'one', settingsText: '[core]', isSettled: true }
  const question = { repositoryPath, wanted: { request, state, references } }
  const file = await open(join(await temporaryFolder(t), 'answer'), 'w')
  t.teardown(() => file.close())
  const options = { file: file.fd, signal: new AbortController().signal, timeoutMs: 10_000 }
  /** Records one more extension; returns true if the stored answer is then read again. */
  const isRead = async (extensions: number) => {
    let reads = 0
    const find = async () => {
      reads += 1
      return undefined
    }
    const names = new AnswerNames(git)
    const answers = new ExtendedAnswers({ git, log, names, store: { find } })
    const stored = { wants: [first], bytes: LARGE_BYTES }
    answers.note(question, LARGE_BYTES, { ...stored, first: stored, extensions })
    t.equal(await answers.write(question, options), undefined)
    return reads > 0
  }
  t.equal(await isRead(48), true)
  t.equal(await isRead(49), false)
})

/** Clones after each of many pushes, until git makes the whole answer. */
async function testManyExtensions(t: Test): Promise<void> {
  const { fetchAnswer, server, addCommits } = await aScene(t)
  await fetchAnswer()
  const commits = await addCommits(110)
  let extensions = 0
  for (let isExtended = true; isExtended && extensions < commits.length; ) {
    const commit = commits[extensions] ?? ''
    await server('update-ref', 'refs/heads/main', commit)
    isExtended = (await fetchAnswer({ known: [commit] })).isExtended
    if (isExtended) extensions += 1
  }
  // An answer that is not recorded yet is not extended, but the one before it.
  t.ok(extensions >= 50 && extensions <= 100, `${extensions} extensions`)
}

if (isFullSize) await t.test('an answer is extended fifty times', testManyExtensions)
