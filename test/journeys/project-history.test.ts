/** The project's own history, pushed and cloned back byte for byte, also after a restart. */

import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { forEachDatabase, freshLocation } from '../helpers/databases.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { tryGit } from '../helpers/git-client.js'
import { faultsOnDisk, makeRepository, repositoriesIn } from '../helpers/repositories.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'
import { cloneInto, type WorkingCopy, workingCopyAt } from '../helpers/working-copy.js'

const PROJECT = fileURLToPath(new URL('../../../', import.meta.url))

/** Options for git because the checkout may belong to another user than the tests' one. */
const ANY_OWNER = ['-c', 'safe.directory=*']

/** Commits of the history that is pushed, from the first one on. */
const COMMITS_MAX = isFullSize ? Number.POSITIVE_INFINITY : 150

/**
 * Creates a bare repository with the history of the checkout on main. If the checkout is shallow or
 * no repository, as on some test machines, main is one commit with its files instead.
 */
async function projectHistory(t: Test): Promise<WorkingCopy> {
  const source = workingCopyAt(await temporaryFolder(t))
  await source.git('init', '--quiet', '--bare', '-b', 'main')
  const shallow = ['rev-parse', '--is-shallow-repository']
  const { output } = await tryGit([...ANY_OWNER, ...shallow], { cwd: PROJECT })
  if (output === 'false') {
    const project = workingCopyAt(PROJECT)
    const commits = (await project.git(...ANY_OWNER, 'rev-list', '--reverse', 'HEAD')).split('\n')
    const tip = commits[Math.min(COMMITS_MAX, commits.length) - 1]
    await project.git(...ANY_OWNER, 'push', '--quiet', source.path, `${tip}:refs/heads/main`)
    return source
  }
  const files = ['--git-dir', source.path, '--work-tree', PROJECT]
  await workingCopyAt(PROJECT).git(...files, '-c', 'core.bare=false', 'add', '--all')
  const tree = await source.git('write-tree')
  const commit = await source.git('commit-tree', '-m', 'Everything', tree)
  await source.git('update-ref', 'refs/heads/main', commit)
  return source
}

interface Contents {
  readonly refs: string
  /** Reachable objects with their paths. */
  readonly reachable: string
  /** Id, type and size of every object. The id is a digest of the bytes. */
  readonly objects: string
}

async function contentsOf(copy: WorkingCopy): Promise<Contents> {
  const refs = await copy.git('for-each-ref', '--format=%(objectname) %(refname)')
  const reachable = await copy.git('rev-list', '--objects', '--all')
  const objects = await copy.git('cat-file', '--batch-all-objects', '--batch-check')
  return { refs, reachable, objects }
}

// The bytes of a repository do not depend on the database.
if (isFullSize) await forEachDatabase(t, "the project's history is stored unchanged", keepHistory)
else {
  await t.test("the project's history is stored unchanged", async (t) => {
    await keepHistory(t, await freshLocation(t, 'sqlite'))
  })
}

async function keepHistory(t: Test, location: DatabaseLocation): Promise<void> {
  const gatehouse = await startGatehouse(t, { location, workers: 1 })
  const ada = await gatehouse.addUser('ada')
  const repository = await makeRepository(ada, 'gatehouse')
  const source = await projectHistory(t)
  const wanted = await contentsOf(source)
  const address = ada.remote(`${repository}.git`)

  await t.test('the pushed repository has the same refs and objects', async (t) => {
    await source.git('push', '--quiet', '--mirror', address)
    const [path = ''] = await repositoriesIn(gatehouse.dataDir)
    t.strictSame(await contentsOf(workingCopyAt(path)), wanted)
  })

  await t.test('a clone after a restart has the same refs, objects and bytes', async (t) => {
    t.equal(await gatehouse.stop('SIGTERM'), 0)
    await gatehouse.start()
    t.strictSame(await contentsOf(await cloneInto(t, address, ['--mirror'])), wanted)
    t.same(await faultsOnDisk(gatehouse), [], 'git fsck verifies the id of each object')
  })

  await t.test('a clone has the same files, and its commit is in the next clone', async (t) => {
    const copy = await cloneInto(t, address)
    const tree = await copy.git('rev-parse', 'HEAD^{tree}')
    t.equal(tree, await source.git('rev-parse', 'main^{tree}'))
    t.equal(await copy.git('status', '--porcelain'), '')
    const commit = await copy.commit('one-more')
    await copy.git('push', '--quiet', 'origin', 'main')
    const other = await cloneInto(t, address, ['--depth=1'])
    t.equal(await other.git('rev-parse', 'HEAD'), commit)
  })
}
