/** Clients that are not git clone from the cache, fetch and push: go-git, JGit and libgit2. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import {
  buildGoGit,
  type GitLibrary,
  JGIT,
  LIBGIT2,
} from '../../scripts/benchmarks/git-libraries.js'
import { type Command, runAsUser } from '../../scripts/benchmarks/user-git.js'
import { startGatehouse } from '../helpers/gatehouse.js'
import { git } from '../helpers/git-client.js'
import { countOutcomes } from '../helpers/pack-cache-counts.js'
import { makeRepository } from '../helpers/repositories.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { newWorkingCopy } from '../helpers/working-copy.js'

const { signal } = new AbortController()
const gatehouse = await startGatehouse(t)
const ada = await gatehouse.addUser('ada')
const folder = await temporaryFolder(t)

for (const library of [await buildGoGit(folder, signal), LIBGIT2, JGIT]) {
  t.test(`${library.name} clones from the cache, fetches and pushes`, async (t) => {
    const { name } = library
    const own = join(folder, `clones-of-${name}`)
    await mkdir(own)
    const environment = { HOME: own, JAVA_TOOL_OPTIONS: `-Duser.home=${own}` }
    await writeFile(join(own, '.netrc'), `machine 127.0.0.1 login ada password ${ada.token}\n`)
    const run = (command: Command) => runAsUser(command, { cwd: own, signal, environment })
    const remote = ada.remote(
      `${await makeRepository(ada, name.toLowerCase(), { private: true })}.git`,
    )
    const copy = await newWorkingCopy(t)
    for (const file of ['one', 'docs/two', 'three']) {
      await mkdir(join(copy.path, 'docs'), { recursive: true })
      await copy.commit(file)
    }
    await copy.git('tag', '-m', 'First', 'v1')
    await copy.git('push', '--quiet', remote, 'main', 'v1')
    await run(library.list(remote))

    for (const [depth, clone] of Object.entries(clonesOf(library))) {
      for (const [state, expected] of [
        ['cold', { hit: 0, miss: 1, bypass: 0 }],
        ['warm', { hit: 1, miss: 0, bypass: 0 }],
      ] as const) {
        const into = join(own, `${depth} ${state}`)
        const found = await countOutcomes(
          gatehouse,
          async () => void (await run(clone(remote, into))),
        )
        t.strictSame(found, expected, `${depth}, ${state}`)
        t.equal(await tipOf(into, 'main'), await tipOf(copy.path, 'main'), 'the tip')
        await git(['fsck', '--strict'], { cwd: into })
      }
    }

    const kept = join(own, 'whole warm')
    await copy.commit('four')
    await copy.git('push', '--quiet', remote, 'main')
    await run(library.fetch(kept))
    const tip = await tipOf(copy.path, 'main')
    t.equal(await git(['cat-file', '-t', tip], { cwd: kept }), 'commit', 'fetched')

    const tree = await git(['rev-parse', `${tip}^{tree}`], { cwd: kept })
    const pushed = await git(['commit-tree', '-p', tip, '-m', `By ${name}`, tree], { cwd: kept })
    await git(['update-ref', 'refs/heads/topic', pushed], { cwd: kept })
    await run(library.push(kept))
    t.equal(
      (await git(['ls-remote', remote, 'topic'], { cwd: own })).split('\t')[0],
      pushed,
      'pushed',
    )
  })
}

function clonesOf({ clone, shallowClone }: GitLibrary): Readonly<Record<string, typeof clone>> {
  return { whole: clone, ...(shallowClone === undefined ? {} : { 'depth 1': shallowClone }) }
}

function tipOf(cwd: string, branch: string): Promise<string> {
  return git(['rev-parse', `refs/heads/${branch}`], { cwd })
}
