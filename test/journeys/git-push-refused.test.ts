/** Refused pushes: the client prints the reason, and no ref changes. */

import t, { type Test } from 'tap'
import { onOneDatabase } from '../helpers/databases.js'
import { askApi, type Gatehouse, type Person, startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { basic } from '../helpers/literal-http.js'
import {
  changeRepository,
  faultsOnDisk,
  makeRepository,
  repositoriesIn,
} from '../helpers/repositories.js'
import { isFullSize } from '../helpers/test-size.js'
import { incompressible, newWorkingCopy, type WorkingCopy } from '../helpers/working-copy.js'

interface Workspace {
  readonly gatehouse: Gatehouse
  readonly ada: Person
  readonly copy: WorkingCopy
  readonly address: string
}

/** Lists the refs of every repository on the disk, which a refused push must not change. */
async function everyRef(gatehouse: Gatehouse): Promise<readonly string[]> {
  const lists = []
  for (const cwd of [...(await repositoriesIn(gatehouse.dataDir))].sort()) {
    lists.push(await git(['-c', 'safe.directory=*', 'for-each-ref'], { cwd }))
  }
  return lists
}

interface Refusal {
  /** Patterns of the client's output. */
  readonly says: RegExp | readonly RegExp[]
  /** True if some refs of the push may be updated. */
  readonly inPart?: boolean
}

/** Pushes; expects a refusal with this output that changes no ref. */
async function refused(
  t: Test,
  { gatehouse, copy }: Pick<Workspace, 'gatehouse' | 'copy'>,
  args: readonly string[],
  { says, inPart = false }: Refusal,
): Promise<void> {
  const before = await everyRef(gatehouse)
  const { exitCode, errorText } = await copy.try(args)
  t.not(exitCode, 0)
  for (const words of [says].flat()) t.match(errorText, words)
  t.notMatch(errorText, /\/repositories\//, 'the output has no path of the server')
  if (!inPart) t.same(await everyRef(gatehouse), before, 'no ref has changed')
}

// Each query has a test on both databases, in test/sql.
await onOneDatabase(t, 'pushes are refused without effect', async (t, location) => {
  const gatehouse = await startGatehouse(t, {
    location,
    workers: 1,
    environment: { GATEHOUSE_GIT_PUSH_MAX_BYTES: '1MiB' },
  })
  const ada = await gatehouse.addUser('ada')
  await makeRepository(ada, 'work')
  const copy = await newWorkingCopy(t)
  const workspace = { gatehouse, ada, copy, address: ada.remote('ada/work.git') }
  await copy.commit('first')
  await copy.git('push', '--quiet', workspace.address, 'main', 'main:refs/heads/other')
  await copy.commit('second')
  await references(t, workspace)
  await sizes(t, workspace)
  await permissions(t, workspace)
  await states(t, workspace)
  t.same(await faultsOnDisk(gatehouse), [], 'git fsck finds nothing, and no quarantine is left')
})

async function references(t: Test, workspace: Workspace): Promise<void> {
  const { copy, address, gatehouse } = workspace
  await t.test('refs that are neither branches nor tags are refused by git', async (t) => {
    const foreign = [
      'refs/pull/1/head',
      'refs/pull/1/merge',
      'refs/gatehouse/x',
      'refs/notesx',
      'refs/replace/x',
      'refs/for/main',
      'refs/changes/01/1/1',
      'refs/stash',
    ]
    const names = foreign.map((ref) => `main:${ref}`)
    const says = foreign.map(
      (ref) => new RegExp(`remote rejected\\] +main -> ${ref} \\(deny updating a hidden ref\\)`),
    )
    await refused(t, workspace, ['push', address, ...names], { says })
  })

  await t.test('a push of valid and hidden refs updates only the valid ones', async (t) => {
    const args = ['push', address, 'main:refs/heads/good', 'main:refs/pull/2/head']
    await refused(t, workspace, args, { says: /hidden ref/, inPart: true })
    t.not(await copy.git('ls-remote', address, 'refs/heads/good'), '')
  })

  await t.test('an atomic push updates no ref if one of them is refused', async (t) => {
    const args = ['push', '--atomic', address, 'other:refs/heads/better', ':main']
    await copy.git('branch', '--force', 'other', 'main')
    await refused(t, workspace, args, { says: /atomic push failure|transaction failed|atomic/ })
  })

  await t.test('an atomic push of valid refs updates all of them', async (t) => {
    await copy.git('push', '--quiet', '--atomic', address, 'main', 'main:refs/heads/one', ':good')
    t.equal((await copy.git('ls-remote', '--heads', address)).split('\n').length, 3)
  })

  await t.test('deleting the default branch is refused', async (t) => {
    const says = /deletion of the current branch prohibited/
    await refused(t, workspace, ['push', address, ':main'], { says })
  })

  await t.test('a push with push options is refused', async (t) => {
    const option = '--push-option=$(touch /tmp/taken)'
    const says = /does not support push options/
    await refused(t, workspace, ['push', option, address, 'main:refs/heads/optional'], { says })
  })

  await t.test('a tree that would write into .git is refused', async (t) => {
    const evil = await newWorkingCopy(t)
    const blob = (await evil.commit('file')) && (await evil.git('rev-parse', 'HEAD:file'))
    for (const name of isFullSize ? ['.git', '.GIT', 'git~1', '..'] : ['.git', 'git~1']) {
      const tree = await evil.try(['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], {
        input: Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')]),
      })
      const commit = await evil.git('commit-tree', '-m', 'evil', tree.output)
      const args = ['push', address, `${commit}:refs/heads/evil`]
      await refused(t, { gatehouse, copy: evil }, args, { says: /unpacker error|fsck/ })
    }
  })
}

async function permissions(t: Test, workspace: Workspace): Promise<void> {
  const { gatehouse, ada, address } = workspace
  const bob = await gatehouse.addUser('bob')
  const withToken = async (scopes: string) => {
    const { body } = await askApi(gatehouse.port, {
      method: 'POST',
      path: '/users/ada/tokens',
      body: { name: `for ${scopes}`, scopes: scopes.split(',') },
      authorization: basic('ada', ada.password).authorization,
    })
    const { sha1 } = body as { readonly sha1: string }
    return `http://ada:${sha1}@127.0.0.1:${gatehouse.port}/ada/work.git`
  }

  await t.test('a push without credentials is refused, also to a public repository', async (t) => {
    const says = /could not read Username/
    await refused(t, workspace, ['push', `${gatehouse.url}/ada/work.git`, 'main'], { says })
  })

  await t.test('a push with a token without write:repository is refused', async (t) => {
    for (const scopes of ['read:repository', 'write:package,read:repository', 'write:user']) {
      const readOnly = await withToken(scopes)
      await refused(t, workspace, ['push', readOnly, 'main'], { says: /Authentication failed|401/ })
    }
    const writer = await withToken('write:repository')
    await workspace.copy.git('push', '--quiet', writer, 'main:refs/heads/by-token')
  })

  await t.test('a push by a user with read permission is refused with the reason', async (t) => {
    const says = /permission to write/
    await refused(t, workspace, ['push', bob.remote('ada/work.git'), 'main'], { says })
  })

  await t.test('a push with a wrong token or password is refused', async (t) => {
    for (const secret of ['0'.repeat(40), 'guessed', `${ada.token}0`]) {
      const wrong = `http://ada:${secret}@127.0.0.1:${gatehouse.port}/ada/work.git`
      await refused(t, workspace, ['push', wrong, 'main'], { says: /Authentication failed/ })
    }
  })

  await t.test('a push to a missing repository is refused', async (t) => {
    const nowhere = address.replace('work.git', 'nowhere.git')
    await refused(t, workspace, ['push', nowhere, 'main'], { says: /not found/ })
  })
}

async function states(t: Test, workspace: Workspace): Promise<void> {
  const { ada, copy, address } = workspace

  await t.test('a push to an archived repository is refused with the reason', async (t) => {
    await changeRepository(ada, 'ada/work', { archived: true })
    const says = /remote: ada\/work is archived: it can be read, not pushed to\./
    await refused(t, workspace, ['push', address, 'main:refs/heads/late'], { says })
    t.not(await copy.git('ls-remote', address), '')
    await changeRepository(ada, 'ada/work', { archived: false })
    await copy.git('push', '--quiet', address, 'main:refs/heads/late')
  })

  await t.test('a push of an unrelated history is refused until it is merged', async (t) => {
    await makeRepository(ada, 'begun', { auto_init: true })
    const begun = ada.remote('ada/begun.git')
    await refused(t, workspace, ['push', begun, 'main'], { says: /rejected\].*\(fetch first\)/ })
    await copy.git(
      'pull',
      '--quiet',
      '--no-rebase',
      '--allow-unrelated-histories',
      '--no-edit',
      begun,
      'main',
    )
    await copy.git('push', '--quiet', begun, 'main')
    t.match(await copy.git('show', 'main:README.md'), /begun/)
  })
}

async function sizes(t: Test, { gatehouse, ada }: Workspace): Promise<void> {
  await t.test('a push above the size limit is refused with the reason', async (t) => {
    await makeRepository(ada, 'small')
    const address = ada.remote('ada/small.git')
    const copy = await newWorkingCopy(t)
    await copy.commit('fits', incompressible(500_000))
    await copy.git('push', '--quiet', address, 'main')
    await copy.commit('too-large', incompressible(3_000_000))
    const says = /pack exceeds maximum allowed size/
    const large = ['-c', 'http.postBuffer=10000000', 'push', address, 'main']
    await refused(t, { gatehouse, copy }, ['push', address, 'main'], { says })
    await refused(t, { gatehouse, copy }, large, { says })
  })
}
