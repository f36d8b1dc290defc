/** Advertisements for pushes have git's own bytes, with at most one run of git for each state. */

import { randomInt } from 'node:crypto'
import { appendFile, mkdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Test, t } from 'tap'
import { initRepository } from '../../../cgi/repository/repository.js'
import { readSettledState } from '../../../cgi/repository/repository-state.js'
import { callBackend } from '../../../cgi/transfer/backend.js'
import type { Reply } from '../../../conf/http.js'
import { readOnce } from '../../../conf/lib/chunks.js'
import { NO_BODY } from '../../../gateway/http/incoming-body.js'
import { formOf } from '../../../gateway/packs/line-forms.js'
import { advertisePush } from '../../../gateway/packs/push-advertisement.js'
import { countedGit } from '../../helpers/counted-git.js'
import { openContext } from '../../helpers/gateway.js'
import { git as runGit, tryGit } from '../../helpers/git-client.js'
import { shuffle } from '../../helpers/random.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { isFullSize } from '../../helpers/test-size.js'
import { advanceableClock } from '../../helpers/upgradable-git.js'

/** Creates a bare repository with its own configuration text, because capabilities are cached. */
async function aRepository(t: Test, objectFormat: 'sha1' | 'sha256' = 'sha1') {
  const folder = await temporaryFolder(t)
  const git = await countedGit(folder)
  const { context } = await openContext(t, { git })
  const path = join(folder, 'one.git')
  await initRepository(git, path, { defaultBranch: 'main', objectFormat })
  const addConfig = (lines: string) => appendFile(join(path, 'config'), lines)
  await addConfig(`# ${path}\n`)
  const server = (...args: readonly string[]) => runGit(args, { cwd: path })
  const askGit = async (gitProtocol?: string): Promise<Reply> => {
    const { status, headers, body } = await callBackend(git, {
      repositoryPath: path,
      method: 'GET',
      suffix: 'info/refs',
      service: 'git-receive-pack',
      gzip: false,
      remoteUser: 'ada',
      remoteAddress: '127.0.0.1',
      config: [['receive.maxInputSize', '1000000']],
      body: NO_BODY,
      signal: new AbortController().signal,
      timeoutMs: 60_000,
      gitProtocol,
    })
    return { status, headers, body }
  }
  let asked = 0
  const ask = async (gitProtocol?: string, askOnce = askGit) => {
    const reply = await advertisePush(context, {
      repositoryPath: path,
      gitProtocol,
      client: 'ada',
      signal: new AbortController().signal,
      ask() {
        asked += 1
        return askOnce(gitProtocol)
      },
    })
    return readReply(reply)
  }
  return {
    context,
    path,
    addConfig,
    server,
    ask,
    askGit,
    settle: () => readSettledState(path),
    /** Compares our answer with git's; returns true if git was run for ours. */
    async compare(name: string, gitProtocol?: string): Promise<boolean> {
      const before = asked + (await git.started()).length
      const ours = await ask(gitProtocol)
      const ran = asked + (await git.started()).length > before
      t.strictSame(ours, await readReply(await askGit(gitProtocol)), name)
      return ran
    },
    async commit(text = 'x') {
      const tree = await server('mktree')
      return server('commit-tree', tree, '-m', text)
    },
  }
}

type Repository = Awaited<ReturnType<typeof aRepository>>

async function readReply({ status, headers, body }: Reply) {
  const chunks: Uint8Array[] = []
  if (body instanceof Uint8Array) chunks.push(body)
  else for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk)
  return { status, headers, text: Buffer.concat(chunks).toString('latin1') }
}

/** Requests the advertisement until it needs no git. */
async function warm({ settle, ask }: Repository): Promise<void> {
  await settle()
  await ask()
  await ask()
}

