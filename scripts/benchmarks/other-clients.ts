/** Clones by a newer git and by clients that are not git, compared with nginx and git. */

import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Servers } from './beside-git.js'
import { INTO, measureOperation, type Operation } from './client-operations.js'
import type { Comparison } from './compare.js'
import { buildGoGit, type GitLibrary, JGIT, LIBGIT2 } from './git-libraries.js'
import { addCommit, fillRepository, SMALL_SHAPE } from './repositories.js'
import type { Table } from './table.js'
import { type Command, runAsUser, runGitAsUser } from './user-git.js'

const NEWER_GIT = fileURLToPath(
  new URL('../../../.programs/newer-git/usr/bin/git', import.meta.url),
)
const NEWER_CLONE = [NEWER_GIT, 'clone', '--quiet', '--bare'] as const

/** Measures what the clients have in common. Each clone is compared with the tip. */
export async function measureOtherClients(setup: Servers): Promise<Table> {
  const { gatehouse, git, folder, signal } = setup
  const name = 'text-of-others'
  const { path } = await gatehouse.makeRepository(name)
  await fillRepository(path, SMALL_SHAPE, signal)
  await git.addRepository(name, path)
  const kept = join(folder, 'kept-by-others')
  await runGitAsUser(['clone', '--quiet', '--bare', path, kept], { cwd: folder, signal })
  await addCommit(path, signal)
  const tip = (await runGitAsUser(['rev-parse', 'main'], { cwd: path, signal })).trim()
  const rows: Array<readonly [string, Comparison]> = []
  for (const operation of operationsOf(await buildGoGit(folder, signal), { kept, tip })) {
    rows.push(await measureOperation(setup, name, operation))
  }
  const versions = await Promise.all([
    runAsUser([NEWER_GIT, '--version'], { cwd: folder, signal }),
    runAsUser(['python3', '-c', VERSION_OF_LIBGIT2], { cwd: folder, signal }),
    runAsUser(['dpkg-query', '--show', 'jgit-cli', GO_GIT_PACKAGE], { cwd: folder, signal }),
  ])
  return {
    title: 'Text, 10 MB: other clients, one after the other',
    peers: ['nginx + git'],
    unit: 'operations',
    rows,
    notes: versions.map((text) => text.trim().replaceAll(/\s+/g, ' ')),
  }
}

const VERSION_OF_LIBGIT2 = "import pygit2; print('libgit2', pygit2.LIBGIT2_VERSION)"
const GO_GIT_PACKAGE = 'golang-github-go-git-go-git-dev'

function operationsOf(
  goGit: GitLibrary,
  { kept, tip }: { readonly kept: string; readonly tip: string },
): readonly Operation[] {
  const clone = (label: string, command: (url: string) => Command): Operation => {
    return { label, count: 4, command, tip }
  }
  const list = (label: string, command: (url: string) => Command): Operation => {
    return { label, count: 10, command }
  }
  const toMain = '+refs/heads/main:refs/heads/main'
  return [
    clone('newer git: clone, depth 1', (url) => [...NEWER_CLONE, '--depth=1', url, INTO]),
    clone('newer git: clone', (url) => [...NEWER_CLONE, url, INTO]),
    {
      label: 'newer git: fetch into a kept workspace',
      count: 10,
      workspace: kept,
      command: (url) => [NEWER_GIT, 'fetch', '--quiet', url, toMain],
    },
    ...[goGit, LIBGIT2, JGIT].flatMap((library) => {
      const { name, shallowClone } = library
      return [
        list(`${name}: list of refs`, library.list),
        ...(shallowClone
          ? [clone(`${name}: clone, depth 1`, (url) => shallowClone(url, INTO))]
          : []),
        clone(`${name}: clone`, (url) => library.clone(url, INTO)),
      ]
    }),
  ]
}
