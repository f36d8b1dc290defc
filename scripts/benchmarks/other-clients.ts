/** Clones by a newer git and by clients that are not git, compared with nginx and git. */

import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Servers } from './beside-git.js'
import { INTO, measureOperation, type Operation } from './client-operations.js'
import type { Comparison } from './compare.js'
import { addCommit, fillRepository, SMALL_SHAPE } from './repositories.js'
import type { Table } from './table.js'
import { type Command, runAsUser, runGitAsUser } from './user-git.js'

const NEWER_GIT = fileURLToPath(
  new URL('../../../.programs/newer-git/usr/bin/git', import.meta.url),
)
const NEWER_CLONE = [NEWER_GIT, 'clone', '--quiet', '--bare'] as const
const GO_GIT_SOURCE = fileURLToPath(
  new URL('../../../scripts/benchmarks/go-git-client/main.go', import.meta.url),
)

/** Clones or lists refs with libgit2, whose version in Debian 12 has no shallow clones. */
const LIBGIT2 = `
import pygit2, sys
operation, url, *into = sys.argv[1:]
if operation == 'clone':
    pygit2.clone_repository(url, into[0], bare=True)
else:
    pygit2.init_repository('.', bare=True).remotes.create('origin', url).ls_remotes()
`

/** Archives of JGit's command line. Debian's `jgit` names too few of them, and does not start. */
const JGIT_ARCHIVES = [
  'org.eclipse.jgit.pgm',
  'org.eclipse.jgit.lfs',
  'org.eclipse.jgit.http.apache',
  'httpclient',
  'httpcore',
  'commons-logging',
  'commons-codec',
].map((name) => `/usr/share/java/${name}.jar`)
const JGIT = ['java', '-cp', JGIT_ARCHIVES.join(':'), 'org.eclipse.jgit.pgm.Main'] as const

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
  for (const operation of operationsOf(await buildGoGit(setup), { kept, tip })) {
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
  goGit: string,
  { kept, tip }: { readonly kept: string; readonly tip: string },
): readonly Operation[] {
  const clone = (label: string, command: (url: string) => Command): Operation => {
    return { label, count: 4, command, tip }
  }
  const list = (label: string, command: (url: string) => Command): Operation => {
    return { label, count: 10, command }
  }
  const libgit2 = ['python3', '-c', LIBGIT2] as const
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
    list('go-git: list of refs', (url) => [goGit, 'ls-remote', url]),
    clone('go-git: clone, depth 1', (url) => [goGit, 'shallow-clone', url, INTO]),
    clone('go-git: clone', (url) => [goGit, 'clone', url, INTO]),
    list('libgit2: list of refs', (url) => [...libgit2, 'ls-remote', url]),
    clone('libgit2: clone', (url) => [...libgit2, 'clone', url, INTO]),
    list('JGit: list of refs', (url) => [...JGIT, 'ls-remote', url]),
    clone('JGit: clone', (url) => [...JGIT, 'clone', '--bare', url, INTO]),
  ]
}

/** Compiles the client with go-git of Debian; returns its path. */
async function buildGoGit({ folder, signal }: Servers): Promise<string> {
  const program = join(folder, 'go-git-client')
  const source = join(folder, 'go/src/client')
  await mkdir(source, { recursive: true })
  await copyFile(GO_GIT_SOURCE, join(source, 'main.go'))
  // Without a module of its own, Go does not find the major version in the path of go-git.
  await writeFile(join(source, 'go.mod'), 'module client\n')
  const environment = {
    HOME: folder,
    GO111MODULE: 'off',
    GOFLAGS: '',
    GOPATH: `${join(folder, 'go')}:/usr/share/gocode`,
    GOCACHE: join(folder, 'go-cache'),
  }
  await runAsUser(['go', 'build', '-o', program, 'client'], { cwd: source, signal, environment })
  return program
}