t.test('a few refs are read from their files, directly after each change', async (t) => {
  const repository = await aRepository(t)
  const { server, commit, compare, path } = repository
  await warm(repository)
  const oid = await commit()
  for (const words of [
    ['update-ref', 'refs/heads/main', oid],
    ['tag', '-a', '-m', 'x', 'v1', oid],
    ['update-ref', 'refs/heads/mains', oid],
    ['pack-refs', '--all'],
    ['update-ref', 'refs/heads/main', await commit('second')],
    ['update-ref', 'refs/headsx/main', oid],
    ['update-ref', 'refs/notes', oid],
    ['update-ref', '-d', 'refs/heads/mains'],
    ['repack', '-qad'],
  ]) {
    await server(...words)
    t.notOk(await compare(words.join(' ')), `git does not run after ${words[0]}`)
  }
  await writeFile(join(path, 'refs/heads/main.lock'), `${oid}\n`)
  await compare('with the lock of a ref')
  await rm(join(path, 'refs/heads/main.lock'))
  await appendFile(join(path, 'packed-refs'), `${'1'.repeat(40)} refs/tags/zero\n`)
  t.notOk(await compare('git shows a ref whose object is missing'))
})

t.test(
  'git is run once for the capabilities and once for the listed refs of a state',
  async (t) => {
    const repository = await aRepository(t)
    const { server, commit, settle, compare } = repository
    const first = await commit('first')
    await server('update-ref', 'refs/heads/main', first)
    await server('tag', '-a', '-m', 'x', 'v1', 'main')
    // A name with other characters than those of ASCII is not read from its file.
    await server('update-ref', 'refs/tags/é', first)
    await settle()
    t.ok(await compare('the capabilities are learned'))
    t.ok(await compare('the refs are listed'))
    for (let time = 0; time < 5; time += 1) t.notOk(await compare('git does not run'))
    await server('update-ref', 'refs/heads/main', await commit('second'))
    t.notOk(await compare('git does not run directly after a push'))
    await settle()
    t.notOk(await compare('git does not run after a push'))
    await server('update-ref', 'refs/heads/topic', first)
    await compare('directly after a branch was created')
    await settle()
    await compare('after a branch was created')
    t.notOk(await compare('git does not run again'))
  },
)

t.test('each answer without git is counted as a service of git', async (t) => {
  const repository = await aRepository(t)
  await warm(repository)
  for (let time = 0; time < 2; time += 1) await repository.ask()
  const metrics = await repository.context.metrics.registry.metrics()
  t.match(metrics, /services_total\{service="git-receive-pack",outcome="ok"\} 3\n/)
})

