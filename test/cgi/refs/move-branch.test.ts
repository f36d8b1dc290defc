/** Branches are moved as `git update-ref` moves them, or left to git without any change. */

import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { tryToMoveBranch } from '../../../cgi/refs/move-branch.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import { git } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const ours = await findGit()
const MAIN = 'refs/heads/main'

/** Creates a repository whose branches main and `deep/er` are at the first of three commits. */
async function scene(t: Test, objectFormat: 'sha1' | 'sha256' = 'sha1') {
  const path = join(await temporaryFolder(t), 'x.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat })
  const run = (...args: readonly string[]) => git(args, { cwd: path })
  const tree = await run('mktree')
  const commit = (message: string) => run('commit-tree', tree, '-m', message)
  const [one, two, three] = [await commit('one'), await commit('two'), await commit('three')]
  for (const name of ['main', 'deep/er']) await run('update-ref', `refs/heads/${name}`, one)
  return {
    path,
    run,
    one,
    two,
    three,
    move: (name: string, before: string, after: string) =>
      tryToMoveBranch(path, { name, before, after }),
    all: async () => (await run('for-each-ref', '--format=%(refname) %(objectname)')).split('\n'),
  }
}

for (const format of ['sha1', 'sha256'] as const) {
  t.test(`a branch in a file of its own, or in packed-refs, is moved: ${format}`, async (t) => {
    const { path, run, one, two, three, move, all } = await scene(t, format)
    t.equal(await move(MAIN, one, two), true)
    t.equal(await readFile(join(path, MAIN), 'utf8'), `${two}\n`, 'in the form of git')
    await run('pack-refs', '--all')
    t.notOk(existsSync(join(path, MAIN)))
    t.equal(await move(MAIN, two, three), true)
    t.strictSame(await all(), [`refs/heads/deep/er ${one}`, `${MAIN} ${three}`])
    await run('update-ref', MAIN, one, three)
    t.equal(await move(MAIN, one, two), true, 'after a move by git')
    t.strictSame(await readdir(join(path, 'refs/heads')), ['main'], 'no lock is left')
  })
}

interface Case {
  readonly name?: string
  readonly prepare?: (path: string, run: (...args: string[]) => Promise<string>) => Promise<unknown>
}

const LEFT_TO_GIT: Readonly<Record<string, Case>> = {
  'the branch is elsewhere': {
    prepare: async (_, run) => run('update-ref', MAIN, 'refs/tags/three'),
  },
  'the branch is missing': { name: 'refs/heads/none' },
  'the branch is a symbolic ref': {
    prepare: (_, run) => run('symbolic-ref', MAIN, 'refs/heads/deep/er'),
  },
  'another process has the lock': {
    prepare: (path) => writeFile(join(path, `${MAIN}.lock`), 'of another process'),
  },
  'the repository has reflogs': {
    prepare: (path) => mkdir(join(path, 'logs')),
  },
  'the repository has a setting of its own': {
    prepare: (_, run) => run('config', 'core.sharedRepository', 'group'),
  },
  'the repository has grafts': {
    prepare: (path) => writeFile(join(path, 'shallow'), '1'.repeat(40)),
  },
  'an empty folder has the name of the packed branch': {
    prepare: async (path, run) => {
      await run('pack-refs', '--all')
      await mkdir(join(path, MAIN))
    },
  },
  'the folder of the packed branch is missing': {
    name: 'refs/heads/deep/er',
    prepare: (_, run) => run('pack-refs', '--all'),
  },
  'there is no repository': { prepare: (path) => rm(path, { recursive: true }) },
}

for (const [reason, { name = MAIN, prepare }] of Object.entries(LEFT_TO_GIT)) {
  t.test(`a move is left to git if ${reason}`, async (t) => {
    const { path, run, one, two, three, move, all } = await scene(t)
    await run('update-ref', 'refs/tags/three', three)
    await prepare?.(path, run)
    const isThere = existsSync(path)
    const before = isThere ? await all() : []
    const locks = isThere ? await readdir(join(path, 'refs/heads')) : []
    t.equal(await move(name, one, two), false)
    if (!isThere) return
    t.strictSame(await all(), before)
    t.strictSame(await readdir(join(path, 'refs/heads')), locks, 'no lock is left or taken away')
  })
}

t.test('of many concurrent moves from the same commit exactly one succeeds', async (t) => {
  const { path, one, two, three, move } = await scene(t)
  const moves = Array.from({ length: 20 }, (_, at) => move(MAIN, one, at % 2 ? two : three))
  const results = await Promise.all(moves)
  t.equal(results.filter(Boolean).length, 1)
  t.equal(await readFile(join(path, MAIN), 'utf8'), `${results.indexOf(true) % 2 ? two : three}\n`)
})

t.test('of concurrent moves here and by git exactly one succeeds', async (t) => {
  const { run, one, two, three, move } = await scene(t)
  for (let round = 0; round < 10; round += 1) {
    await run('update-ref', MAIN, one)
    const byGit = run('update-ref', MAIN, three, one).then(
      () => true,
      () => false,
    )
    const [here, there] = await Promise.all([move(MAIN, one, two), byGit])
    t.equal([here, there].filter(Boolean).length, 1, `round ${round}`)
    t.equal(await run('rev-parse', MAIN), here ? two : three)
  }
})
