/** Clones and fetches of protocol v0 and v1 over SSH end as git's own, through the real sshd. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit, gitEnvironment } from '../../cgi/process/git.js'
import { runToEnd } from '../../cgi/process/run.js'
import type { Person } from '../helpers/gatehouse.js'
import { packetLine } from '../helpers/git-requests.js'
import { countPackCache, untilAllCached } from '../helpers/pack-cache-counts.js'
import { makeRepository, repositoriesIn } from '../helpers/repositories.js'
import { gitProcessesOf, until } from '../helpers/server-processes.js'
import { converseStateful } from '../helpers/ssh-conversation.js'
import { type Caller, type SshGatehouse, startSshGatehouse } from '../helpers/ssh-gatehouse.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import {
  cloneInto,
  commitTimeS,
  newWorkingCopy,
  type WorkingCopy,
  workingCopyAt,
  writeHistory,
} from '../helpers/working-copy.js'

const COMMITS = 30
/** Local commits that the server does not have: git sends them in several rounds. */
const UNKNOWN_COMMITS = 60
/** Their list is longer than the buffer of a pipe. */
const MANY_REFS = isFullSize ? 5_000 : 2_000

interface Library {
  readonly fixture: SshGatehouse
  readonly ada: Person & Caller
  readonly origin: WorkingCopy
  /** Path of the repository on the server. */
  readonly path: string
}

t.test('clones and fetches of protocol v0 and v1 over SSH', async (t) => {
  const fixture = await startSshGatehouse(t, {
    workers: 1,
    environment: {
      GATEHOUSE_MAINTENANCE_ENABLED: 'false',
      GATEHOUSE_GIT_PROCESSES_MAX: '1',
      GATEHOUSE_GIT_QUEUE_TIMEOUT: '1s',
    },
  })
  const ada = await fixture.addPerson('ada')
  const origin = await newWorkingCopy(t)
  await writeHistory(origin, { commits: COMMITS, branches: 2, tags: 2 })
  await origin.git('tag', '-a', '-m', 'annotated', 'annotated', 'main~3')
  await origin.git('config', 'uploadpack.allowFilter', 'true')
  const path = await makeOnDisk(fixture, () => makeRepository(ada, 'library'))
  await origin.git('push', '--quiet', '--mirror', ada.remote('ada/library.git'))
  const library: Library = { fixture, ada, origin, path }
  await advertisements(t, library)
  await clones(t, library)
  await cachedClones(t, library)
  await shallowFetches(t, library)
  await negotiations(t, library)
  await movedRefs(t, library)
})

/** Creates a repository; returns its path on the server. */
async function makeOnDisk({ gatehouse }: SshGatehouse, make: () => Promise<unknown>) {
  const list = () => repositoriesIn(gatehouse.dataDir).catch((): readonly string[] => [])
  const before = await list()
  await make()
  const [path] = (await list()).filter((found) => !before.includes(found))
  if (path === undefined) throw new Error('the repository has no folder')
  return path
}

async function advertisements(t: Test, { fixture, ada, path }: Library): Promise<void> {
  const empty = await makeOnDisk(fixture, () => makeRepository(ada, 'empty'))
  const sha256 = await makeOnDisk(fixture, () =>
    makeRepository(ada, 'sha256', { object_format_name: 'sha256' }),
  )
  const newHash = await newWorkingCopy(t, 'sha256')
  await newHash.commit('file')
  await newHash.git('push', '--quiet', ada.remote('ada/sha256.git'), 'main')
  const large = await makeOnDisk(fixture, () => makeRepository(ada, 'large'))
  const copy = await newWorkingCopy(t)
  const commit = await copy.commit('file')
  const refs = Array.from({ length: MANY_REFS }, (_, at) => `create refs/tags/t${at} ${commit}\n`)
  await copy.try(['update-ref', '--stdin'], { input: refs.join('') })
  // Over HTTP, the client compares each ref with each other one, which takes 20 s.
  const pushed = await copy.try(['push', '--quiet', '--mirror', fixture.remote('ada/large')], ada)
  t.equal(pushed.exitCode, 0, pushed.errorText)

  const repositories = { library: path, empty, sha256, large }
  for (const gitProtocol of ['', 'version=0', 'version=1']) {
    for (const [name, folder] of Object.entries(repositories)) {
      // Without a variable, the version is 0; version 1 is version 0 after one more packet.
      const isTried = gitProtocol === '' || (gitProtocol === 'version=1' && name === 'library')
      if (!isTried && !isFullSize) continue
      await t.test(
        `the refs of ${name} equal git's with GIT_PROTOCOL "${gitProtocol}"`,
        async (t) => {
          const expected = await refsOfGit(folder, gitProtocol)
          t.match(expected, /0000$/)
          for (const source of ['git', 'the cache']) {
            const { exitCode, output, errorText } = await ada.call(
              `git-upload-pack 'ada/${name}'`,
              {
                options: ['-o', 'SendEnv=GIT_PROTOCOL'],
                environment: { GIT_PROTOCOL: gitProtocol },
                input: '0000',
              },
            )
            t.equal(output, expected, `from ${source}`)
            t.equal(exitCode, 0)
            t.equal(errorText, '')
          }
        },
      )
    }
  }
}