for (const objectFormat of ['sha1', 'sha256'] as const) {
  t.test(`an empty ${objectFormat} repository shows capabilities alone`, async (t) => {
    const repository = await aRepository(t, objectFormat)
    const { ask, compare, commit, server } = repository
    await warm(repository)
    t.notOk(await compare('without refs'))
    t.match((await ask()).text, /^001f# service=git-receive-pack\n0000[0-9a-f]{4}0+ capabilities/)
    await server('update-ref', 'refs/heads/topic', await commit())
    await warm(repository)
    t.notOk(await compare('with one ref, and a HEAD that is unborn'))
  })
}

t.test('the answer equals that of git through random changes of refs', async (t) => {
  const repository = await aRepository(t)
  let withoutGit = 0
  await warm(repository)
  const rounds = Array.from({ length: isFullSize ? 4 : 1 }, () => shuffle(CHANGES))
  for (const [step, name] of rounds.flat().entries()) {
    await changeRefs(repository, { step, name })
    if (!(await repository.compare(`${name}, directly afterwards`))) withoutGit += 1
    if (randomInt(2) === 0) continue
    await repository.settle()
    await repository.compare(name)
    if (!(await repository.compare(`${name}, again`))) withoutGit += 1
  }
  t.ok(withoutGit > 5, `${withoutGit} answers needed no git`)
})

interface Change {
  readonly step: number
  readonly branch: string
  readonly oid: string
}

/** Changes by git: the arguments of the command. */
const BY_GIT: Readonly<Record<string, (change: Change) => string>> = {
  'a branch is written': ({ branch, oid }) => `update-ref ${branch} ${oid}`,
  'main moves': ({ oid }) => `update-ref refs/heads/main ${oid}`,
  'a branch is deleted': ({ branch }) => `update-ref -d ${branch}`,
  'a branch is renamed': ({ branch, step }) =>
    `branch -M ${branch.slice('refs/heads/'.length)} r${step}`,
  'an annotated tag is written': ({ step, oid }) => `tag -f -a -m x t${step % 5} ${oid}`,
  'a tag is written': ({ step, oid }) => `tag -f l${step % 5} ${oid}`,
  'a note is written': ({ step, oid }) => `notes add -m ${step} ${oid}`,
  'all notes are removed': () => 'update-ref -d refs/notes/commits',
  'refs/notes is a ref': ({ oid }) => `update-ref refs/notes ${oid}`,
  'refs/notes is removed': () => 'update-ref -d refs/notes',
  'a symbolic ref is written': ({ step }) => `symbolic-ref refs/heads/s${step % 3} refs/heads/main`,
  'a symbolic ref has no target': () => 'symbolic-ref refs/heads/s refs/heads/missing',
  'HEAD is a symbolic ref': ({ branch }) => `symbolic-ref HEAD ${branch}`,
  'HEAD is detached': ({ oid }) => `update-ref --no-deref HEAD ${oid}`,
  'refs are packed': () => 'pack-refs --all',
  'a hidden ref is written': ({ step, oid }) => `update-ref refs/pull/${step}/head ${oid}`,
  'another hidden ref is written': ({ step, oid }) => `update-ref refs/internal/${step} ${oid}`,
  'a name begins like refs/heads': ({ step, oid }) => `update-ref refs/headsx/${step} ${oid}`,
}

/** Contents of the file of a ref. */
const BY_FILE: Readonly<Record<string, (oid: string) => string>> = {
  'a ref has no object': () => `${'1'.repeat(40)}\n`,
  'a ref is invalid': () => 'x\n',
  'a ref is valid again': (oid) => `${oid}\n`,
}

const CHANGES: readonly string[] = [...Object.keys(BY_GIT), ...Object.keys(BY_FILE)]

/** Makes a change on a random branch. Some fail, for example if the ref is missing. */
async function changeRefs(
  { commit, path }: Repository,
  { step, name }: { readonly step: number; readonly name: string },
): Promise<void> {
  const branch = `refs/heads/b${randomInt(6)}`
  const oid = await commit(`commit ${step}`)
  const words = BY_GIT[name]?.({ step, branch, oid })
  if (words !== undefined) {
    await tryGit(words.split(' '), { cwd: path })
    return
  }
  await mkdir(join(path, 'refs/heads'), { recursive: true })
  const incoming = join(path, 'refs/heads/.broken')
  await writeFile(incoming, BY_FILE[name]?.(oid) ?? '')
  await rename(incoming, join(path, 'refs/heads/broken'))
}

/** Writes 20,000 refs into `packed-refs`; each of them that `isTag` selects is an annotated tag. */
async function addManyRefs(
  { server, commit, path }: Repository,
  isTag: (number: number) => boolean,
): Promise<void> {
  const oid = await commit()
  await server('tag', '-a', '-m', 'x', 'v', oid)
  const tag = await server('rev-parse', 'v')
  const lines = Array.from({ length: 20_000 }, (_, number) =>
    isTag(number)
      ? { name: `refs/tags/tag-${number}`, line: `${tag} refs/tags/tag-${number}\n^${oid}\n` }
      : { name: `refs/heads/b-${number}`, line: `${oid} refs/heads/b-${number}\n` },
  )
  const sorted = lines.sort((one, other) => (one.name < other.name ? -1 : 1))
  const text = sorted.map(({ line }) => line).join('')
  await writeFile(
    join(path, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${text}`,
  )
}

t.test('20,000 refs, with a tenth of them annotated tags, are sent in pieces', async (t) => {
  const repository = await aRepository(t)
  await addManyRefs(repository, (number) => number % 10 === 0)
  await warm(repository)
  t.notOk(await repository.compare('20,001 refs'))
})

t.test('each piece of 20,000 annotated tags is made when it is read', async (t) => {
  const repository = await aRepository(t)
  const { context, path } = repository
  await addManyRefs(repository, () => true)
  await warm(repository)
  const visitor = { repositoryPath: path, client: () => 'ada' }
  const seen = await context.packCache.presentReferences(visitor, 'sha1')
  const form = formOf({ peel: false, symrefs: false, unborn: false })
  const sizes = [...(seen?.references.packets(['refs/tags'], form) ?? [])].map(
    (piece) => piece.byteLength,
  )
  t.ok(sizes.length > 4, `${sizes.length} pieces`)
  t.ok(
    sizes.every((bytes) => bytes < 524_288),
    'each piece is bounded',
  )
  t.notOk(await repository.compare('20,001 tags'))
})

t.test('requests of protocol versions 1 and 2 are answered by git', async (t) => {
  const repository = await aRepository(t)
  const { server, commit, compare } = repository
  await server('update-ref', 'refs/heads/main', await commit())
  await warm(repository)
  for (const version of ['version=1', 'version=2', 'version=0', 'nonsense']) {
    t.ok(await compare(version, version))
  }
  t.notOk(await compare('without a version'))
})

const LEFT_TO_GIT = {
  'a nonce for signed pushes': '[receive]\n\tcertNonceSeed = secret\n',
  'other refs hidden from pushes': '[receive]\n\thideRefs = refs/heads/secret\n',
  'other refs hidden from fetches': '[uploadpack]\n\thideRefs = refs/heads/secret\n',
  'other refs hidden': '[transfer]\n\thideRefs = refs/heads/secret\n',
  'other refs shown': '[transfer]\n\thideRefs = !refs/internal\n',
  'refs of alternates': '[core]\n\talternateRefsCommand = echo\n',
  'a session id': '[transfer]\n\tadvertiseSID = true\n',
} as const

t.test('git answers each time if its configuration changes the answer', async (t) => {
  const repository = await aRepository(t)
  const { server, commit, path, ask, askGit } = repository
  const oid = await commit()
  for (const ref of ['heads/main', 'heads/secret', 'internal/one']) {
    await server('update-ref', `refs/${ref}`, oid)
  }
  const config = await readFile(join(path, 'config'), 'utf8')
  for (const [name, lines] of Object.entries(LEFT_TO_GIT)) {
    await writeFile(join(path, 'config'), `${config}${lines}`)
    await warm(repository)
    let asked = 0
    const ours = await ask(undefined, async () => {
      asked += 1
      return askGit()
    })
    t.equal(asked, 1, `git is asked with ${name}`)
    const right = await readReply(await askGit())
    const constant = (text: string) => text.replace(/(session-id|push-cert)=[^ \n]+/g, '$1')
    t.equal(constant(ours.text), constant(right.text), name)
  }
  await writeFile(join(path, 'config'), `${config}# other text\n`)
  await warm(repository)
  t.notOk(await repository.compare('without these lines'))
})

t.test('a change of the configuration has effect immediately', async (t) => {
  const repository = await aRepository(t)
  const { server, commit, addConfig, compare, ask } = repository
  await server('update-ref', 'refs/heads/main', await commit())
  await warm(repository)
  t.match((await ask()).text, / atomic /)
  await addConfig('[receive]\n\tadvertiseAtomic = false\n')
  await compare('directly after the change')
  await warm(repository)
  t.notOk(await compare('with learned capabilities'))
  t.notMatch((await ask()).text, / atomic /)
  await addConfig('[http]\n\treceivepack = false\n')
  await warm(repository)
  await compare('a refusal')
  t.equal((await ask()).status, 403)
})

t.test('shallow commits are shown by git alone', async (t) => {
  const repository = await aRepository(t)
  const { server, commit, path, compare, settle } = repository
  const oid = await commit()
  await server('update-ref', 'refs/heads/main', oid)
  await warm(repository)
  await writeFile(join(path, 'shallow'), `${oid}\n`)
  await settle()
  t.ok(await compare('the first request for a shallow repository'))
  t.ok(await compare('the second request for a shallow repository'))
  await rm(join(path, 'shallow'))
  await settle()
  await compare('a repository that is no longer shallow')
  t.notOk(await compare('the second request for it'))
})

t.test('refs of alternates are not shown', async (t) => {
  const repository = await aRepository(t)
  const other = await aRepository(t)
  await other.server('update-ref', 'refs/heads/other', await other.commit('only there'))
  await repository.server('update-ref', 'refs/heads/main', await repository.commit())
  await warm(repository)
  await mkdir(join(repository.path, 'objects/info'), { recursive: true })
  await writeFile(join(repository.path, 'objects/info/alternates'), `${other.path}/objects\n`)
  t.notOk(await repository.compare('with an alternate'))
})

/** Git is run for the capabilities, and then no more. */
const LEARNS = [true, false, false]

/** Sends three requests; returns for each whether git was run. */
async function threeTimes({ settle, compare }: Repository): Promise<readonly boolean[]> {
  await settle()
  return [await compare('first'), await compare('second'), await compare('third')]
}

t.test('an answer that is incomplete or of a changing state teaches nothing', async (t) => {
  const repository = await aRepository(t)
  const { server, commit, ask, askGit, settle } = repository
  await server('update-ref', 'refs/heads/main', await commit())
  await settle()
  const cut = async () => {
    const reply = await askGit()
    const { text } = await readReply(reply)
    return { ...reply, body: bodyOf(text.slice(0, -'0000'.length)) }
  }
  await ask(undefined, cut)
  t.strictSame(await threeTimes(repository), LEARNS, 'after an interrupted answer')
  await repository.addConfig('# other text\n')
  await settle()
  const changing = async () => {
    const reply = await askGit()
    await server('update-ref', 'refs/heads/main', await commit('another'))
    return reply
  }
  await ask(undefined, changing)
  t.strictSame(await threeTimes(repository), LEARNS, 'after a change')
})

t.test('after a failed or abandoned request, the next one learns', async (t) => {
  const repository = await aRepository(t)
  const { path, context, ask, askGit, settle } = repository
  await settle()
  const fail = async () => {
    throw new Error('no git')
  }
  await t.rejects(ask(undefined, fail), /no git/)
  t.strictSame(await threeTimes(repository), LEARNS, 'after a failure')
  await repository.addConfig('# other text\n')
  await settle()
  const { body } = await advertisePush(context, {
    repositoryPath: path,
    gitProtocol: undefined,
    client: 'ada',
    signal: new AbortController().signal,
    ask: askGit,
  })
  await (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().return?.()
  t.strictSame(await threeTimes(repository), LEARNS, 'after an abandoned answer')
})

/** Returns a body of one chunk, which can be read once. */
function bodyOf(text: string): AsyncIterable<Uint8Array> {
  const left = [Buffer.from(text, 'latin1')].values()
  return readOnce(
    async () => left.next(),
    () => {},
  )
}

t.test('capabilities are kept until git is upgraded', async (t) => {
  const repository = await aRepository(t)
  await warm(repository)
  const passMinutes = advanceableClock(t)
  t.notOk(await repository.compare('learned'))
  passMinutes(60)
  t.notOk(await repository.compare('an hour later'))
  await utimes(repository.context.git.file, 1, 1)
  t.notOk(await repository.compare('within a minute of an upgrade'))
  passMinutes(1)
  t.strictSame(await threeTimes(repository), LEARNS, 'a minute after an upgrade')
})

t.test('capabilities of a git that was upgraded meanwhile are not kept', async (t) => {
  const repository = await aRepository(t)
  const { context, ask, askGit, settle } = repository
  const passMinutes = advanceableClock(t)
  await settle()
  await ask(undefined, async (gitProtocol) => {
    const reply = await askGit(gitProtocol)
    await utimes(context.git.file, 1, 1)
    passMinutes(1)
    await ask()
    return reply
  })
  t.strictSame(await threeTimes(repository), LEARNS)
})

t.test('a client at its limit of git processes is refused without git', async (t) => {
  const repository = await aRepository(t)
  const { context, path, ask } = repository
  await warm(repository)
  const { signal } = new AbortController()
  const visitor = { repository: path, client: 'ada' }
  const leave = await Promise.all(
    Array.from({ length: 4 }, () => context.queue.enter(signal, visitor)),
  )
  const waiting = Array.from({ length: 4 }, () => context.queue.enter(signal, visitor))
  await t.rejects(ask(), /too many Git requests/)
  for (const free of leave) free()
  for (const free of await Promise.all(waiting)) free()
  t.equal((await ask()).status, 200)
  t.strictSame(context.queue.load, { running: 0, waiting: 0 })
  const metrics = await context.metrics.registry.metrics()
  t.match(metrics, /services_total\{service="git-receive-pack",outcome="refused"\} 1\n/)
})
