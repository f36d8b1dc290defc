/** Capability advertisements of git are cached unless they could differ. */

import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Test, t } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import type { GitPrograms } from '../../../cgi/process/git-identity.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { readPresentState } from '../../../cgi/repository/repository-state.js'
import { callBackend } from '../../../cgi/transfer/backend.js'
import { callUploadPack } from '../../../cgi/transfer/upload-pack.js'
import { NO_BODY, readBody } from '../../../gateway/http/incoming-body.js'
import { type AdvertisementRequest, advertiseFetch } from '../../../gateway/packs/advertisement.js'
import { ReferenceList, referenceListRequest } from '../../../gateway/packs/reference-list.js'
import { git as runGit } from '../../helpers/git-client.js'
import { deferred } from '../../helpers/listening.js'
import { temporaryFolder } from '../../helpers/temporary.js'
import { advanceableClock, upgradableGit } from '../../helpers/upgradable-git.js'

const V2 = 'version=2'
/** Time after which a change of a repository is settled. */
const SETTLED_MS = 120

const GIT = await findGit()

/** Creates a bare repository and a counted request for its real advertisement. */
async function aRepository(
  t: Test,
  objectFormat: 'sha1' | 'sha256' = 'sha1',
  references: AdvertisementRequest['references'] = () => undefined,
) {
  const git = GIT
  const path = join(await temporaryFolder(t), 'one.git')
  await initRepository(git, path, { defaultBranch: 'main', objectFormat })
  // Each test has its own configuration, because answers are cached by it.
  const config = (lines: string) =>
    writeFile(join(path, 'config'), baseConfig(objectFormat) + lines)
  const state = { asked: 0, programs: git as GitPrograms }
  const askGit = async (gitProtocol: string | undefined) => {
    const answer = await callBackend(git, {
      repositoryPath: path,
      method: 'GET',
      suffix: 'info/refs',
      service: 'git-upload-pack',
      gzip: false,
      remoteAddress: '127.0.0.1',
      config: [],
      body: NO_BODY,
      signal: new AbortController().signal,
      timeoutMs: 10_000,
      ...(gitProtocol === undefined ? {} : { gitProtocol }),
    })
    return { status: answer.status, headers: answer.headers, body: answer.body }
  }
  const ask = async (gitProtocol: string | undefined) => {
    const reply = await advertiseFetch({
      git: state.programs,
      repositoryPath: path,
      gitProtocol,
      references,
      async ask() {
        state.asked += 1
        return askGit(gitProtocol)
      },
    })
    return { ...reply, text: await textOf(reply.body) }
  }
  return { path, config, ask, askGit, state }
}

let counter = 0

function baseConfig(objectFormat: 'sha1' | 'sha256'): string {
  counter += 1
  const version = objectFormat === 'sha256' ? 1 : 0
  const extension = objectFormat === 'sha256' ? '[extensions]\n\tobjectformat = sha256\n' : ''
  const core = `[core]\n\trepositoryformatversion = ${version}\n\tbare = true\n`
  return `# test ${counter}\n${core}${extension}`
}