/** Returns the bytes that git itself sends to a client that wants nothing. */
async function refsOfGit(folder: string, gitProtocol: string): Promise<string> {
  const git = await findGit()
  const config = [['safe.directory', '*']] as const
  const environment = { ...gitEnvironment(git, { config }), GIT_PROTOCOL: gitProtocol }
  const { exitCode, output, errorText } = await runToEnd(git.file, ['upload-pack', '.'], {
    cwd: folder,
    environment,
    input: '0000',
    timeoutMs: 60_000,
    outputBytesMax: 1_048_576,
  })
  if (exitCode !== 0) throw new Error(errorText)
  return output.toString()
}

const KINDS: Readonly<Record<string, readonly string[]>> = {
  'a complete clone': [],
  'a clone of depth 1': ['--depth=1'],
  'a clone of depth 4 of all branches': ['--depth=4', '--no-single-branch'],
  'a clone since a date': [`--shallow-since=${commitTimeS(COMMITS - 5)}`],
  'a clone that excludes a tag': ['--shallow-exclude=annotated'],
  'a clone without blobs': ['--filter=blob:none', '--no-checkout'],
  'a shallow clone without blobs': ['--filter=blob:none', '--no-checkout', '--depth=3'],
  'a clone of one branch without tags': ['--single-branch', '--branch=branch-1', '--no-tags'],
  'a clone of a tag': ['--single-branch', '--branch=annotated'],
}

/** Clones into a temporary folder; the trace of packets is the error text. */
async function clone(t: Test, caller: Caller, args: readonly string[]) {
  const folder = await temporaryFolder(t)
  const environment = { ...caller.environment, GIT_TRACE_PACKET: '1' }
  const result = await workingCopyAt(folder).try(['-c', 'advice.detachedHead=false', ...args], {
    environment,
  })
  return { ...result, copy: workingCopyAt(join(folder, 'clone')) }
}

/** Clones without a connection; later fetches are from the server. */
async function localClone(
  t: Test,
  { fixture, origin }: Library,
  options: readonly string[] = [],
): Promise<WorkingCopy> {
  const copy = await cloneInto(t, `file://${origin.path}`, ['--quiet', ...options])
  await copy.git('remote', 'set-url', 'origin', fixture.remote('ada/library'))
  return copy
}

async function clones(t: Test, { fixture, ada, origin }: Library): Promise<void> {
  for (const version of [0, 1]) {
    for (const [kind, options] of Object.entries(KINDS)) {
      // Version 1 is version 0 after one more packet.
      if (version === 1 && kind !== 'a complete clone' && !isFullSize) continue
      await t.test(`${kind} with protocol version ${version} ends as git's own`, async (t) => {
        const from = (address: string) =>
          clone(t, ada, [
            '-c',
            `protocol.version=${version}`,
            'clone',
            '--quiet',
            ...options,
            address,
            'clone',
          ])
        const expected = await contentsOf((await from(`file://${origin.path}`)).copy)
        for (const expectedHits of [undefined, /depth|shallow/.test(options.join(' ')) ? 2 : 1]) {
          const before = await countPackCache(fixture.gatehouse)
          const { exitCode, errorText, copy } = await from(fixture.remote('ada/library'))
          // A clone that succeeds has verified that no object is missing.
          t.equal(exitCode, 0, errorText)
          t.equal(/< version (\d)/.exec(errorText)?.[1] ?? '0', String(version))
          if (expectedHits !== undefined || isFullSize) t.same(await contentsOf(copy), expected)
          await untilAllCached(fixture.gatehouse.dataDir)
          const { hit, ...others } = await countPackCache(fixture.gatehouse)
          const { hit: hitBefore, ...othersBefore } = before
          if (expectedHits === undefined) continue
          t.equal(hit - hitBefore, expectedHits, 'the second clone is answered from the cache')
          t.same(others, othersBefore)
        }
      })
    }
  }
}

