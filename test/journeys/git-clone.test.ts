/** Clones and fetches of every kind, with the real git. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { onOneDatabase } from '../helpers/databases.js'
import { type Person, startGatehouse } from '../helpers/gatehouse.js'
import { changeRepository, makeRepository } from '../helpers/repositories.js'
import { temporaryFolder } from '../helpers/temporary.js'
import {
  COMMIT_EVERY_S,
  cloneInto,
  commitTimeS,
  incompressible,
  newWorkingCopy,
  tryClone,
  type WorkingCopy,
  workingCopyAt,
  writeHistory,
} from '../helpers/working-copy.js'

const COMMITS = 40
const BIG_FILE_BYTES = 200_000

interface Library {
  readonly ada: Person
  readonly origin: WorkingCopy
  /** URL of the repository, without credentials. */
  readonly address: string
}

async function countCommits(copy: WorkingCopy, ...args: readonly string[]): Promise<number> {
  return Number(await copy.git('rev-list', '--count', ...(args.length > 0 ? args : ['HEAD'])))
}

/** Returns the number of objects that a partial clone references and does not have. */
async function missingObjects(copy: WorkingCopy): Promise<number> {
  const objects = await copy.git('rev-list', '--objects', '--all', '--missing=print')
  return objects.split('\n').filter((line) => line.startsWith('?')).length
}

async function refsOf(copy: WorkingCopy): Promise<string> {
  return copy.git('for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/tags')
}

// Each query has a test on both databases, in test/sql.
await onOneDatabase(t, 'clones and fetches succeed', async (t, location) => {
  const gatehouse = await startGatehouse(t, { location, workers: 1 })
  const ada = await gatehouse.addUser('ada')
  const repository = await makeRepository(ada, 'library')
  const origin = await newWorkingCopy(t)
  await writeHistory(origin, { commits: COMMITS, branches: 3, tags: 2 })
  await origin.commit('big.bin', incompressible(BIG_FILE_BYTES))
  await origin.git('tag', '-a', 'release', '-m', 'Release')
  await origin.git('remote', 'add', 'origin', ada.remote(`${repository}.git`))
  await origin.git('push', '--quiet', '--mirror', 'origin')
  const library: Library = { ada, origin, address: `${gatehouse.url}/${repository}.git` }

  await otherAddresses(t, library)
  await protocols(t, library)
  await shallowClones(t, library)
  await partialClones(t, library)
  await kindsOfClones(t, library)
  await laterFetches(t, library)
  await listings(t, library)
  await emptyRepositories(t, library)
  await manyWants(t, library)
})

async function protocols(t: Test, { origin, address }: Library): Promise<void> {
  for (const version of ['0', '1', '2']) {
    await t.test(`a clone with protocol version ${version} is complete`, async (t) => {
      const folder = await temporaryFolder(t)
      const { exitCode, errorText } = await workingCopyAt(folder).try(
        ['-c', `protocol.version=${version}`, 'clone', address, 'clone'],
        { environment: { GIT_TRACE_PACKET: '1' } },
      )
      t.equal(exitCode, 0)
      const usedVersion = /< version (\d)/.exec(errorText)?.[1] ?? '0'
      t.equal(usedVersion, version)
      const copy = workingCopyAt(join(folder, 'clone'))
      t.equal(await copy.git('rev-parse', 'HEAD'), await origin.git('rev-parse', 'main'))
      t.equal(await countCommits(copy, '--all'), await countCommits(origin, '--all'))
      t.equal(await copy.git('fsck', '--full', '--no-progress'), '')
    })
  }
}

async function shallowClones(t: Test, { origin, address }: Library): Promise<void> {
  for (const version of ['0', '2']) {
    await t.test(`a shallow clone can be completed (version ${version})`, async (t) => {
      const protocol = `--config=protocol.version=${version}`
      const copy = await cloneInto(t, address, [protocol, '--depth=1', '--no-single-branch'])
      t.equal(await countCommits(copy), 1)
      await copy.git('fetch', '--quiet', '--deepen=4')
      t.equal(await countCommits(copy), 5)
      await copy.git('fetch', '--quiet', '--depth=2')
      t.equal(await countCommits(copy), 2, 'a smaller depth makes the clone shallower')
      await copy.git('fetch', '--quiet', '--unshallow')
      t.equal(await countCommits(copy), await countCommits(origin))
      t.equal(await copy.git('rev-parse', '--is-shallow-repository'), 'false')
    })
  }

  await t.test('--shallow-since and --shallow-exclude cut the history', async (t) => {
    const since = commitTimeS(COMMITS - 4) - COMMIT_EVERY_S / 2
    const recent = await cloneInto(t, address, [`--shallow-since=${since}`])
    t.equal(await countCommits(recent), 6, 'five commits of the history and the latest one')
    const sinceTag = await cloneInto(t, address, ['--shallow-exclude=tag-1'])
    t.equal(await countCommits(sinceTag), 1)
  })
}