async function textOf(body: unknown): Promise<string> {
  const chunks: Uint8Array[] = []
  if (body instanceof Uint8Array) return Buffer.from(body).toString()
  for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

t.test('the second request of protocol v2 gets the same answer without git', async (t) => {
  const { config, ask, state } = await aRepository(t)
  await config('')
  const first = await ask(V2)
  const second = await ask(V2)
  t.match(first.text, /version 2\n[\s\S]*0000$/)
  t.equal(second.text, first.text)
  t.same(second.headers, first.headers)
  t.equal(state.asked, 1)
})

t.test('a repository of another object format has its own answer', async (t) => {
  const one = await aRepository(t)
  const other = await aRepository(t, 'sha256')
  await one.config('')
  await other.config('')
  t.match((await one.ask(V2)).text, /object-format=sha1\n/)
  t.match((await other.ask(V2)).text, /object-format=sha256\n/)
})

t.test('a change of the configuration has effect immediately', async (t) => {
  const { config, ask } = await aRepository(t)
  await config('')
  t.match((await ask(V2)).text, /filter/)
  await config('[uploadpack]\n\tallowFilter = false\n')
  t.notMatch((await ask(V2)).text, /filter/)
})

t.test('refs of older protocols are cached until the repository changes', async (t) => {
  const { path, config, ask, state } = await aRepository(t)
  await config('')
  const git = (...args: readonly string[]) => runGit(args, { cwd: path })
  const commit = async () => {
    const tree = await git('mktree')
    return git('commit-tree', tree, '-m', String(Math.random()))
  }
  const first = await commit()
  await git('update-ref', 'refs/heads/main', first)
  await sleep(SETTLED_MS)
  for (const protocol of [undefined, 'version=1']) {
    state.asked = 0
    const before = await ask(protocol)
    t.match(before.text, `${first} refs/heads/main`)
    t.strictSame(await ask(protocol), before)
    t.equal(state.asked, 1, `${protocol}`)
  }
  const second = await commit()
  await git('update-ref', 'refs/heads/main', second)
  t.match((await ask(undefined)).text, `${second} refs/heads/main`, 'directly after the change')
  const third = await commit()
  await git('update-ref', 'refs/heads/main', third)
  await sleep(SETTLED_MS)
  state.asked = 0
  const [one, other] = await Promise.all([ask(undefined), ask(undefined)])
  t.match(one.text, `${third} refs/heads/main`)
  t.equal(other.text, one.text)
  t.equal(state.asked, 1, 'concurrent requests share one process')
  t.match((await ask('version=2:more')).text, 'version 2')
})

for (const objectFormat of ['sha1', 'sha256'] as const) {
  t.test(`${objectFormat}: refs of older protocols are made from the list of refs`, async (t) => {
    const listed: { asked: number; path: string } = { asked: 0, path: '' }
    const references = async () => {
      listed.asked += 1
      return await seenIn(listed.path, objectFormat)
    }
    const { path, config, ask, askGit, state } = await aRepository(t, objectFormat, references)
    listed.path = path
    await config('')
    const git = (...args: readonly string[]) => runGit(args, { cwd: path })
    const commit = await git('commit-tree', await git('mktree'), '-m', 'one')
    await git('update-ref', 'refs/heads/main', commit)
    await git('symbolic-ref', 'refs/heads/alias', 'refs/heads/main')
    await git('tag', '-m', 'One', 'v1', 'main')
    /** Compares answers of both versions with git's, and returns how often git was asked. */
    const check = async (change: string) => {
      await sleep(SETTLED_MS)
      state.asked = 0
      for (const protocol of [undefined, 'version=1']) {
        const { text } = await ask(protocol)
        t.equal(text, await textOf((await askGit(protocol)).body), `${change}, ${protocol}`)
      }
      return state.asked
    }
    t.equal(await check('at first'), 2)
    for (const words of [
      ['update-ref', 'refs/heads/new', commit],
      ['tag', '-m', 'Two', 'v2', 'main'],
      ['pack-refs', '--all'],
      ['symbolic-ref', 'HEAD', 'refs/heads/new'],
      ['update-ref', '--no-deref', 'HEAD', commit],
    ]) {
      await git(...words)
      t.equal(await check(words.join(' ')), 0)
    }
    t.ok(listed.asked > 0)
    await git('symbolic-ref', 'HEAD', 'refs/heads/unborn')
    t.equal(await check('an unborn HEAD'), 2)
    await git('symbolic-ref', 'HEAD', 'refs/heads/main')
    await writeFile(join(path, 'shallow'), `${commit}\n`)
    t.equal(await check('shallow commits'), 2)
    await git('update-ref', 'refs/heads/last', commit)
    t.equal(await check('a branch beside shallow commits'), 2)
  })
}

/** Returns the refs of a repository as a worker has them. */
async function seenIn(path: string, objectFormat: 'sha1' | 'sha256') {
  const git = await findGit()
  const { signal } = new AbortController()
  const call = { repositoryPath: path, gitProtocol: V2, signal, timeoutMs: 10_000 }
  const answer = await callUploadPack(git, {
    ...call,
    body: onlyChunk(referenceListRequest(objectFormat)),
  })
  const references = await ReferenceList.parse(await readBody(answer.body, 65_536))
  const state = readPresentState(path)
  return references && state && { references, state }
}

async function* onlyChunk(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk
}

t.test('a configuration with includes is not cached', async (t) => {
  const { path, config, ask, state } = await aRepository(t)
  await mkdir(join(path, 'more'))
  await writeFile(join(path, 'more', 'config'), '')
  await config('[include]\n\tpath = more/config\n')
  await ask(V2)
  await writeFile(join(path, 'more', 'config'), '[uploadpack]\n\tallowFilter = false\n')
  t.notMatch((await ask(V2)).text, /filter/)
  t.equal(state.asked, 2)
})

t.test('a refusal is not cached', async (t) => {
  const { path, config, ask } = await aRepository(t)
  await config('')
  await rm(join(path, 'HEAD'))
  t.equal((await ask(V2)).status, 404)
  await writeFile(join(path, 'HEAD'), 'ref: refs/heads/main\n')
  t.equal((await ask(V2)).status, 200)
})

/** Requests an advertisement twice, of which git's answer is given. Returns the runs of git. */
async function countRuns(
  repositoryPath: string,
  gitProtocol: string | undefined,
  answer: { status?: number; text?: string; during?: () => Promise<void> },
): Promise<number> {
  let runs = 0
  const ask = async () => {
    runs += 1
    await answer.during?.()
    async function* body() {
      yield Buffer.from(answer.text ?? '0000')
    }
    return { status: answer.status ?? 200, body: body() }
  }
  for (let time = 0; time < 2; time += 1) {
    const request = { git: GIT, repositoryPath, gitProtocol, ask, references: () => undefined }
    await textOf((await advertiseFetch(request)).body)
  }
  return runs
}

t.test('an interrupted answer and an error are not cached', async (t) => {
  for (const protocol of [V2, undefined]) {
    const { path, config } = await aRepository(t)
    await config('')
    await sleep(SETTLED_MS)
    t.equal(await countRuns(path, protocol, { text: '' }), 2, 'nothing')
    t.equal(await countRuns(path, protocol, { text: '000eversion 2\n' }), 2, 'no flush')
    t.equal(await countRuns(path, protocol, { status: 503 }), 2, 'an error')
    t.equal(await countRuns(path, protocol, {}), 1, 'a whole answer')
  }
})

t.test('an answer is not cached if the configuration changes while git runs', async (t) => {
  const { path } = await aRepository(t)
  const file = join(path, 'config')
  const config = baseConfig('sha1')
  await writeFile(file, config)
  let isChanged = false
  const during = async () => {
    isChanged = !isChanged
    await writeFile(file, isChanged ? `${config}[uploadpack]\n` : config)
  }
  t.equal(await countRuns(path, V2, { during }), 2)
  const runs = await countRuns(path, V2, {})
  t.equal(runs, 1, 'of the first configuration')
})

t.test('a request after a change does not get an answer begun before it', async (t) => {
  const { path, config } = await aRepository(t)
  await config('')
  await sleep(SETTLED_MS)
  const [begun, changed] = [deferred(), deferred()]
  async function* body(text: string) {
    yield Buffer.from(text)
  }
  const send = (ask: AdvertisementRequest['ask']) =>
    advertiseFetch({
      git: GIT,
      repositoryPath: path,
      gitProtocol: undefined,
      ask,
      references: () => undefined,
    })
  const former = send(async () => {
    begun.resolve()
    await changed.promise
    return { status: 200, body: body('0000') }
  })
  await begun.promise
  await writeFile(join(path, 'packed-refs'), '')
  await sleep(SETTLED_MS)
  const later = send(async () => ({ status: 200, body: body('0005x0000') }))
  changed.resolve()
  t.equal(await textOf((await former).body), '0000')
  t.equal(await textOf((await later).body), '0005x0000')
})

for (const [version, protocol] of [
  [2, V2],
  [0, undefined],
] as const) {
  t.test(`version ${version}: answers are kept until git is upgraded`, async (t) => {
    const { config, ask, state } = await aRepository(t)
    const { programs, install } = await upgradableGit(t)
    const passMinutes = advanceableClock(t)
    state.programs = programs
    await config('')
    await sleep(SETTLED_MS)
    for (const _ of [1, 2]) await ask(protocol)
    passMinutes(60)
    await ask(protocol)
    t.equal(state.asked, 1, 'of the same git, an hour later')
    await install('a newer git')
    await ask(protocol)
    t.equal(state.asked, 1, 'within a minute')
    passMinutes(1)
    for (const _ of [1, 2]) await ask(protocol)
    t.equal(state.asked, 2, 'after a minute')
    await install('[core]', 'git.config')
    passMinutes(1)
    for (const _ of [1, 2]) await ask(protocol)
    t.equal(state.asked, 3, 'after a change of the configuration')
  })

  t.test(`version ${version}: an answer begun before an upgrade is not kept`, async (t) => {
    const { path, config } = await aRepository(t)
    const { programs, install } = await upgradableGit(t)
    const passMinutes = advanceableClock(t)
    const other = await aRepository(t)
    other.state.programs = programs
    await config('')
    await other.config('')
    await sleep(SETTLED_MS)
    let runs = 0
    async function* body() {
      yield Buffer.from('0000')
    }
    const ask = async () => {
      runs += 1
      if (runs === 1) {
        await install('a newer git')
        passMinutes(1)
        // The answers of the former git are forgotten before this one ends.
        await other.ask(protocol)
      }
      return { status: 200, body: body() }
    }
    const references = () => undefined
    const request = { git: programs, repositoryPath: path, gitProtocol: protocol, ask, references }
    for (const _ of [1, 2, 3]) await textOf((await advertiseFetch(request)).body)
    t.equal(runs, 2)
  })
}