/** Returns what a clone contains: refs, shallow commits, and objects. */
async function contentsOf(copy: WorkingCopy) {
  const objects = await copy.git('rev-list', '--objects', '--all', '--missing=print')
  return {
    refs: await copy.git('for-each-ref', '--format=%(refname) %(objectname) %(symref)'),
    shallow: existsSync(join(copy.path, '.git/shallow')),
    objects: objects.split('\n').toSorted(),
  }
}

async function cachedClones(t: Test, { fixture, ada }: Library): Promise<void> {
  await t.test('a cached clone succeeds while no git process can start', async (t) => {
    const from = (...options: readonly string[]) =>
      clone(t, ada, [
        '-c',
        'protocol.version=0',
        'clone',
        '--quiet',
        ...options,
        fixture.remote('ada/library'),
        'clone',
      ])
    t.equal((await from('--depth=2')).exitCode, 0)
    await untilAllCached(fixture.gatehouse.dataDir)
    const busy = await converseStateful(fixture, ada, { path: 'ada/library' })
    const head = /^....([0-9a-f]{40}) HEAD/.exec(busy.output())?.[1]
    const have = packetLine(`have ${'1'.repeat(40)}\n`)
    await busy.send(`${packetLine(`want ${head}\n`)}0000${have}0000`, /^0008NAK\n$/)
    t.equal((await gitProcessesOf(fixture.gatehouse.dataDir)).length, 1)
    const cached = await from('--depth=2')
    t.equal(cached.exitCode, 0, cached.errorText)
    const other = await from('--depth=7')
    t.match(other.errorText, /Too many|busy|try again/i, 'a clone that needs git is refused')
    busy.client.kill('SIGKILL')
    await busy.ended
    const left = () => gitProcessesOf(fixture.gatehouse.dataDir)
    t.same(await until(left, (processes) => processes.length === 0, 60_000), [])
  })

  await t.test('clones over HTTP and SSH share answers', async (t) => {
    const from = (address: string, ...options: readonly string[]) =>
      clone(t, ada, ['-c', 'protocol.version=0', 'clone', '-q', ...options, address, 'clone'])
    const http = ada.remote('ada/library.git')
    t.equal((await from(http, '--depth=6')).exitCode, 0)
    await untilAllCached(fixture.gatehouse.dataDir)
    const before = await countPackCache(fixture.gatehouse)
    t.equal((await from(fixture.remote('ada/library'), '--depth=6')).exitCode, 0)
    t.same(await countPackCache(fixture.gatehouse), { ...before, hit: before.hit + 2 })
  })
}

async function shallowFetches(t: Test, library: Library): Promise<void> {
  const { ada, origin } = library
  for (const version of [0, 1]) {
    for (const [option, expected] of [
      ['--unshallow', COMMITS],
      ['--deepen=3', 5],
      ['--depth=9', 9],
      [`--shallow-since=${commitTimeS(COMMITS - 3)}`, 4],
    ] as const) {
      // Version 1 is version 0 after one more packet.
      if (version === 1 && option !== '--unshallow' && !isFullSize) continue
      await t.test(`fetch ${option} with protocol version ${version} succeeds`, async (t) => {
        const use = ['-c', `protocol.version=${version}`]
        const copy = await localClone(t, library, ['--depth=2'])
        // A local commit on the tip is a have line.
        await copy.commit('local')
        const { exitCode, errorText } = await copy.try([...use, 'fetch', '-q', option], ada)
        t.equal(exitCode, 0, errorText)
        t.equal(await copy.git('rev-list', '--count', 'origin/main'), String(expected))
        t.equal(await copy.git('rev-parse', 'origin/main'), await origin.git('rev-parse', 'main'))
      })
    }
  }
}

/**
 * Returns a stream of commits on a branch of their own (git-fast-import(1)). They are the newest
 * ones, which git offers first.
 */