async function partialClones(t: Test, { origin, address }: Library): Promise<void> {
  const blobs = COMMITS + 3 + 2 + 1

  await t.test('a clone without blobs fetches the blobs of a checkout', async (t) => {
    const copy = await cloneInto(t, address, ['--filter=blob:none', '--no-checkout'])
    t.equal(await missingObjects(copy), blobs)
    await copy.git('checkout', '--quiet', 'main')
    t.same(await readFile(join(copy.path, 'big.bin')), await readFile(join(origin.path, 'big.bin')))
    t.equal(await missingObjects(copy), 5, 'blobs of other branches and tags are not fetched')
    await copy.git('fetch', '--quiet')
  })

  await t.test('a clone without large blobs has the small ones', async (t) => {
    const copy = await cloneInto(t, address, ['--filter=blob:limit=1k', '--no-checkout'])
    t.equal(await missingObjects(copy), 1)
  })

  await t.test('a clone without trees fetches them on checkout', async (t) => {
    const copy = await cloneInto(t, address, ['--filter=tree:0', '--no-checkout'])
    t.equal(await countCommits(copy), COMMITS + 1)
    t.ok((await missingObjects(copy)) > 0)
    await copy.git('checkout', '--quiet', 'main')
    t.equal(
      await copy.git('rev-parse', 'HEAD^{tree}'),
      await origin.git('rev-parse', 'main^{tree}'),
    )
  })

  await t.test('the filter sparse:oid is refused with a message', async (t) => {
    const { exitCode, errorText } = await tryClone(t, address, ['--filter=sparse:oid=main:file-1'])
    t.not(exitCode, 0)
    t.match(errorText, /filter 'sparse:oid' not supported/)
  })
}

async function kindsOfClones(t: Test, { origin, address }: Library): Promise<void> {
  await t.test('a clone of a single branch has only this branch', async (t) => {
    const copy = await cloneInto(t, address, ['--single-branch', '--branch=branch-2', '--no-tags'])
    const refs = await copy.git('for-each-ref', '--format=%(refname)')
    t.same(refs.split('\n'), ['refs/heads/branch-2', 'refs/remotes/origin/branch-2'])
    t.equal(await copy.git('rev-parse', 'HEAD'), await origin.git('rev-parse', 'branch-2'))
  })

  await t.test('a mirror clone has exactly the branches and tags', async (t) => {
    const copy = await cloneInto(t, address, ['--mirror'])
    t.equal(
      await copy.git('for-each-ref'),
      await origin.git('for-each-ref', 'refs/heads', 'refs/tags'),
    )
    t.equal(await refsOf(copy), await refsOf(origin))
  })
}

async function laterFetches(t: Test, { origin, address }: Library): Promise<void> {
  await t.test('a fetch gets new commits and branches, and prunes deleted ones', async (t) => {
    const copy = await cloneInto(t, address)
    const newCommit = await origin.commit('news')
    await origin.git('push', '--quiet', 'origin', 'main', 'main:refs/heads/passing')
    await copy.git('fetch', '--quiet')
    t.equal(await copy.git('rev-parse', 'origin/main'), newCommit)
    t.equal(await copy.git('rev-parse', 'origin/passing'), newCommit)
    await copy.git('pull', '--quiet', '--ff-only')
    t.equal(await copy.git('rev-parse', 'HEAD'), newCommit)
    await origin.git('push', '--quiet', 'origin', ':passing')
    await copy.git('fetch', '--quiet', '--prune')
    t.notMatch(await copy.git('branch', '--remotes'), /passing/)
  })
}

async function listings(t: Test, { origin, address }: Library): Promise<void> {
  await t.test('ls-remote lists HEAD, branches, tags and peeled tags', async (t) => {
    const listed = await origin.git('ls-remote', '--symref', address)
    const lines = new Set(listed.split('\n'))
    t.ok(lines.has('ref: refs/heads/main\tHEAD'))
    t.ok(lines.has(`${await origin.git('rev-parse', 'main')}\trefs/heads/main`))
    t.ok(lines.has(`${await origin.git('rev-parse', 'release')}\trefs/tags/release`))
    t.ok(lines.has(`${await origin.git('rev-parse', 'release^{}')}\trefs/tags/release^{}`))
    t.equal(await origin.git('ls-remote', '--heads', address, 'no-such-branch'), '')
  })
}