function unknownCommits(base: string): string {
  const nowS = Math.ceil(Date.now() / 1_000)
  return Array.from({ length: UNKNOWN_COMMITS }, (_, at) => {
    const from = at === 0 ? `from ${base}\n` : ''
    const committer = `committer Ada <ada@example.com> ${nowS + at} +0000`
    return `commit refs/heads/unknown\n${committer}\ndata 1\nx\n${from}`
  }).join('')
}

async function negotiations(t: Test, library: Library): Promise<void> {
  const { fixture, ada, origin } = library
  for (const version of [0, 1, 2]) {
    await t.test(
      `a fetch with ${UNKNOWN_COMMITS} unknown commits and protocol version ${version} succeeds`,
      async (t) => {
        const use = ['-c', `protocol.version=${version}`]
        const copy = await localClone(t, library)
        await copy.git('reset', '--quiet', '--hard', 'HEAD~5')
        await copy.try(['fast-import', '--quiet'], {
          input: unknownCommits(await copy.git('rev-parse', 'HEAD')),
        })
        const commit = await origin.commit(`news-${version}`)
        await origin.git('push', '--quiet', ada.remote('ada/library.git'), 'main')
        const environment = { ...ada.environment, GIT_TRACE_PACKET: '1' }
        const { exitCode, errorText } = await copy.try([...use, 'fetch', 'origin', 'main'], {
          environment,
        })
        t.equal(exitCode, 0, errorText)
        const haves = errorText.match(/fetch> have [0-9a-f]{40}/g) ?? []
        const rounds = errorText.match(/fetch> 0000/g) ?? []
        t.ok(haves.length > UNKNOWN_COMMITS, `${haves.length} commits were offered`)
        t.ok(rounds.length > 2, `in ${rounds.length} rounds`)
        t.equal(await copy.git('rev-parse', 'FETCH_HEAD'), commit)
      },
    )
  }

  await t.test('a fetch without common commits gets everything', async (t) => {
    const copy = await newWorkingCopy(t)
    for (const name of ['one', 'two', 'three']) await copy.commit(name)
    const args = ['-c', 'protocol.version=0', 'fetch', '-q', fixture.remote('ada/library'), 'main']
    const { exitCode, errorText } = await copy.try(args, ada)
    t.equal(exitCode, 0, errorText)
    t.equal(await copy.git('rev-parse', 'FETCH_HEAD'), await origin.git('rev-parse', 'main'))
  })
}

async function movedRefs(t: Test, { fixture, ada, origin }: Library): Promise<void> {
  const push = (...refs: readonly string[]) =>
    origin.git('push', '--quiet', '--force', ada.remote('ada/library.git'), ...refs)
  const want = (oid: string, ...more: readonly string[]) =>
    `${[`want ${oid} side-band-64k deepen-not\n`, ...more].map(packetLine).join('')}0000`
  const have = `${packetLine(`have ${'1'.repeat(40)}\n`)}0000`

  for (const [what, rest] of [
    ['a clone', packetLine('done\n')],
    ['a negotiation', have],
  ] as const) {
    await t.test(`${what} of a commit whose branch was deleted meanwhile is refused`, async (t) => {
      await origin.git('checkout', '--quiet', '-B', 'gone', 'main')
      const commit = await origin.commit(`gone-${what}`)
      await push('gone')
      const talk = await converseStateful(fixture, ada, { path: 'ada/library' })
      t.match(talk.output(), commit)
      await push(':gone')
      talk.client.stdin.write(`${want(commit)}${rest}`)
      await talk.ended
      t.ok(talk.output().endsWith(packetLine(`ERR upload-pack: not our ref ${commit}`)))
    })

    await t.test(`${what} whose shallow commits change meanwhile is refused`, async (t) => {
      await push('main~4:refs/tags/edge')
      const head = await origin.git('rev-parse', 'main')
      const talk = await converseStateful(fixture, ada, { path: 'ada/library' })
      const section = await talk.send(want(head, 'deepen-not refs/tags/edge\n'), /0000$/)
      t.match(section, /^0034shallow [0-9a-f]{40}0000$/)
      await push('main~6:refs/tags/edge')
      const before = talk.output()
      talk.client.stdin.write(rest)
      t.equal(await talk.ended, 1)
      t.match(talk.errorText(), 'The repository changed during this fetch. Try again.')
      t.equal(talk.output(), before)
    })
  }
}