async function emptyRepositories(t: Test, { ada, address }: Library): Promise<void> {
  const server = new URL(address).origin
  for (const version of ['0', '1', '2']) {
    await t.test(`an empty repository clones with a warning (version ${version})`, async (t) => {
      const repository = await makeRepository(ada, `empty-${version}`, { default_branch: 'trunk' })
      const folder = workingCopyAt(await temporaryFolder(t))
      const { exitCode, errorText } = await folder.try([
        '-c',
        `protocol.version=${version}`,
        'clone',
        `${server}/${repository}.git`,
        'clone',
      ])
      t.equal(exitCode, 0)
      t.match(errorText, /warning: You appear to have cloned an empty repository\./)
      if (version !== '2') return
      const head = workingCopyAt(join(folder.path, 'clone')).git('symbolic-ref', 'HEAD')
      t.equal(await head, 'refs/heads/trunk', "the clone has the repository's default branch")
    })
  }

  await t.test('a repository with SHA-256 objects is cloned', async (t) => {
    const repository = await makeRepository(ada, 'new-hash', { object_format_name: 'sha256' })
    const source = await newWorkingCopy(t, 'sha256')
    const commit = await source.commit('file')
    await source.git('push', '--quiet', ada.remote(`${repository}.git`), 'main')
    const copy = await cloneInto(t, `${server}/${repository}.git`)
    t.equal(commit.length, 64)
    t.equal(await copy.git('rev-parse', 'HEAD'), commit)
  })
}

async function otherAddresses(t: Test, { ada, origin, address }: Library): Promise<void> {
  const server = new URL(address).origin
  const head = await origin.git('rev-parse', 'main')
  const headAt = async (path: string) =>
    (await origin.git('ls-remote', `${server}/${path}`, 'HEAD')).split('\t')[0]

  await t.test('URLs without .git and with a trailing slash work', async (t) => {
    for (const path of ['ada/library', 'ada/library/', 'ada/library.git/']) {
      t.equal(await headAt(path), head, path)
    }
  })

  await t.test('a URL in another letter case is redirected to the canonical one', async (t) => {
    const folder = workingCopyAt(await temporaryFolder(t))
    for (const path of ['ADA/Library.git', 'Ada/library']) {
      const { exitCode, errorText } = await folder.try(['ls-remote', `${server}/${path}`])
      t.equal(exitCode, 0, errorText)
      t.match(errorText, `redirecting to ${server}/ada/library.git/`)
    }
    const copy = await cloneInto(t, `${server}/ADA/LIBRARY.git`)
    t.equal(await copy.git('rev-parse', 'HEAD'), head)
  })

  await t.test('a renamed repository is found at its old URL until its reuse', async (t) => {
    await makeRepository(ada, 'before')
    await origin.git('push', '--quiet', ada.remote('ada/before.git'), 'main')
    await changeRepository(ada, 'ada/before', { name: 'after' })
    t.equal(await headAt('ada/before.git'), head)
    t.equal(await headAt('ada/after.git'), head)
    await makeRepository(ada, 'before')
    const { errorText } = await tryClone(t, `${server}/ada/before.git`)
    t.match(errorText, /empty repository/, 'a new repository takes the old name')
  })

  await t.test('a repository is found at the URL with the former name of its owner', async (t) => {
    t.equal((await ada.api('POST', '/orgs', { username: 'former' })).status, 201)
    t.equal((await ada.api('POST', '/orgs/former/repos', { name: 'tool' })).status, 201)
    await origin.git('push', '--quiet', ada.remote('former/tool.git'), 'main')
    const renamed = await ada.api('POST', '/orgs/former/rename', { new_name: 'present' })
    t.equal(renamed.status, 204)
    for (const owner of ['former', 'present']) {
      t.equal(await headAt(`${owner}/tool.git`), head, owner)
    }
  })
}

async function manyWants(t: Test, { ada, address }: Library): Promise<void> {
  const server = new URL(address).origin

  await t.test('the wants of 450 branches are sent compressed', async (t) => {
    const many = await newWorkingCopy(t)
    await writeHistory(many, { commits: 3, branches: 450 })
    await makeRepository(ada, 'many')
    await many.git('push', '--quiet', '--mirror', ada.remote('ada/many.git'))
    const folder = workingCopyAt(await temporaryFolder(t))
    const { exitCode, errorText } = await folder.try(
      ['-c', 'protocol.version=0', 'clone', `${server}/ada/many.git`, 'clone'],
      { environment: { GIT_TRACE_CURL: '1' } },
    )
    t.equal(exitCode, 0)
    t.ok(
      /=> Send header: Content-Encoding: gzip/i.test(errorText),
      'git compresses the request with protocol version 0',
    )
    const copy = workingCopyAt(join(folder.path, 'clone'))
    t.equal((await copy.git('branch', '--remotes')).split('\n').length, 452)
    await many.git('checkout', '--quiet', 'branch-450')
    const commit = await many.commit('news')
    await many.git('push', '--quiet', ada.remote('ada/many.git'), 'branch-450')
    await copy.git('fetch', '--quiet')
    t.equal(await copy.git('rev-parse', 'origin/branch-450'), commit)
  })
}
